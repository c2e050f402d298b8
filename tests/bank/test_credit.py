"""What groups of attempts say of a lesson counts once, orders lessons as similar, and sets aside one that hurts."""

import json
from contextlib import nullcontext
from datetime import UTC, datetime

import pytest
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import Guard, MemoryBank
from reasoningbank_langgraph.bank.rows import crediting
from reasoningbank_langgraph.namespaces import CREDIT, beside
from reasoningbank_langgraph.policies import Credit, Evidence, GroupCredit, Trial
from reasoningbank_langgraph.records import Provenance, Utility
from tests.bank.test_episodes import episode
from tests.bank.test_forgetting import lesson
from tests.loop_fakes import Switched, indexed_memory, open_store

NAMESPACE = ("m",)
TASK = "add three apples and four pears"
OLDER_FIELDS = (
    "id title description content outcome task task_id experience_id tags scope difficulty verifier_score valid_until "
    "status retired_at supersedes provenance utility created_at updated_at"
)
WON, LOST = Credit(1, 1, 0, 0), Credit(1, 0, 1, 0)


def filled(store):
    """A bank with two lessons for the task at hand and one for another."""
    bank = MemoryBank(store, NAMESPACE)
    bank.add([lesson("near", task="add three apples and five pears")])
    bank.add([lesson("nearly", task="add two apples and four pears")])
    bank.add([lesson("far", task="how long is the river in miles")])
    return bank


def say(bank, name, credit, attempt, thread="t9", known_as=None):
    """Let a group of attempts say something of a lesson."""
    source = Provenance(thread_id=thread, attempt_digest=f"{attempt}")
    group = GroupCredit(ids=(name,), credit=credit, known_as=known_as or f"episode {attempt}", provenance=source)
    return bank.add([], evidence=Evidence(credit=group))


def say_often(bank, name, credit, times, first=0):
    return [say(bank, name, credit, f"{name} {number}") for number in range(first, first + times)]


def found(bank, k=1):
    return [memory.item.id for memory in bank.search(TASK, k=k)]


@pytest.mark.parametrize("kind", ["memory", "chroma"])
def test_a_lesson_that_helps_comes_before_one_as_similar(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = filled(store)
        first, second = found(bank, k=2)
        assert {first, second} == {"near", "nearly"}
        say_often(bank, second, WON, 8)
        assert found(bank) == [second]
        assert found(bank, k=2) == [second, first]
        assert bank.search(TASK)[0].why.endswith("; of 8 pairs of attempts, it fixed 8 and broke 0")


def test_a_lesson_that_helps_elsewhere_does_not_displace_similar_ones():
    bank = filled(indexed_memory())
    say_often(bank, "far", WON, 20)
    assert found(bank) in (["near"], ["nearly"])


def test_a_lesson_that_hurts_sinks_and_is_quarantined_in_the_end():
    bank = filled(indexed_memory())
    first, second = found(bank, k=2)
    written = say_often(bank, first, LOST, 6)
    assert found(bank) == [second]
    assert all(not one.quarantined for one in written)
    assert bank.get(first).status == "active"
    assert say(bank, first, LOST, "the seventh").quarantined == [first]
    assert bank.get(first).status == "quarantined"
    assert found(bank, k=2)[0] == second


def test_a_lesson_that_was_taken_back_is_not_set_aside_again_by_the_same_evidence():
    bank = filled(indexed_memory())
    say_often(bank, "near", LOST, 7)
    bank.set_status("near", "active")
    written = say_often(bank, "near", LOST, 6, first=7)
    assert all(not one.quarantined for one in written)
    assert bank.get("near").status == "active"
    assert say(bank, "near", LOST, "one more").quarantined == ["near"]


def test_a_lesson_that_hurts_is_quarantined_in_the_write_that_shows_it():
    store = Switched()
    bank = filled(store)
    say_often(bank, "near", LOST, 6)
    failures = iter([None, ConnectionError("gone")])
    store.writes = lambda: next(failures, None)
    assert say(bank, "near", LOST, "the seventh").quarantined == ["near"]
    assert bank.get("near").status == "quarantined"


def test_what_a_group_says_counts_once():
    bank = filled(indexed_memory())
    for _ in range(3):
        say(bank, "near", Credit(2, 1, 0, 1), "the same")
    assert bank.get("near").utility == Utility(used=2, helped=1, hurt=0, ties=1)


async def test_items_carry_what_is_known_of_them():
    bank = filled(indexed_memory())
    say(bank, "near", Credit(3, 1, 2, 0), "one")
    say(bank, "near", Credit(2, 0, 0, 2), "two")
    known = {item.id: item.utility for item in bank.items()}
    assert known == {"near": Utility(used=5, helped=1, hurt=2, ties=2), "nearly": Utility(), "far": Utility()}
    assert (await bank.aget("near")).utility == known["near"]


@pytest.mark.parametrize("kind", ["memory", "chroma", "no index"])
def test_what_is_found_carries_what_is_known_of_it_as_what_is_read_does(kind, tmp_path):
    with nullcontext(InMemoryStore()) if kind == "no index" else open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        bank.add([lesson(name, task="add three apples", experience="one") for name in ("first", "second")])
        for name in ("first", "second"):
            say(bank, name, Credit(3, 1, 0, 2), name)
        memories = bank.search(TASK)
        assert [memory.item.utility for memory in memories] == [Utility(used=3, helped=1, ties=2)] * 2
        assert [memory.item for memory in memories] == bank.items()
        (memory,) = bank.search(TASK, max_items=1)
        assert memory.item == bank.get(memory.item.id)


def test_a_bank_as_it_was_knows_what_was_said_by_then():
    bank = filled(indexed_memory())
    first, second = found(bank, k=2)
    before = datetime.now(UTC)
    say_often(bank, second, WON, 8)
    then = bank.as_of(before)
    assert then.get(second).utility == Utility()
    assert [memory.item.id for memory in then.search(TASK)] == [first]
    assert bank.as_of(datetime.now(UTC)).get(second).utility.helped == 8


def test_a_forgotten_lesson_takes_its_credit_along():
    store = indexed_memory()
    bank = filled(store)
    say(bank, "near", WON, "one")
    bank.forget("near")
    assert store.search(beside(NAMESPACE, CREDIT)) == []
    say(bank, "near", WON, "two")
    assert store.search(beside(NAMESPACE, CREDIT)) == []


def test_a_forgotten_attempt_takes_back_what_it_said_of_other_lessons():
    bank = filled(indexed_memory())
    bank.add([lesson("later", thread="t7")])
    say(bank, "near", WON, "one", known_as="later")
    say(bank, "near", LOST, "two")
    bank.forget(thread_id="t7")
    assert bank.get("near").utility == Utility(used=1, hurt=1)


def test_a_bank_that_is_emptied_keeps_no_credit():
    store = indexed_memory()
    bank = filled(store)
    say(bank, "near", WON, "one")
    bank.forget_all()
    assert store.search(beside(NAMESPACE, CREDIT)) == []


def test_credit_does_not_travel_in_a_file(tmp_path):
    bank, other = filled(indexed_memory()), MemoryBank(indexed_memory(), ("other",))
    say(bank, "near", Credit(2, 1, 0, 1), "one")
    bank.export_jsonl(tmp_path / "bank.jsonl")
    head, *lines = map(json.loads, (tmp_path / "bank.jsonl").read_text().splitlines())
    assert head["version"] == 3
    assert lines[0]["utility"] == {"used": 2, "helped": 1, "hurt": 0, "ties": 1}
    other.import_jsonl(tmp_path / "bank.jsonl")
    assert {item.id: item.utility for item in other.items()} == dict.fromkeys(("near", "nearly", "far"), Utility())
    say(other, "near", LOST, "two")
    assert other.get("near").utility == Utility(used=1, hurt=1)


def test_rows_and_lines_have_only_the_fields_that_older_versions_know(tmp_path):
    store = indexed_memory()
    bank, older = filled(store), {"used", "helped", "hurt"}
    bank.add([lesson("told").model_copy(update={"utility": Utility(used=3, ties=3)})])
    say(bank, "near", WON, "one")
    assert [set(row.value["utility"]) for row in store.search(NAMESPACE) if "lesson" in row.value] == [older] * 4
    bank.export_jsonl(tmp_path / "bank.jsonl")
    head, *lines = map(json.loads, (tmp_path / "bank.jsonl").read_text().splitlines())
    assert head["version"] == 1
    assert [set(line["utility"]) for line in lines] == [older] * 4
    assert [set(line) for line in lines] == [set(OLDER_FIELDS.split())] * 4


def test_the_newest_groups_count(monkeypatch):
    monkeypatch.setattr(crediting, "GROUPS", 5)
    bank = filled(indexed_memory())
    say_often(bank, "near", LOST, 5)
    say_often(bank, "near", WON, 4, first=5)
    assert bank.get("near").utility == Utility(used=5, helped=4, hurt=1)


def count(bank, task, *, shown, right):
    """Count what came of a task in the test that runs; the write is tried again, and the task comes again elsewhere."""
    test = bank.guard().tests
    withheld, ids = (None, ("near",)) if shown else ("held_out", ())
    drawn = {"guard": Guard(alpha=0.9), "task_key": task, "test": test, "withheld": withheld, "ids": ids}
    for thread in ("t", "t", "other"):
        name = f"{task} {test} {thread}"
        kept = episode(name, provenance=Provenance(thread_id=thread, attempt_digest=name))
        bank.add([], episodes=[kept], evidence=Evidence(Trial(**drawn, right=right)))


def solve_in_a_test(bank, *, shown, right):
    """Solve one task in a test, which another task brings to its end."""
    test = bank.guard().tests
    count(bank, "the task", shown=shown, right=right)
    count(bank, f"another in test {test}", shown=not shown, right=not right)
    assert bank.guard().tests == test + 1
    return bank.get("near").utility


def test_each_attempt_at_a_task_is_in_one_pair():
    bank = filled(indexed_memory())
    assert solve_in_a_test(bank, shown=False, right=True) == Utility()
    assert solve_in_a_test(bank, shown=True, right=False) == Utility(used=1, hurt=1)
    assert solve_in_a_test(bank, shown=False, right=True) == Utility(used=1, hurt=1)
    assert solve_in_a_test(bank, shown=False, right=True) == Utility(used=1, hurt=1)
    assert solve_in_a_test(bank, shown=True, right=True) == Utility(used=2, hurt=1, ties=1)
    assert solve_in_a_test(bank, shown=True, right=True) == Utility(used=2, hurt=1, ties=1)
    assert solve_in_a_test(bank, shown=False, right=False) == Utility(used=3, helped=1, hurt=1, ties=1)


def test_a_pair_is_marked_in_the_write_that_counts_it():
    store = Switched()
    bank = filled(store)
    solve_in_a_test(bank, shown=False, right=True)
    failures = iter([ConnectionError("gone")])
    store.writes = lambda: next(failures, None)
    with pytest.raises(ConnectionError):
        count(bank, "the task", shown=True, right=False)
    assert bank.get("near").utility == Utility()
    assert solve_in_a_test(bank, shown=True, right=False) == Utility(used=1, hurt=1)
    assert solve_in_a_test(bank, shown=False, right=True) == Utility(used=1, hurt=1)
