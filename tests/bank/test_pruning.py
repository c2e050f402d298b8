"""Lessons go out of use by rule, with reasons first; nothing is deleted, and the last pruning can be taken back."""

from datetime import timedelta

import pytest

from reasoningbank_langgraph import Episode, MemoryBank
from reasoningbank_langgraph.bank.upkeep import pruning
from reasoningbank_langgraph.errors import PastBankError
from reasoningbank_langgraph.records import utc_now
from tests.bank.test_credit import LOST, WON, say_often
from tests.bank.test_forgetting import NAMESPACE, STORES, lesson
from tests.loop_fakes import Switched, indexed_memory, open_store

NOW = utc_now()
OLD = NOW - timedelta(days=100)


def filled(store, *lessons):
    bank = MemoryBank(store, NAMESPACE)
    for one in lessons:
        bank.add([one])
    return bank


def in_use(bank):
    return [item.id for item in bank.items() if item.status == "active"]


def found(bank):
    return sorted(memory.item.id for memory in bank.search("anything", k=9, max_items=9))


@STORES
def test_first_it_only_says_what_would_leave_and_why(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = filled(store, lesson("a", valid_until=NOW - timedelta(days=1)), lesson("b"))
        foreseen = bank.prune(expired=True)
        assert foreseen.leaving == {"a": f"no longer valid: valid until {NOW - timedelta(days=1):%Y-%m-%d}"}
        assert (foreseen.left, foreseen.dry_run, in_use(bank), len(bank.log())) == (1, True, ["a", "b"], 2)
        done = bank.prune(expired=True, dry_run=False)
        assert (done.leaving, done.dry_run) == (foreseen.leaving, False)
        assert (in_use(bank), found(bank)) == (["b"], ["b"])
        assert bank.get("a").status == "quarantined"
        change = bank.log()[-1]
        assert (change.kind, change.ids, change.reason) == ("pruned", ("a",), "no longer valid")
        assert kind == "memory" or store.verify().ok


@STORES
def test_the_last_pruning_is_taken_back_and_then_the_one_before(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = filled(store, *(lesson(name) for name in "abcd"))
        say_often(bank, "a", LOST, 6)
        bank.prune(min_utility=0, dry_run=False)
        bank.prune(capacity=1, dry_run=False)
        bank.set_status("c", "active")
        assert in_use(bank) == ["b", "c"]
        assert bank.undo_prune() == ["d"]
        assert bank.undo_prune() == ["a"]
        assert (in_use(bank), bank.undo_prune()) == (["a", "b", "c", "d"], [])
        assert found(bank) == ["a", "b", "c", "d"]
        assert [(change.kind, change.ids) for change in bank.log()[-2:]] == [("undone", ("d",)), ("undone", ("a",))]
        assert bank.verify_log().ok
        assert kind == "memory" or store.verify().ok


def test_what_was_set_aside_otherwise_since_is_not_brought_back():
    bank = filled(indexed_memory(), lesson("a"), lesson("b"))
    bank.prune(capacity=0, dry_run=False)
    bank.set_status("a", "active")
    bank.set_status("a", "quarantined", reason="it is wrong")
    assert bank.undo_prune() == ["b"]


def test_by_utility_those_go_that_lose_and_with_a_higher_bound_those_without_evidence():
    bank = filled(indexed_memory(), *(lesson(name) for name in "abc"))
    say_often(bank, "a", LOST, 6)
    say_often(bank, "b", WON, 6)
    assert list(bank.prune(min_utility=0).leaving) == ["a"]
    assert list(bank.prune(min_utility=0.1).leaving) == ["a", "c"]
    assert bank.prune(min_utility=0).leaving["a"].startswith("utility below 0: -0.")


def test_unused_are_those_that_no_attempt_was_shown_lately():
    names = ("shown to an episode", "shown to a lesson", "compared", "unused", "new")
    bank = filled(indexed_memory(), *(lesson(name, created_at=OLD) for name in names[:-1]), lesson("new"))
    bank.add([lesson("descendant", used=(names[1],))])
    solved = Episode(id="e", task="t", solution="s", outcome="success", shown=(names[0],))
    bank.add([], episodes=[solved])
    say_often(bank, "compared", WON, 1)
    assert bank.prune(unused_days=90).leaving == {"unused": f"not used for 90 days: last on {OLD:%Y-%m-%d}"}
    assert bank.prune(unused_days=101).leaving == {}


@STORES
def test_value_is_the_score_of_the_verifier_times_what_is_new_in_a_lesson(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        same = {"title": "Estimate first", "description": "Before you add, round"}
        bank = filled(
            store,
            lesson("first", **same),
            lesson("copy", **same),
            lesson("opposite", outcome="failure", **same),
            lesson("doubtful", title="Draw the river", description="For lengths", verifier_score=0.1),
            lesson("sure", title="Count twice", description="At the end", verifier_score=0.9),
        )
        leaving = bank.prune(min_value=0.2).leaving
        assert set(leaving) == {"copy", "doubtful"}
        assert leaving["copy"] == "verifier score x novelty below 0.2: 0.00"


def test_where_the_store_does_not_score_every_lesson_counts_as_new():
    bank = filled(Switched(), lesson("a"), lesson("b"))
    bank.store.inner = type(bank.store.inner)()
    for name in "ab":
        bank.add([lesson(name, title="same", description="same")])
    assert bank.prune(min_value=0.9).leaving == {}


def test_beyond_capacity_the_least_useful_go_then_the_least_valuable_then_the_longest_unused():
    bank = filled(
        indexed_memory(),
        lesson("helps", created_at=OLD, verifier_score=0.1),
        lesson("older", created_at=OLD, verifier_score=0.5, title="one two", description="three"),
        lesson("newer", verifier_score=0.5, title="four five", description="six"),
        lesson("sure", created_at=OLD, verifier_score=0.9, title="seven", description="eight"),
    )
    say_often(bank, "helps", WON, 6)
    order = [set(bank.prune(capacity=count).leaving) for count in (3, 2, 1)]
    assert order == [{"older"}, {"older", "newer"}, {"older", "newer", "sure"}]
    reason = bank.prune(capacity=3).leaving["older"]
    assert reason.startswith("over the capacity of 3: utility 0.00, verifier score x novelty 0.")
    assert bank.prune(capacity=4).leaving == {}


async def test_async_it_does_the_same():
    bank = filled(indexed_memory(), lesson("a"), lesson("b"))
    assert (await bank.aprune(capacity=1)).leaving == bank.prune(capacity=1).leaving
    await bank.aprune(capacity=1, dry_run=False)
    assert in_use(bank) == ["a"]
    assert await bank.aundo_prune() == ["b"]


def test_a_failed_write_leaves_whole_experiences_and_the_same_call_does_the_rest(monkeypatch):
    monkeypatch.setattr(pruning, "_BATCH", 2)
    store = Switched()
    bank = MemoryBank(store, NAMESPACE)
    for number in range(3):
        bank.add([lesson(f"{number}{part}", experience=f"e{number}") for part in "ab"])
    failures = iter([None, ConnectionError("gone")])
    store.writes = lambda: next(failures, None)
    with pytest.raises(ConnectionError):
        bank.prune(capacity=0, dry_run=False)
    assert in_use(bank) == ["1a", "1b", "2a", "2b"]
    assert bank.prune(capacity=0, dry_run=False).left == 0
    pruned = [name for change in bank.log() if change.kind == "pruned" for name in change.ids]
    assert sorted(pruned) == ["0a", "0b", "1a", "1b", "2a", "2b"]


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ({}, "at least one rule"),
        ({"capacity": -1}, "capacity must be from 0"),
        ({"capacity": 1.5}, "capacity must be a whole number, got 1.5"),
        ({"min_value": 1.5}, "min_value must be from 0 to 1, got 1.5"),
        ({"min_utility": float("nan")}, "min_utility must be"),
        ({"unused_days": -1}, "unused_days must be"),
    ],
)
def test_a_rule_that_makes_no_sense_is_named(rules, problem):
    with pytest.raises(ValueError, match=problem):
        MemoryBank(indexed_memory(), NAMESPACE).prune(**rules)


def test_a_bank_as_it_was_is_not_pruned_and_shows_what_was_in_use_before():
    bank = filled(indexed_memory(), lesson("a"))
    then = bank.as_of(utc_now())
    bank.prune(capacity=0, dry_run=False)
    assert in_use(then) == ["a"]
    with pytest.raises(PastBankError):
        then.prune(capacity=0)


def test_undoing_leaves_alone_what_was_taken_out_of_use_again_since():
    bank = filled(indexed_memory(), lesson("a", valid_until=NOW - timedelta(days=1)), lesson("b"))
    bank.prune(expired=True, dry_run=False)
    bank.set_status("a", "superseded")
    assert bank.undo_prune() == []
    assert in_use(bank) == ["b"]
