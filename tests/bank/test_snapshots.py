"""A bank as it was: at a time, or at a checkpoint."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import MemoryBank, create_reasoning_bank
from reasoningbank_langgraph.errors import InvalidMomentError, PastBankError
from reasoningbank_langgraph.records import Provenance, utc_now
from tests.bank.test_forgetting import NAMESPACE, STORES, lesson
from tests.loop_fakes import indexed_memory, learner, open_store

CONFIG = {"configurable": {"thread_id": "t"}}


def moment():
    return datetime.now(UTC)


@STORES
def test_what_was_written_later_was_not_there(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, ("m",))
        bank.add([lesson("a", task="red green")])
        between = moment()
        bank.add([lesson("b", task="red green blue")])
        past = bank.as_of(between)
        assert [item.id for item in past.items()] == ["a"]
        assert [memory.item.id for memory in past.search("red green blue grey", k=5)] == ["a"]
        assert (past.get("a").id, past.get("b")) == ("a", None)
        assert past.totals().items == 1
        assert bank.as_of(between - timedelta(days=1)).items() == []
        assert len(bank.as_of(moment()).items()) == 2


@STORES
def test_what_was_retired_later_was_still_active(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, ("m",))
        bank.add([lesson("a", task="red green")])
        before = moment()
        bank.set_status(["a"], "quarantined")
        after = moment()
        (then,) = bank.as_of(before).search("red green blue")
        assert (then.item.id, then.item.status, then.item.retired_at) == ("a", "active", None)
        assert [item.status for item in bank.as_of(before).items()] == ["active"]
        assert bank.as_of(after).items() == bank.as_of(after).search("red green blue") == []
        bank.set_status(["a"], "active")
        assert bank.as_of(moment()).items() == bank.items()


@STORES
def test_the_horizon_of_an_item_counts_as_it_was_then(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, ("m",))
        bank.add([lesson("a", task="red green", valid_until=moment() + timedelta(hours=1))])
        at = moment()
        assert [memory.item.id for memory in bank.as_of(at).search("red")] == ["a"]
        assert bank.as_of(at + timedelta(hours=2)).search("red") == []


def test_a_checkpoint_shows_of_its_own_thread_what_its_branch_had_written():
    store = indexed_memory()
    answers = count()
    graph = create_reasoning_bank(
        lambda _: {"answer": str(next(answers))}, model=learner(titles=("one",)), k=5
    ).compile(checkpointer=InMemorySaver(), store=store)
    bank = MemoryBank(store, "reasoningbank")
    graph.invoke({"task": "add two apples"}, CONFIG)
    first = graph.get_state(CONFIG)
    graph.invoke({"task": "add three apples"}, CONFIG)
    graph.invoke({"task": "add four apples"}, first.config)
    graph.invoke({"task": "add five apples"}, {"configurable": {"thread_id": "other"}})
    tip = graph.get_state(CONFIG)
    assert [item.task for item in bank.as_of(first).items()] == ["add two apples"]
    assert [item.task for item in bank.as_of(tip).items()] == ["add two apples", "add four apples"]
    found = bank.as_of(tip).search("add apples", k=9)
    assert sorted(memory.item.task for memory in found) == ["add four apples", "add two apples"]
    oldest = list(graph.get_state_history(CONFIG))[-1]
    assert bank.as_of(oldest).items() == []


def at(micros):
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)


@STORES
def test_a_lesson_is_there_from_the_microsecond_it_is_written_until_the_one_it_is_retired(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, ("m",))
        bank.add([lesson("a", task="red green")])
        bank.set_status(["a"], "quarantined")
        row = store.get(("m",), "a").value
        assert row["since"] < row["retired"]
        for moment, there in ((row["since"] - 1, 0), (row["since"], 1), (row["retired"] - 1, 1), (row["retired"], 0)):
            past = bank.as_of(at(moment))
            assert (len(past.items()), len(past.search("red green blue"))) == (there, there)


@pytest.mark.parametrize("config", [{"tags": []}, {"configurable": {"checkpoint_id": "x"}}])
def test_a_snapshot_that_names_no_thread_is_a_moment_of_all_branches(config):
    store, answers = indexed_memory(), count()
    graph = create_reasoning_bank(lambda _: {"answer": str(next(answers))}, model=learner(titles=("one",))).compile(
        checkpointer=InMemorySaver(), store=store
    )
    bank = MemoryBank(store, "reasoningbank")
    graph.invoke({"task": "add two apples"}, CONFIG)
    first = graph.get_state(CONFIG)
    graph.invoke({"task": "add three apples"}, CONFIG)
    graph.invoke({"task": "add four apples"}, first.config)
    tip = graph.get_state(CONFIG)
    assert len(bank.as_of(tip).items()) == 2
    assert len(bank.as_of(tip._replace(config=config)).items()) == 3
    assert len(bank.as_of(first._replace(config=config)).items()) == 1


def test_the_past_cannot_be_written_to():
    bank = MemoryBank(indexed_memory(), ("m",))
    bank.add([lesson("a")])
    past = bank.as_of(moment())
    for write in (
        lambda: past.add([lesson("b")]),
        lambda: past.forget("a"),
        lambda: past.set_status(["a"], "superseded"),
    ):
        with pytest.raises(PastBankError):
            write()
    assert [item.id for item in bank.items()] == ["a"]


@pytest.mark.parametrize(
    ("when", "told"),
    [
        (datetime(2026, 1, 1), r"2026-01-01T00:00:00 has no time zone: use datetime.now\(UTC\)"),
        *((when, rf"takes a time or a snapshot .* got {when!r}") for when in ("yesterday", None, 5)),
    ],
)
def test_what_is_no_moment_is_refused(when, told):
    with pytest.raises(InvalidMomentError, match=told):
        MemoryBank(indexed_memory(), ("m",)).as_of(when)


def test_a_thread_without_a_checkpoint_is_no_moment():
    graph = create_reasoning_bank(lambda _: {}, model=learner()).compile(checkpointer=InMemorySaver())
    with pytest.raises(InvalidMomentError, match="checkpointer"):
        MemoryBank(indexed_memory(), ("m",)).as_of(graph.get_state(CONFIG))


def test_of_a_past_bank_what_was_out_of_use_crowds_nothing_out_and_no_later_attempt_is_known():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    near = [lesson(f"n{number}", task=f"add two apples {number}") for number in range(510)]
    for start in range(0, 510, 5):
        bank.add([one.model_copy(update={"experience_id": f"e{start}"}) for one in near[start : start + 5]])
    bank.add([lesson("far", task="multiply quickly")])
    names, digest = [one.id for one in near], "d" * 64
    late = lesson("late").model_copy(update={"provenance": Provenance(attempt_digest=digest)})
    bank.set_status(names, "quarantined")
    moment = utc_now()
    bank.set_status(names, "active")
    bank.add([late])
    past = bank.as_of(moment)
    assert [item.id for item in past.items()] == ["far"]
    assert [memory.item.id for memory in past.search("add two apples")] == ["far"]
    assert (past.has_attempt(digest), bank.has_attempt(digest)) == (False, True)
