"""What is forgotten is gone, with what was learned from it; what is taken out of sight comes back."""

import pytest

from reasoningbank_langgraph import MemoryBank, MemoryItem, create_reasoning_bank
from reasoningbank_langgraph.errors import PastBankError
from reasoningbank_langgraph.records import Provenance, utc_now
from tests.loop_fakes import indexed_memory, learner, open_store, solver

STORES = pytest.mark.parametrize("kind", ["memory", "chroma"])
NAMESPACE = ("m",)


def lesson(name, *, task=None, experience=None, used=(), thread="t", run="r", **changes):
    provenance = Provenance(thread_id=thread, run_id=run, memory_ids_used=used)
    values = {"id": name, "title": f"title {name}", "description": f"when {name}", "content": f"do {name}"}
    given = {"outcome": "success", "task": task or f"task {name}", "experience_id": experience or name}
    return MemoryItem(**{**values, **given, "provenance": provenance, **changes})


def family(store):
    """Grandmother, two children who were shown her lesson, a grandchild, and a stranger."""
    bank = MemoryBank(store, NAMESPACE)
    bank.add([lesson("gran", thread="t1", run="r1")])
    bank.add([lesson("child1", used=("gran",), thread="t2", run="r2")])
    bank.add([lesson("child2", used=("stranger", "gran"), thread="t3", run="r3")])
    bank.add([lesson("grandchild", used=("child1",), thread="t4", run="r4")])
    bank.add([lesson("stranger", thread="t5", run="r5")])
    return bank


def left(bank):
    return sorted(item.id for item in bank.items())


@STORES
def test_forgetting_an_item_removes_all_that_descends_from_it(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = family(store)
        assert sorted(bank.forget("gran")) == ["child1", "child2", "gran", "grandchild"]
        assert left(bank) == ["stranger"]
        assert [memory.item.id for memory in bank.search("task gran", k=9, max_items=9, task_id="x")] == ["stranger"]


@pytest.mark.parametrize("cascade", [True, False])
@STORES
async def test_a_dry_run_says_what_would_be_removed_and_removes_nothing(kind, cascade, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = family(store)
        before, told = bank.items(), bank.log()
        would = bank.forget("gran", cascade=cascade, dry_run=True)
        assert await bank.aforget("gran", cascade=cascade, dry_run=True) == would
        assert (bank.items(), bank.log()) == (before, told)
        assert bank.forget("gran", cascade=cascade) == would


ONE_OF_FOUR = pytest.mark.parametrize(
    ("selector", "gone"),
    [
        ({"id": "gran"}, ["gran"]),
        ({"thread_id": "t2"}, ["child1"]),
        ({"run_id": "r3"}, ["child2"]),
        ({"experience_id": "grandchild"}, ["grandchild"]),
        ({"id": "nobody"}, []),
    ],
)


@ONE_OF_FOUR
@STORES
def test_without_cascade_only_what_is_named_goes(kind, selector, gone, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = family(store)
        assert bank.forget(**selector, cascade=False) == gone
        assert left(bank) == sorted({"gran", "child1", "child2", "grandchild", "stranger"} - set(gone))


@ONE_OF_FOUR
async def test_without_cascade_it_is_the_same_asynchronously(selector, gone):
    bank = family(indexed_memory())
    assert await bank.aforget(**selector, cascade=False) == gone
    assert left(bank) == sorted({"gran", "child1", "child2", "grandchild", "stranger"} - set(gone))


async def test_forgetting_works_asynchronously():
    bank = family(indexed_memory())
    assert sorted(await bank.aforget(thread_id="t2")) == ["child1", "grandchild"]
    assert await bank.aset_status(["gran"], "quarantined") == ["gran"]


def test_a_cascade_ends_where_lessons_refer_to_each_other_in_a_circle():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    bank.add([lesson("a", used=("b",))])
    bank.add([lesson("b", used=("a",))])
    assert sorted(bank.forget("a")) == ["a", "b"]


def test_what_supersedes_a_forgotten_item_descends_from_it():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    bank.add([lesson("a")])
    bank.add([lesson("merged", supersedes=("a",))])
    assert sorted(bank.forget("a")) == ["a", "merged"]


@pytest.mark.parametrize(("selectors", "told"), [({}, "none"), ({"id": "a", "thread_id": "t"}, "id, thread_id")])
def test_forgetting_takes_exactly_one_selector(selectors, told):
    with pytest.raises(ValueError, match=f"takes exactly one of id, thread_id, run_id, experience_id, got {told}$"):
        family(indexed_memory()).forget(**selectors)


def test_the_bank_of_another_tenant_is_not_touched():
    store = indexed_memory()
    other = MemoryBank(store, ("m", "below"))
    other.add([lesson("gran")])
    family(store).forget("gran")
    assert left(other) == ["gran"]


@STORES
async def test_a_whole_namespace_is_forgotten_and_none_beside_or_below_it(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        others = [MemoryBank(store, name) for name in (("m", "below"), ("mm",), ("a", "m"))]
        for other in others:
            other.add([lesson("gran")])
        assert family(store).forget_all() == ["gran", "child1", "child2", "grandchild", "stranger"]
        bank = family(store)
        assert len(await bank.aforget_all()) == 5
        assert (bank.items(), bank.search("task gran", task_id="x"), bank.forget_all()) == ([], [], [])
        assert [left(other) for other in others] == [["gran"]] * 3
        with pytest.raises(PastBankError):
            others[0].as_of(utc_now()).forget_all()


@STORES
@pytest.mark.parametrize("way", ["forget", "quarantine"])
def test_the_rest_of_an_experience_is_still_found_by_its_task(kind, way, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        bank.add([lesson(name, task="red green blue", experience="e") for name in ("e0", "e1", "e2")])
        if way == "forget":
            bank.forget("e0", cascade=False)
        else:
            bank.set_status(["e0"], "quarantined")
        found = bank.search("red green blue yellow", k=1)
        assert [memory.item.id for memory in found] == ["e1", "e2"]
        assert found[0].score > 0.8


def test_an_item_that_comes_back_alone_is_found_by_the_task_of_its_experience():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    bank.add([lesson(name, task="red green blue", experience="e") for name in ("e0", "e1", "e2")])
    bank.add([lesson("other", task="red green blue")])
    bank.set_status(["e0", "e1", "e2"], "superseded")
    for name, expected in (("e2", ["e2"]), ("e0", ["e0", "e2"])):
        bank.set_status([name], "active")
        found = [memory for memory in bank.search("red green blue yellow", k=2) if memory.item.experience_id == "e"]
        assert [memory.item.id for memory in found] == expected
        assert all(memory.score > 0.8 for memory in found)


@STORES
def test_an_item_out_of_sight_is_kept_and_comes_back_as_it_was(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        bank.add([lesson("a", task="red green blue")])
        before = bank.get("a")
        assert bank.set_status(["a", "nobody"], "quarantined") == ["a"]
        assert bank.set_status(["a"], "quarantined") == []
        assert bank.search("red green") == []
        assert bank.get("a").status == "quarantined"
        assert bank.get("a").retired_at == bank.get("a").updated_at > before.updated_at
        assert bank.set_status(["a"], "active") == ["a"]
        assert [memory.item.id for memory in bank.search("red green")] == ["a"]
        assert bank.get("a") == before.model_copy(update={"updated_at": bank.get("a").updated_at})


@STORES
def test_a_bank_matched_by_lesson_gets_no_task_vector_from_a_change(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE, match="lesson")
        bank.add([lesson(name, task="red green blue", experience="e") for name in ("e0", "e1")])
        bank.forget("e0", cascade=False)
        (found,) = bank.search("red green blue yellow")
        assert found.score < 0.5


def test_lessons_learned_from_a_tainted_one_through_the_loop_are_found():
    store = indexed_memory()
    titles = iter(["seed", "second", "third"])

    def reply(messages):
        inner = learner(titles=(next(titles),)) if "You check whether" not in messages[0].text else learner()
        return inner.script(messages)

    from reasoningbank_langgraph.testing import ScriptedChatModel

    graph = create_reasoning_bank(solver, model=ScriptedChatModel(reply)).compile(store=store)
    for task in ("add two apples", "add three apples", "add four apples"):
        graph.invoke({"task": task})
    bank = MemoryBank(store, "reasoningbank")
    seed = bank.items()[0]
    assert seed.title == "seed"
    assert len(bank.forget(seed.id)) == 3
    assert bank.items() == []


@pytest.mark.parametrize("name", ["id", "thread_id", "run_id", "experience_id"])
def test_an_empty_selector_is_refused_and_does_not_stand_for_all_lessons_without_one(name):
    bank = MemoryBank(indexed_memory(), ("m",))
    bank.add([lesson("one", thread=None, run=None)])
    with pytest.raises(ValueError, match=f"empty {name}"):
        bank.forget(**{name: ""})
    assert left(bank) == ["one"]


def test_an_unknown_status_is_refused_and_one_id_is_one_id():
    bank = MemoryBank(indexed_memory(), ("m",))
    bank.add([lesson("one")])
    with pytest.raises(ValueError, match="quarantined"):
        bank.set_status(["one"], "quarantine")
    assert bank.set_status("one", "quarantined") == ["one"]
    assert bank.get("one").status == "quarantined"
