"""Rollouts that hang or are cancelled."""

import asyncio
import threading

import pytest
from langchain_core.runnables import RunnableConfig

from reasoningbank_langgraph.errors import TooFewAttemptsError
from tests.loop_fakes import indexed_memory
from tests.matts.test_faults import errors
from tests.matts_fakes import CONFIG, TASK, bank, matts


def test_a_rollout_that_hangs_is_given_up():
    free, store = threading.Event(), indexed_memory()

    def solve(state, config: RunnableConfig):
        if config["configurable"]["rollout"] == 1:
            free.wait(600)
        return {"answer": "4"}

    result = matts(solve, store, k=3, rollout_time_limit=2).invoke(TASK, CONFIG)
    free.set()
    assert errors(result) == [None, "ModelTimeoutError", None]
    assert bank(store).totals().experiences == 1


async def test_a_rollout_that_hangs_in_async_code_is_cancelled():
    cancelled = []

    async def solve(state, config: RunnableConfig):
        if config["configurable"]["rollout"] == 1:
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                cancelled.append(1)
                raise
        return {"answer": "4"}

    result = await matts(solve, k=3, rollout_time_limit=2).ainvoke(TASK, CONFIG)
    assert errors(result) == [None, "ModelTimeoutError", None]
    assert "rollout 1: no answer within 2" in result["rollouts"][1]["error"]["message"]
    assert cancelled == [1]


async def test_sync_solvers_that_hang_in_async_code_hold_up_nothing():
    free, store = threading.Event(), indexed_memory()

    def solve(state, config: RunnableConfig):
        if config["configurable"]["rollout"]:
            free.wait(600)
        return {"answer": "4"}

    result = await matts(solve, store, k=40, rollout_time_limit=3).ainvoke(TASK, CONFIG)
    free.set()
    assert errors(result) == [None, *["ModelTimeoutError"] * 39]
    assert bank(store).totals().experiences == 1


async def test_sync_solvers_in_async_code_all_run_at_once():
    together = threading.Barrier(40)

    def solve(state):
        together.wait(60)
        return {"answer": "4"}

    result = await matts(solve, k=40).ainvoke(TASK, CONFIG)
    assert errors(result) == [None] * 40


async def test_a_timeout_of_the_solvers_own_keeps_its_name():
    async def solve(state):
        raise TimeoutError("the database")

    with pytest.raises(TooFewAttemptsError, match="TimeoutError: the database"):
        await matts(solve, k=2).ainvoke(TASK, CONFIG)


async def test_a_run_that_is_cancelled_writes_nothing_and_goes_on_when_resumed():
    store, calls = indexed_memory(), []
    slow = True

    async def solve(state, config: RunnableConfig):
        number = config["configurable"]["rollout"]
        calls.append(number)
        if slow and number == 1:
            await asyncio.sleep(600)
        return {"answer": "4"}

    graph = matts(solve, store, k=3)
    run = asyncio.create_task(graph.ainvoke(TASK, CONFIG))
    for _ in range(6000):
        if sum(bool(task.result) for task in (await graph.aget_state(CONFIG)).tasks) == 2:
            break
        await asyncio.sleep(0.01)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert bank(store).items() == []
    slow = False
    result = await graph.ainvoke(None, CONFIG)
    assert errors(result) == [None, None, None]
    assert sorted(calls) == [0, 1, 1, 2]
    assert bank(store).totals().experiences == 1
