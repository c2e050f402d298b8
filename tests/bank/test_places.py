"""Near copies take one place of those that are shown, and only what is asked for takes any."""

import pytest
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import MemoryBank, MemoryItem, Policy, create_reasoning_bank
from reasoningbank_langgraph.errors import InvalidRecordError
from reasoningbank_langgraph.records import Provenance
from tests.bank.test_bank import STORES, ids, lesson
from tests.bank.test_redistil import filled, newer
from tests.loop_fakes import indexed_memory, learner, open_store, solver

NAMESPACE = ("m",)


LINK = Policy(similarity=0.8)


def spam(number, thread="spam", **changes):
    """One of many lessons that say nearly the same, on tasks that are all nearer than any other."""
    source = Provenance(thread_id=thread, attempt_digest=f"{thread} {changes.get('experience', number)}")
    texts = {"title": "buy my pills", "description": "whenever any task is red", "content": f"swallow them {number}"}
    return lesson(f"spam{number}", f"red green blue {number // 5}", **{**texts, "provenance": source, **changes})


@STORES
def test_near_copies_that_a_thread_writes_are_linked_and_take_one_of_the_places(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        bank.add([lesson("a", "red a", content="advice")], policy=LINK)
        for number in range(12):
            bank.add([spam(number)], policy=LINK, written=[f"spam{earlier}" for earlier in range(number)])
        assert [item.near for item in bank.items()[2:]] == ["spam0"] * 11
        found = ids(bank.search("red green blue", k=2, max_items=9))
        assert (len(found), found[-1]) == (2, "a")


@pytest.mark.slow
@STORES
def test_five_hundred_near_copies_take_one_of_the_places_whoever_wrote_them(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        for first in range(0, 500, 5):
            group = {"thread": f"user {first % 7}", "experience": f"e{first}"}
            bank.add([spam(number, **group, near="spam0" if number else "") for number in range(first, first + 5)])
        for name in "abc":
            bank.add([lesson(name, f"red {name}", content=f"advice {name * 9}")])
        found = ids(bank.search("red green blue", k=3, max_items=9))
        assert len(found) == 3
        assert len([name for name in found if name.startswith("spam")]) == 1


def test_without_links_equal_lessons_take_a_place_each_as_in_the_paper():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    for number in range(3):
        bank.add([spam(number, content="the same")])
    assert len(bank.search("red green blue", k=3)) == 3


@STORES
def test_of_linked_lessons_of_two_experiences_one_is_shown(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        bank.add([lesson("a1", "red green", "a"), lesson("a2", "red green", "a", title="x y z")])
        bank.add([lesson("b1", "red grey", "b", title="u v w"), lesson("b2", "red grey", "b", near="a1")])
        assert ids(bank.search("red green grey", k=2, max_items=9)) in (["a1", "a2", "b1"], ["b1", "b2", "a2"])


@STORES
def test_only_lessons_with_the_tags_the_scope_the_difficulty_and_the_outcome_take_a_place(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        for number in range(60):
            bank.add([lesson(f"other{number}", "red green blue", tags=("geometry",), scope="school")])
        about = {"tags": ("algebra", "Word  Problem"), "scope": "school", "difficulty": "hard", "outcome": "failure"}
        bank.add([lesson("one", "red", **about)])
        asked = {"task": "red green blue grey", "k": 3, "max_items": 9}
        for where in (
            {"tags": "algebra"},
            {"tags": ["word problem", "ALGEBRA"]},
            {"tags": "algebra", "scope": "school"},
            {"difficulty": "hard"},
            {"outcome": "failure"},
        ):
            assert ids(bank.search(**asked, where=where)) == ["one"], where
        assert bank.search(**asked, where={"tags": ["algebra", "geometry"]}) == []
        assert len(ids(bank.search(**asked, where={"scope": "school", "tags": None}))) == 3


@pytest.mark.parametrize(
    "where", [{"outcome": "sucess"}, {"status": "active"}, {"tags": 3}, {"scope": ["a"]}, ["tags"]]
)
def test_a_filter_of_another_kind_is_named(where):
    with pytest.raises(ValueError, match="where"):
        MemoryBank(InMemoryStore(), NAMESPACE).search("task", where=where)


def test_the_loop_says_of_new_lessons_what_they_are_about_and_asks_for_such():
    store, model = indexed_memory(), learner()

    def about(item: MemoryItem):
        return {"tags": ["sums"] if "sum" in item.task else [], "scope": "school"}

    def app(where=None):
        graph = create_reasoning_bank(solver, model=model, namespace="m", metadata=about, where=where, k=5)
        return graph.compile(store=store)

    for task in ("the sum of apples", "the product of apples"):
        app().invoke({"task": task})
    said = [(item.tags, item.scope) for item in MemoryBank(store, "m").items()]
    assert said == [(("sums",), "school")] * 2 + [((), "school")] * 2
    shown = app({"tags": "sums"}).invoke({"task": "the product of pears"})["memories"]
    assert {memory["item"]["task"] for memory in shown} == {"the sum of apples"}
    with pytest.raises(ValueError, match="where"):
        app({"level": 3})


@pytest.mark.parametrize("said", [{"level": 3}, {"tags": [3]}, "algebra"])
def test_metadata_of_another_kind_is_named(said):
    graph = create_reasoning_bank(solver, model=learner(), namespace="m", metadata=lambda _: said)
    with pytest.raises(InvalidRecordError):
        graph.compile(store=indexed_memory()).invoke({"task": "one"})


def test_tags_are_found_after_an_import_and_stay_with_lessons_made_anew(tmp_path):
    bank, other = filled(indexed_memory(), 1), MemoryBank(indexed_memory(), ("n",))
    (kept,) = bank.episodes()
    bank.forget(kept.id)
    tagged = [lesson("a", kept.task, kept.experience_id, tags=("algebra",), scope="school")]
    bank.add([item.model_copy(update={"provenance": kept.provenance}) for item in tagged], episodes=[kept])
    bank.export_jsonl(tmp_path / "bank.jsonl")
    other.import_jsonl(tmp_path / "bank.jsonl")
    assert ids(other.search("red green", where={"tags": "algebra"})) == ["a"]
    other.redistil(newer("estimate first"))
    (found,) = other.search("red green", where={"tags": "algebra"})
    assert (found.item.title, found.item.scope) == ("estimate first", "school")
