"""Whatever fails, crashes, resumes or is replayed: each attempt is in the bank once, whole and under the same ids."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import RetryPolicy, interrupt

from reasoningbank_langgraph import MemoryBank, MemoryItem, create_reasoning_bank
from reasoningbank_langgraph.errors import InvalidRecordError, StoreCorruptedError, TooManyItemsError
from reasoningbank_langgraph.records import Provenance

from .conftest import REPOSITORY
from .loop_fakes import indexed_memory, learner, solver

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


def child(folder, where):
    command = [sys.executable, "-m", "tests.crash_child", str(folder), where]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY, timeout=120)


def listed(output, name):
    return [line.split(": ", 1)[-1] for line in output.splitlines() if line.startswith(f"{name}:")]


@pytest.mark.slow
@pytest.mark.parametrize("where", ["solve", "judge", "extract", "before write", "after write"])
def test_a_run_killed_anywhere_goes_on_and_ends_like_an_undisturbed_one(where, tmp_path):
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    calm.mkdir()
    killed.mkdir()
    undisturbed = child(calm, "nowhere")
    first = child(killed, where)
    assert first.returncode == -signal.SIGKILL, first.stderr
    second = child(killed, where)
    assert second.returncode == 0, second.stderr
    assert listed(second.stdout, "item") == listed(undisturbed.stdout, "item")
    assert len(listed(second.stdout, "item")) == 6
    before = listed(second.stdout, "before")[0].split() if where == "after write" else []
    assert before == listed(second.stdout, "after")[0].split()[: len(before)]
    assert len(before) == (3 if where == "after write" else 0)


def test_a_node_that_is_retried_writes_the_same_rows_once():
    store = indexed_memory()
    builder = create_reasoning_bank(solver, model=learner())
    node = builder.nodes["consolidate"].runnable
    tries = []
    inner = node._step

    def flaky(state, context):
        result = inner(state, context)
        tries.append(result["written"])
        if len(tries) < 3:
            raise ConnectionError("after the write")
        return result

    node._step = flaky
    builder.nodes["consolidate"].retry_policy = RetryPolicy(initial_interval=0.001, max_attempts=3)
    builder.compile(checkpointer=InMemorySaver(), store=store).invoke({"task": "add two apples"}, CONFIG)
    assert len(tries) == 3
    assert tries[0] == tries[1] == tries[2] == [item.id for item in bank(store).items()]


@pytest.mark.parametrize("failing", ["judge", "extract", "consolidate"])
def test_an_exception_and_a_second_invoke_end_like_an_undisturbed_run(failing, tmp_path):
    store = indexed_memory()
    builder = create_reasoning_bank(solver, model=learner())
    node = builder.nodes[failing].runnable
    inner, calls = node._step, []

    def once(state, context):
        calls.append(1)
        if len(calls) == 1:
            inner(state, context)
            raise RuntimeError("power cut")
        return inner(state, context)

    node._step = once
    with closing(sqlite3.connect(tmp_path / "threads.sqlite", check_same_thread=False)) as connection:
        graph = builder.compile(checkpointer=SqliteSaver(connection), store=store)
        with pytest.raises(RuntimeError, match="power cut"):
            graph.invoke({"task": "add two apples"}, CONFIG)
        before = [item.id for item in bank(store).items()]
        result = graph.invoke(None, CONFIG)
    ids = [item.id for item in bank(store).items()]
    assert ids == result["written"]
    assert len(ids) == 2
    assert before == (ids if failing == "consolidate" else [])


def test_an_interrupt_and_a_resume_write_once():
    def asking(state):
        return {"answer": interrupt("how many?")}

    from langgraph.types import Command

    store = indexed_memory()
    graph = create_reasoning_bank(asking, model=learner()).compile(checkpointer=InMemorySaver(), store=store)
    graph.invoke({"task": "add two apples"}, CONFIG)
    assert bank(store).items() == []
    result = graph.invoke(Command(resume="5"), CONFIG)
    assert result["answer"] == "5"
    assert [item.id for item in bank(store).items()] == result["written"]


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
    with pytest.raises(TooManyItemsError):
        bank(store).add([item(number) for number in range(6)])
    with pytest.raises(InvalidRecordError):
        bank(store).add([item(0), item(1, "e2")])
    assert bank(store).items() == []


def test_a_row_that_is_no_item_is_named():
    store = indexed_memory()
    bank(store).add([item(0)])
    broken = dict(store.get(("reasoningbank",), "e1-0").value, title=7)
    store.put(("reasoningbank",), "e1-0", broken)
    with pytest.raises(StoreCorruptedError, match="e1-0"):
        bank(store).items()
