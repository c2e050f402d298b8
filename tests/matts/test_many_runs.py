"""Many runs at once keep to the concurrency that was asked for."""

import asyncio
import threading
import time

import pytest

from tests.loop_fakes import indexed_memory
from tests.matts_fakes import CONFIG, TASK, bank, matts


class Gauge:
    """Counts what is going on at the same time, by task and in all."""

    def __init__(self):
        self.now, self.most, self._lock = {}, {}, threading.Lock()

    def begin(self, task):
        with self._lock:
            for name in (task, "all"):
                self.now[name] = self.now.get(name, 0) + 1
                self.most[name] = max(self.most.get(name, 0), self.now[name])

    def end(self, task):
        with self._lock:
            for name in (task, "all"):
                self.now[name] -= 1


def tasks(count):
    return [{"task": f"add {number} apples"} for number in range(count)]


def threads(count, **settings):
    return [{"configurable": {"thread_id": f"t{number}"}, **settings} for number in range(count)]


@pytest.mark.slow
def test_twenty_runs_at_once_keep_to_the_concurrency_asked_for():
    store, gauge = indexed_memory(), Gauge()

    def solve(state):
        gauge.begin(state["task"])
        time.sleep(0.002)
        gauge.end(state["task"])
        return {"answer": "4"}

    graph = matts(solve, store, k=3, max_concurrency=2)
    results = graph.batch(tasks(20), threads(20, max_concurrency=4))
    assert {len(result["rollouts"]) for result in results} == {3}
    assert gauge.most.pop("all") <= 8
    assert max(gauge.most.values()) <= 2
    written = [name for result in results for name in result["written"]]
    assert sorted(written) == sorted(item.id for item in bank(store).items())
    assert bank(store).totals().experiences == 20


@pytest.mark.slow
async def test_twenty_runs_at_once_in_async_code():
    store, gauge = indexed_memory(), Gauge()

    async def solve(state):
        gauge.begin(state["task"])
        await asyncio.sleep(0.002)
        gauge.end(state["task"])
        return {"answer": "4"}

    graph = matts(solve, store, k=3, max_concurrency=2)
    await asyncio.gather(*(graph.ainvoke(task, one) for task, one in zip(tasks(20), threads(20), strict=True)))
    gauge.most.pop("all")
    assert max(gauge.most.values()) <= 2
    assert bank(store).totals().experiences == 20


def test_a_limit_of_langgraph_itself_is_kept_too():
    gauge = Gauge()

    def solve(state):
        gauge.begin(state["task"])
        time.sleep(0.01)
        gauge.end(state["task"])
        return {"answer": "4"}

    matts(solve, k=6).invoke(TASK, {**CONFIG, "max_concurrency": 2})
    assert gauge.most["all"] <= 2
