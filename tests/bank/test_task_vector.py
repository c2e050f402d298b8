"""One lesson of an experience carries the vector of its task; whichever leaves or returns, what is in use is found."""

import pytest

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.policies import Evidence, GroupCredit, Policy
from reasoningbank_langgraph.records import Provenance, utc_now
from tests.bank.test_credit import LOST, say_often
from tests.bank.test_episodes import episode
from tests.bank.test_forgetting import NAMESPACE, STORES, lesson
from tests.bank.test_redistil import newer
from tests.learn.test_deferred import RIGHT, WRONG, run
from tests.loop_fakes import indexed_memory, learner, open_store

TASK = "red green blue"


def three(store, **changes):
    """An experience of three lessons, of which the first carries the vector."""
    bank = MemoryBank(store, NAMESPACE)
    bank.add([of_task(name, **changes) for name in "abc"])
    return bank


def of_task(name, **changes):
    return lesson(name, task=TASK, experience="e", verifier_score=float(name == "a"), **changes)


def found(bank, task=f"{TASK} grey"):
    """The lessons that are found because their task is similar; what they say is not."""
    return sorted(memory.item.id for memory in bank.search(task, k=9, max_items=9, min_score=0.6))


def pruned(bank):
    bank.prune(min_value=0.1, dry_run=False)
    return bank.undo_prune


def merged(bank):
    bank.add([lesson("d")])
    one = bank.merge(["b", "c"], title="of both").id
    return lambda: bank.undo_merge(one)


def set_aside(status):
    def way_out(bank):
        bank.set_status(["b", "c"], status)
        return lambda: bank.set_status(["b", "c"], "active")

    return way_out


WAYS = pytest.mark.parametrize(
    "way_out", [pruned, merged, set_aside("quarantined"), set_aside("superseded")], ids=["prune", "merge", "q", "s"]
)


@WAYS
@STORES
def test_what_comes_back_after_the_lesson_that_carried_the_vector_was_forgotten_is_found(kind, way_out, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = three(store)
        back = way_out(bank)
        assert bank.forget("a", cascade=False) == ["a"]
        back()
        assert found(bank) == ["b", "c"]
        assert kind == "memory" or store.verify().ok


@WAYS
def test_what_goes_out_of_use_hands_the_vector_on_and_both_are_found_when_it_is_back(way_out):
    bank = three(indexed_memory())
    back = way_out(bank)
    bank.set_status("a", "quarantined")
    back()
    assert found(bank) == ["b", "c"]
    bank.set_status("a", "active")
    assert found(bank) == ["a", "b", "c"]


@WAYS
def test_what_comes_back_in_a_bank_that_imported_it_is_found(way_out, tmp_path):
    bank, other = three(indexed_memory()), MemoryBank(indexed_memory(), NAMESPACE)
    way_out(bank)
    bank.forget("a", cascade=False)
    bank.export_jsonl(tmp_path / "bank.jsonl")
    other.import_jsonl(tmp_path / "bank.jsonl")
    other.set_status(["b", "c"], "active")
    assert {"b", "c"} <= set(found(other))


def test_a_lesson_in_use_that_is_imported_beside_ones_out_of_use_is_found(tmp_path):
    bank, other = three(indexed_memory()), MemoryBank(indexed_memory(), NAMESPACE)
    bank.export_jsonl(tmp_path / "bank.jsonl")
    other.add([of_task("a")])
    other.set_status("a", "quarantined")
    other.import_jsonl(tmp_path / "bank.jsonl")
    assert found(other) == ["b", "c"]


def test_lessons_forgotten_one_after_another_leave_the_last_one_findable():
    bank = three(indexed_memory())
    bank.set_status(["b", "c"], "quarantined")
    bank.forget("a", cascade=False)
    bank.forget("b", cascade=False)
    bank.set_status("c", "active")
    assert found(bank) == ["c"]


def test_a_retry_without_the_lesson_that_carried_the_vector_hands_it_to_one_in_use():
    bank = three(indexed_memory())
    bank.set_status("b", "quarantined")
    bank.add([of_task("b"), of_task("c")])
    assert found(bank) == ["c"]
    bank.set_status("b", "active")
    assert found(bank) == ["b", "c"]


def test_a_retry_of_which_the_policy_takes_nothing_removes_what_was_there():
    bank = three(indexed_memory())
    bank.add([lesson("d")])
    again = lesson("d").model_copy(update={"id": "z", "experience_id": "e", "task": TASK})
    assert bank.add([again], policy="skip").ids == []
    assert [item.id for item in bank.items()] == ["d"]


def test_what_makes_room_hands_the_vector_on():
    bank = three(indexed_memory())
    bank.add([lesson(name, experience="x") for name in "xyz"], policy=Policy(copies="append", capacity=5))
    assert bank.get("a").status == "quarantined"
    assert found(bank) == ["b", "c"]


def test_what_makes_room_in_the_write_that_sets_a_lesson_aside_hands_the_vector_past_both():
    bank = three(indexed_memory())
    bank.add([lesson("d")])
    say_often(bank, "a", LOST, 6)
    credit = GroupCredit(ids=("a",), credit=LOST, known_as="seventh", provenance=Provenance(attempt_digest="7"))
    coming = [lesson(name, experience="x") for name in "xyz"]
    bank.add(coming, evidence=Evidence(credit=credit), policy=Policy(copies="append", capacity=5))
    assert [item.id for item in bank.items() if item.status == "quarantined"] == ["a", "b"]
    assert found(bank) == ["c"]


def test_an_old_lesson_is_found_after_the_new_one_was_forgotten_and_after_the_run_was_undone():
    bank = three(indexed_memory())
    bank.add([], episodes=[episode("e", task=TASK)])
    done = bank.redistil(newer("one", "two"))
    assert done.superseded == 3
    one, two = (item.id for item in bank.items() if item.status == "active")
    bank.forget(one, cascade=False)
    assert found(bank) == [two]
    bank.forget("a", cascade=False)
    bank.undo_redistil(done.run)
    assert found(bank) == ["b", "c"]


@pytest.mark.parametrize("also", [(), ("two",)], ids=["none in its place", "another in its place"])
def test_lessons_that_a_third_verdict_brings_back_are_found(also):
    store = indexed_memory()
    attempt = run(store, "red green blue", episodes=bool(also))["pending"]["id"]
    bank = MemoryBank(store, NAMESPACE)
    first, second = bank.resolve(attempt, RIGHT, model=learner(titles=("one", "uno"))).ids
    bank.resolve(attempt, WRONG, model=learner(titles=also or ("two",)))
    bank.forget(first, cascade=False)
    bank.resolve(attempt, RIGHT, model=learner())
    assert found(bank) == [second]


def test_the_past_is_found_by_what_carried_the_vector_then():
    bank = three(indexed_memory())
    then = utc_now()
    bank.set_status("a", "quarantined")
    assert found(bank.as_of(then)) == ["a", "b", "c"]
    assert found(bank) == ["b", "c"]
