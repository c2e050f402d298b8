"""Runs at once on one thread are no branches of it: none of them hides what another one learned."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph.errors import UnknownBranchError
from tests.bank.thread_runs import CONFIG, Looking, bank, loop, run, tasks
from tests.loop_fakes import indexed_memory


class Meeting:
    """Lets as many solvers as there are wait for each other."""

    def __init__(self, parties):
        self.barrier = threading.Barrier(parties, timeout=20)

    def __call__(self, task):
        if "late" not in task:
            self.barrier.wait()


@pytest.mark.parametrize("first", [(), ("0",)], ids=["a new thread", "a thread with a past"])
def test_runs_at_once_on_one_thread_are_shown_to_its_later_runs_and_stay(first):
    solver, store = Looking(), indexed_memory()
    app = loop(solver).compile(checkpointer=InMemorySaver(), store=store)
    run(app, *first)
    solver.wait = Meeting(3)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda name: run(app, name), "abc"))
    run(app, "late 1", "late 2")
    assert solver.seen["task late 1"] == tasks(*first, *"abc")
    assert solver.seen["task late 2"] == tasks(*first, *"abc", "late 1")
    assert bank(store).reconcile("t", app) == []
    if first:
        assert bank(store).reconcile("t", app, forget=True) == []
    assert len(bank(store).items()) == 5 + len(first)


async def test_tasks_of_one_loop_at_once_on_one_thread_are_shown_to_its_later_runs():
    solver, store = Looking(), indexed_memory()
    app = loop(solver).compile(checkpointer=InMemorySaver(), store=store)
    await app.ainvoke({"task": "task 0"}, CONFIG)
    solver.wait = Meeting(3)
    await asyncio.gather(*(app.ainvoke({"task": f"task {name}"}, CONFIG) for name in "abc"))
    await app.ainvoke({"task": "task late"}, CONFIG)
    assert solver.seen["task late"] == tasks(0, *"abc")


@pytest.mark.parametrize("workers", [2, 4])
def test_a_pool_that_works_off_many_tasks_on_one_thread_hides_none_of_them(workers):
    solver, store = Looking(), indexed_memory()
    app = loop(solver).compile(checkpointer=InMemorySaver(), store=store)
    run(app, "first")
    numbers = list(range(12))
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda number: run(app, number, durability="sync"), numbers))
    run(app, "last")
    assert solver.seen["task last"] == tasks("first", *numbers)
    with suppress(UnknownBranchError):
        bank(store).reconcile("t", app, forget=True)
    assert len(bank(store).items()) == 14


class PausedReads(InMemorySaver):
    """Holds back what it has read, for as long as it is told to."""

    def __init__(self):
        super().__init__()
        self.pause = lambda: None

    def get_tuple(self, config):
        found = super().get_tuple(config)
        self.pause()
        return found


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_run_that_ends_between_the_reading_of_a_checkpoint_and_its_use_is_no_other_branch(durability):
    solver, store, saver = Looking(), indexed_memory(), PausedReads()
    app = loop(solver).compile(checkpointer=saver, store=store)
    run(app, "first")
    read, ended = threading.Event(), threading.Event()

    def pause():
        read.set()
        assert ended.wait(20)

    with ThreadPoolExecutor(1) as pool:

        def meanwhile(task):
            if task == "task quick":
                saver.pause = pause
                pool.submit(run, app, "slow", durability=durability)
                assert read.wait(20)
                saver.pause = lambda: None

        solver.wait = meanwhile
        run(app, "quick", durability=durability)
        ended.set()
    run(app, "late")
    assert solver.seen["task late"] == tasks("first", "quick", "slow")


def test_a_run_that_begins_while_another_one_is_half_done_hides_nothing_of_it():
    solver, store = Looking(), indexed_memory()
    app = loop(solver).compile(checkpointer=InMemorySaver(), store=store)
    run(app, 0)

    def meanwhile(task):
        if task == "task slow":
            run(app, "quick 1", "quick 2")

    solver.wait = meanwhile
    run(app, "slow")
    run(app, "late")
    assert solver.seen["task late"] == tasks(0, "slow", "quick 1", "quick 2")
    assert bank(store).reconcile("t", app, forget=True) == []
