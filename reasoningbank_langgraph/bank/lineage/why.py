"""Reading the graph of a bank, and what it says of one lesson."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, get_args

from reasoningbank_langgraph.bank.arguments import as_id
from reasoningbank_langgraph.bank.lineage.graph import MemoryGraph, Relation
from reasoningbank_langgraph.bank.rows.log import Logged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reasoningbank_langgraph.bank.operations import Ops
    from reasoningbank_langgraph.policies import Change
    from reasoningbank_langgraph.records import MemoryItem


class Why(NamedTuple):
    """Where a lesson or an episode comes from, what it did since, and what came of it. All by id."""

    item: MemoryItem | None
    """The lesson; None if there is none of that id, as after it was forgotten."""
    learned_from: Sequence[str]
    """Episodes of the experience that taught it."""
    was_shown: Sequence[str]
    """What the attempt that it was learned from had been shown."""
    supersedes: Sequence[str]
    """Lessons whose place it took."""
    superseded_by: Sequence[str]
    """Lessons that took its place."""
    shown_to: Sequence[str]
    """Episodes of attempts that were shown it, and lessons that were learned from such attempts."""
    taught: Sequence[str]
    """Of an episode: the lessons that were learned from it."""
    changes: Sequence[Change]
    """Rows of the ledger that name it, oldest first."""
    contradicts: Sequence[str] = ()
    """Lessons that give opposite advice, where `MemoryBank.contradictions` kept what a model said."""


class Explaining(Logged):
    """Part of `MemoryBank`: what says how its lessons hang together."""

    def why(self, item_id: str) -> Why:
        """Say of a lesson or an episode where it comes from, what it did since, and what came of it.

        Of one that was forgotten, the ledger and what others name of it are left.
        """
        return self._read(self._why(as_id(item_id)))

    async def awhy(self, item_id: str) -> Why:
        """Async form of `why`."""
        return await self._aread(self._why(as_id(item_id)))

    def graph(self) -> MemoryGraph:
        """Return all lessons and episodes as a graph, which exports itself as GraphML and as Mermaid."""
        return self._read(self._graph())

    async def agraph(self) -> MemoryGraph:
        """Async form of `graph`."""
        return await self._aread(self._graph())

    def _graph(self) -> Ops[MemoryGraph]:
        items = yield from self._items()
        return MemoryGraph.of(items, (yield from self._episodes()))

    def _why(self, name: str) -> Ops[Why]:
        edges = (yield from self._graph()).edges
        before = {kind: [edge.source for edge in edges if edge[1:] == (name, kind)] for kind in _RELATIONS}
        after = {kind: [edge.target for edge in edges if edge[::2] == (name, kind)] for kind in _RELATIONS}
        return Why(
            item=(yield from self._get(name)),
            learned_from=before["taught"],
            was_shown=before["shown to"],
            supersedes=before["superseded by"],
            superseded_by=after["superseded by"],
            shown_to=after["shown to"],
            taught=after["taught"],
            changes=[change for change in (yield from self._log()) if name in change.ids],
            contradicts=[*before["contradicts"], *after["contradicts"]],
        )


_RELATIONS = get_args(Relation)
