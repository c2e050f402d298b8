"""Whatever fails, crashes, resumes or is replayed: each attempt is in the bank once, whole and under the same ids."""

import asyncio
import threading
from contextlib import suppress

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import MemoryBank, MemoryItem, create_reasoning_bank
from reasoningbank_langgraph.bank.writer_lock import writing
from reasoningbank_langgraph.errors import InvalidRecordError, StoreCorruptedError, TooManyItemsError
from reasoningbank_langgraph.records import Episode, Provenance
from tests.loop_fakes import indexed_memory, learner, solver

CONFIG = {"configurable": {"thread_id": "t"}}


def bank(store):
    return MemoryBank(store, "reasoningbank")


def item(number, experience="e1", digest="d1", **changes):
    values = {
        "id": f"{experience}-{number}",
        "title": f"title {number}",
        "description": "when",
        "content": f"do {number}",
        "outcome": "success",
        "task": "add two apples",
        "experience_id": experience,
        "provenance": Provenance(attempt_digest=digest),
    }
    return MemoryItem(**{**values, **changes})


def episode(outcome, experience):
    return Episode(
        id="ep",
        task="add two apples",
        solution="1 + 1 = 2",
        outcome=outcome,
        experience_id=experience,
        provenance=Provenance(attempt_digest="d1"),
    )


@pytest.mark.parametrize("step", ["retrieve", "solve", "judge", "extract", "consolidate"])
def test_the_same_attempt_replayed_from_an_old_checkpoint_adds_nothing(step):
    store = indexed_memory()
    model = learner(repeats=True)
    graph = create_reasoning_bank(solver, model=model).compile(checkpointer=InMemorySaver(), store=store)
    first = graph.invoke({"task": "add two apples"}, CONFIG)
    before = bank(store).items()
    past = next(state for state in graph.get_state_history(CONFIG) if state.next == (step,))
    again = graph.invoke(None, past.config)
    assert bank(store).items() == before
    assert again["written"] == first["written"]


def test_another_answer_to_the_same_task_in_the_same_thread_is_a_new_attempt():
    store = indexed_memory()
    answers = iter(["one", "two"])
    graph = create_reasoning_bank(lambda _: {"answer": next(answers)}, model=learner()).compile(
        checkpointer=InMemorySaver(), store=store
    )
    graph.invoke({"task": "add two apples"}, CONFIG)
    result = graph.invoke({"task": "add two apples"}, CONFIG)
    assert len(result["written"]) == 4
    assert bank(store).totals().experiences == 2


def test_a_branch_does_not_see_what_another_branch_of_its_thread_wrote():
    store = indexed_memory()
    seen = []

    def looking(state):
        seen.append([memory["item"]["task"] for memory in state["memories"]])
        return {"answer": f"{state['task']}!"}

    graph = create_reasoning_bank(looking, model=learner(titles=("one",)), k=5, max_items=9).compile(
        checkpointer=InMemorySaver(), store=store
    )
    graph.invoke({"task": "add two apples"}, CONFIG)
    fork = graph.get_state(CONFIG).config
    graph.invoke({"task": "add three apples"}, CONFIG)
    graph.invoke({"task": "add four apples"}, fork)
    assert seen[-1] == ["add two apples"]
    graph.invoke({"task": "add five apples"}, {"configurable": {"thread_id": "other"}})
    assert sorted(seen[-1]) == ["add four apples", "add three apples", "add two apples"]


def test_writing_the_same_items_again_changes_nothing():
    store = indexed_memory()
    assert bank(store).add([item(0), item(1)]) == (["e1-0", "e1-1"], 2)
    before = store.search(("reasoningbank",))
    assert bank(store).add([item(0), item(1)]) == (["e1-0", "e1-1"], 0)
    assert store.search(("reasoningbank",)) == before


def test_rows_an_earlier_try_left_are_removed():
    store = indexed_memory()
    bank(store).add([item(0), item(1), item(2)])
    bank(store).add([item(0, content="other"), item(1)])
    assert [(one.id, one.content) for one in bank(store).items()] == [("e1-1", "do 1"), ("e1-0", "other")]


def test_a_replay_under_other_ids_is_known_by_its_digest():
    store = indexed_memory()
    bank(store).add([item(0), item(1)])
    assert bank(store).add([item(0, "e2"), item(1, "e2")]) == (["e1-0", "e1-1"], 0)
    assert bank(store).add([item(0, "e3", digest="")]).added == 1


def test_attempts_without_a_digest_are_known_by_their_experience():
    store = indexed_memory()
    for name in ("e1", "e2"):
        assert bank(store).add([item(0, name, digest="")]) == ([f"{name}-0"], 1)
    assert bank(store).add([item(0, "e1", digest="")]) == (["e1-0"], 0)
    assert bank(store).totals().experiences == 2


def test_another_verdict_on_an_attempt_that_is_in_the_bank_is_said_not_to_change_it(caplog):
    store = indexed_memory()
    bank(store).add([item(0)])
    assert bank(store).add([item(0, "e2", outcome="failure")]) == (["e1-0"], 0)
    assert "came again as failure and stays in the bank as success" in caplog.text
    assert "forget(experience_id='e1')" in caplog.text
    bank(store).forget(experience_id="e1")
    assert bank(store).add([item(0, "e2", outcome="failure")]).added == 1


@pytest.mark.parametrize("again", [(), ("e2",)], ids=["without lessons", "with lessons"])
@pytest.mark.parametrize("first", [(), ("e1",)], ids=["had none", "had some"])
def test_another_verdict_on_an_attempt_whose_episode_is_in_the_bank_adds_no_lesson_of_it(first, again, caplog):
    store = indexed_memory()
    bank(store).add([item(0, name) for name in first], episodes=[episode("success", "e1")])
    before = store.search(("reasoningbank",), limit=99)
    failures = [item(0, name, outcome="failure") for name in again]
    assert bank(store).add(failures, episodes=[episode("failure", "e2")]) == ([f"{name}-0" for name in first], 0)
    assert store.search(("reasoningbank",), limit=99) == before
    assert "came again as failure and stays in the bank as success" in caplog.text


async def test_the_async_side_writes_the_same():
    store = indexed_memory()
    assert await bank(store).aadd([item(0), item(1)]) == (["e1-0", "e1-1"], 2)
    assert await bank(store).aget("e1-1") == item(1).model_copy(
        update={
            "created_at": (await bank(store).aget("e1-1")).created_at,
            "updated_at": bank(store).get("e1-1").updated_at,
        }
    )
    assert await bank(store).aget("nothing") is None


def test_too_many_items_and_mixed_experiences_are_refused_and_nothing_is_written():
    store = indexed_memory()
    with pytest.raises(TooManyItemsError, match="may add at most 5 lessons, got 6"):
        bank(store).add([item(number) for number in range(6)])
    with pytest.raises(InvalidRecordError, match="one experience"):
        bank(store).add([item(0), item(1, "e2")])
    assert bank(store).items() == []


def test_as_many_items_as_allowed_are_written_and_none_are_none():
    store = indexed_memory()
    assert bank(store).add([item(number) for number in range(5)]).added == 5
    assert bank(store).add([item(7, "e7", "d7")], cap=1).added == 1
    assert bank(store).add([]) == ([], 0)


def test_a_row_that_is_no_item_is_named():
    store = indexed_memory()
    bank(store).add([item(0)])
    broken = dict(store.get(("reasoningbank",), "e1-0").value, title=7)
    store.put(("reasoningbank",), "e1-0", broken)
    with pytest.raises(StoreCorruptedError, match="e1-0"):
        bank(store).items()


class Meeting(InMemoryStore):
    """A store in which a write waits until another thread is about to write as well, or half a second."""

    def __init__(self):
        super().__init__()
        self.both = threading.Barrier(2)

    def batch(self, ops):
        ops = list(ops)
        if any(isinstance(op, PutOp) for op in ops):
            with suppress(threading.BrokenBarrierError):
                self.both.wait(0.5)
        return super().batch(ops)


def test_the_same_attempt_written_by_two_threads_at_once_is_there_once():
    store = Meeting()
    threads = [threading.Thread(target=bank(store).add, args=([item(0, name)],)) for name in ("e1", "e2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bank(store).totals().experiences == 1


async def test_a_bank_does_not_wait_for_a_write_to_another_one_of_the_store():
    store = indexed_memory()
    async with asyncio.timeout(20):
        with writing(store, ("another",)):
            assert (await bank(store).aadd([item(0)])).added == 1


async def test_the_same_attempt_written_by_two_tasks_at_once_is_there_once():
    class Slow(InMemoryStore):
        async def abatch(self, ops):
            await asyncio.sleep(0.05)
            return await super().abatch(ops)

    store = Slow()
    written = await asyncio.gather(*(bank(store).aadd([item(0, name)]) for name in ("e1", "e2", "e3")))
    assert bank(store).totals().experiences == 1
    assert len({tuple(one.ids) for one in written}) == 1
