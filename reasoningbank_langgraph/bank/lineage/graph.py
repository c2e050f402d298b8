"""Lessons and episodes with what led from one to the other, read from their plain fields, and the export of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple
from xml.etree import ElementTree

from reasoningbank_langgraph.records import Episode, MemoryItem
from reasoningbank_langgraph.text.fencing import cut
from reasoningbank_langgraph.text.visible import printable

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank.lineage.contradictions import Contradiction

Relation = Literal["taught", "shown to", "superseded by", "contradicts"]
"""How one record leads to another. `taught`: an episode, a lesson that was learned from it; `shown to`: a lesson or an
episode, what was learned by an attempt that was shown it; `superseded by`: a lesson, the one that took its place;
`contradicts`: a lesson, one that gives opposite advice in the opinion of a model."""
_LABEL = 60
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"


class Node(NamedTuple):
    """A lesson, an episode, or what is named and not in the bank."""

    id: str
    kind: Literal["lesson", "episode", "gone"]
    label: str = ""
    """Title of a lesson, task of an episode."""
    status: str = ""
    outcome: str = ""


class Edge(NamedTuple):
    """One record led to another."""

    source: str
    target: str
    relation: Relation


class MemoryGraph(NamedTuple):
    """Lessons and episodes, oldest first, and what led from one to the other."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]

    @classmethod
    def of(cls, items: Sequence[MemoryItem], episodes: Sequence[Episode]) -> MemoryGraph:
        """Return the graph of these records; an id that is named and not among them becomes a node of its own."""
        nodes = [Node(one.id, "lesson", one.title, one.status, one.outcome) for one in items]
        nodes += [Node(one.id, "episode", one.task, outcome=one.outcome) for one in episodes]
        edges = list(dict.fromkeys(_edges(items, episodes)))
        known = {node.id for node in nodes}
        named = dict.fromkeys(name for edge in edges for name in edge[:2])
        return cls([*nodes, *(Node(name, "gone") for name in named if name not in known)], edges)

    def with_contradictions(self, found: Iterable[Contradiction]) -> MemoryGraph:
        """Return the graph with what `MemoryBank.contradictions` found and did not keep."""
        edges = [*self.edges, *(Edge(one.first, one.second, "contradicts") for one in found)]
        return self._replace(edges=list(dict.fromkeys(edges)))

    def graphml(self) -> str:
        """Return the graph as GraphML, which Gephi, yEd and networkx read."""
        root = ElementTree.Element("graphml", xmlns=_NAMESPACE)
        for name, place in (*((field, "node") for field in Node._fields[1:]), ("relation", "edge")):
            ElementTree.SubElement(root, "key", {"id": name, "for": place, "attr.name": name, "attr.type": "string"})
        graph = ElementTree.SubElement(root, "graph", edgedefault="directed")
        for node in self.nodes:
            of_node = ElementTree.SubElement(graph, "node", id=_xml(node.id))
            for name, value in zip(Node._fields[1:], node[1:], strict=True):
                ElementTree.SubElement(of_node, "data", key=name).text = _xml(value)
        for edge in self.edges:
            of_edge = ElementTree.SubElement(graph, "edge", source=_xml(edge.source), target=_xml(edge.target))
            ElementTree.SubElement(of_edge, "data", key="relation").text = edge.relation
        return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)

    def mermaid(self) -> str:
        """Return the graph as a Mermaid flowchart, which GitHub and most Markdown viewers draw."""
        names = {node.id: f"n{number}" for number, node in enumerate(self.nodes)}
        lines = ["flowchart LR"]
        for node in self.nodes:
            said = ", ".join(filter(None, (node.kind, node.status, node.outcome)))
            lines.append(f'    {names[node.id]}["{_mermaid(node.label or node.id)}<br/>{said}"]')
        lines += [f"    {names[edge.source]} -->|{edge.relation}| {names[edge.target]}" for edge in self.edges]
        return "\n".join(lines) + "\n"


def _edges(items: Iterable[MemoryItem], episodes: Iterable[Episode]) -> Iterator[Edge]:
    by_experience: dict[str, list[str]] = {}
    for episode in episodes:
        by_experience.setdefault(episode.experience_id, []).append(episode.id)
        yield from (Edge(name, episode.id, "shown to") for name in episode.shown)
    for item in items:
        yield from (Edge(name, item.id, "taught") for name in by_experience.get(item.experience_id, ()))
        yield from (Edge(name, item.id, "shown to") for name in item.provenance.memory_ids_used)
        yield from (Edge(name, item.id, "superseded by") for name in item.supersedes)
        yield from (Edge(name, item.id, "contradicts") for name in item.contradicts)


def _xml(text: str) -> str:
    """Return a text with the characters that XML cannot hold written as escapes."""
    return _NOT_XML.sub(lambda found: ascii(found.group())[1:-1], text)


def _mermaid(text: str) -> str:
    """Return a label in which nothing but letters, digits and a few signs stands for itself."""
    plain = cut(printable(" ".join(text.split())), _LABEL)
    return "".join(char if char.isalnum() or char in " .,-" else f"#{ord(char)};" for char in plain)
