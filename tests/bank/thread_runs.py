"""Loops and groups of attempts on one thread, which note what they were shown."""

from itertools import count

from reasoningbank_langgraph import MemoryBank, create_matts, create_reasoning_bank
from tests.loop_fakes import learner

CONFIG = {"configurable": {"thread_id": "t"}}
MODEL = learner(titles=("one",))  # no two of its lessons are the same


class Looking:
    """A solver that notes which tasks' lessons it is shown, and answers each call otherwise."""

    def __init__(self, wait=None):
        self.seen, self.answers, self.wait = {}, count(), wait

    def __call__(self, state):
        self.seen[state["task"]] = {memory["item"]["task"] for memory in state["memories"]}
        if self.wait:
            self.wait(state["task"])
        return {"answer": str(next(self.answers))}


def loop(solver, **options):
    return create_reasoning_bank(solver, model=MODEL, k=50, max_items=250, **options)


def matts(solver, **options):
    return create_matts(solver, model=MODEL, k=2, experiences=50, max_items=250, **options)


def run(app, *numbers, config=CONFIG, **options):
    for number in numbers:
        app.invoke({"task": f"task {number}"}, config, **options)


def tasks(*numbers):
    return {f"task {number}" for number in numbers}


def bank(store):
    return MemoryBank(store, "reasoningbank")
