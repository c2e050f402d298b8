"""A bank says of a lesson where it comes from and what came of it, and draws itself; hostile text stays text."""

from xml.etree import ElementTree

import pytest

from reasoningbank_langgraph import Episode, MemoryBank
from reasoningbank_langgraph.bank.lineage.graph import Edge, MemoryGraph
from tests.bank.test_episodes import episode, of_episode
from tests.bank.test_forgetting import NAMESPACE, STORES, lesson
from tests.bank.test_redistil import filled, newer
from tests.loop_fakes import indexed_memory, open_store

HOSTILE = '"]; click n0 href "javascript:alert(1)"\n%% <script>&lt; \x1b[31m \u202e`{}|'


@STORES
def test_a_lesson_says_what_taught_it_what_it_was_shown_to_and_what_happened_to_it(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        bank.add([lesson("gran")])
        kept = episode("e", shown=("gran",), used=("gran",))
        bank.add([of_episode("child", kept)], episodes=[kept])
        bank.add([lesson("grandchild", used=("child",))])
        bank.set_status("child", "quarantined", reason="doubtful")
        child = bank.why("child")
        assert child.item == bank.get("child")
        assert (child.learned_from, child.was_shown, child.shown_to) == (["e"], ["gran"], ["grandchild"])
        assert [change.kind for change in child.changes] == ["added", "quarantined"]
        assert bank.why("gran").shown_to == ["e", "child"]
        assert (bank.why("e").item, bank.why("e").taught) == (None, ["child"])


def test_what_took_the_place_of_a_lesson_is_said_by_both():
    bank = filled(indexed_memory(), 1)
    bank.redistil(newer("one"))
    (new,) = (item.id for item in bank.items() if item.status == "active")
    assert bank.why("a0").superseded_by == [new]
    assert bank.why(new).supersedes == ["a0", "b0"]
    assert [change.kind for change in bank.why("a0").changes] == ["added", "superseded"]


async def test_of_a_forgotten_lesson_the_ledger_is_left_and_what_others_name():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    bank.add([lesson("gran")])
    bank.add([lesson("child", used=("gran",))])
    bank.forget("gran", cascade=False, reason="as asked")
    gone = await bank.awhy("gran")
    assert (gone.item, gone.shown_to) == (None, ["child"])
    assert [(change.kind, change.reason) for change in gone.changes][1:] == [("forgotten", "as asked")]
    assert [(node.id, node.kind) for node in (await bank.agraph()).nodes] == [("child", "lesson"), ("gran", "gone")]


def hostile():
    solved = Episode(id="e", task=HOSTILE, solution="s", outcome="success", experience_id="x")
    return MemoryGraph.of([lesson("a\x00b", title=HOSTILE, experience="x")], [solved])


def test_graphml_is_well_formed_whatever_the_texts_say():
    root = ElementTree.fromstring(hostile().graphml())
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}
    nodes = {node.get("id"): node for node in root.iterfind(".//g:node", space)}
    assert list(nodes) == [r"a\x00b", "e"]
    said = {data.get("key"): data.text for data in nodes["e"].iterfind("g:data", space)}
    assert said["label"] == HOSTILE.replace("\x1b", r"\x1b")
    (edge,) = root.iterfind(".//g:edge", space)
    assert (edge.get("source"), edge.get("target"), edge.findtext("g:data", None, space)) == ("e", r"a\x00b", "taught")


def test_in_mermaid_no_text_can_add_a_node_or_a_link():
    lines = hostile().mermaid().splitlines()
    assert lines[0] == "flowchart LR"
    assert len(lines) == 4
    assert lines[3] == "    n1 -->|taught| n0"
    label = lines[1].removeprefix('    n0["').removesuffix('<br/>lesson, active, success"]')
    assert not set(label) & set('"[]<>{}|`()\\')


def test_each_relation_is_drawn_once():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    bank.add([lesson("a")])
    bank.add([lesson("b", used=("a", "a"))])
    assert bank.graph().edges == [Edge("a", "b", "shown to")]


@pytest.mark.parametrize("draw", [MemoryGraph.graphml, MemoryGraph.mermaid])
def test_an_empty_bank_has_an_empty_graph(draw):
    assert "n0" not in draw(MemoryGraph.of([], []))
