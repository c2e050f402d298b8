"""Solvers and graphs shared by the tests of MaTTS."""

import threading
from collections import Counter

from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import MemoryBank, Verdict, create_matts

from .loop_fakes import indexed_memory, learner

CONFIG = {"configurable": {"thread_id": "t"}}
TASK = {"task": "add two apples"}


class Answering:
    """Solver that answers by the number of its rollout and counts its calls; an exception in its script is raised."""

    def __init__(self, *answers):
        self.answers, self.calls, self._lock = answers, Counter(), threading.Lock()
        self.seen = []

    def __call__(self, state, config):
        told = config["configurable"]
        with self._lock:
            self.calls[told["rollout"]] += 1
            self.seen.append((told["rollout"], told.get("temperature"), told["seed"], state))
        answer = self.answers[told["rollout"] % len(self.answers)]
        if isinstance(answer, Exception):
            raise answer
        return {"answer": answer, "messages": [("ai", f"so it is {answer}")]}


def solving(*answers):
    """The same as a node function."""
    from langchain_core.runnables import RunnableConfig

    inner = Answering(*answers)

    def solve(state, config: RunnableConfig):
        return inner(state, config)

    solve.inner = inner
    return solve


def judged_by(*right, judge="tests", rationale="checked"):
    """A judge function: these answers are right, all others wrong."""

    def check(attempt):
        status = "success" if attempt.answer in right else "failure"
        return Verdict(status=status, judge=judge, confidence=0.5, rationale=rationale)

    return check


def matts(solver, store=None, saver=None, **options):
    """A compiled graph with fakes for what is not given."""
    options = {"model": learner(), "verifiers": ("reference", "tests"), **options}
    saver = InMemorySaver() if saver is None else saver
    store = indexed_memory() if store is None else store
    return create_matts(solver, **options).compile(checkpointer=saver or None, store=store)


def bank(store):
    return MemoryBank(store, "reasoningbank")


def fails_once(builder, name):
    """Let a node of a graph in the making fail the first time, after its work."""
    node, failed = builder.nodes[name].runnable, []
    inner = node.invoke

    def once(state, config=None, **kwargs):
        result = inner(state, config, **kwargs)
        if not failed:
            failed.append(1)
            raise RuntimeError("power cut")
        return result

    object.__setattr__(node, "invoke", once)
