"""Kills a run whose attempt waits, or the learning from it, at every step, and lets a new process go on with it.

Usage: python -m tests.pending_crash_child FOLDER

Prints JSON by the name of each piece of work: `calm`, what undisturbed lives leave, and `points`, by the name of each
step what is there after the life that died and after the next one.
"""

import json
import os
import sys
from pathlib import Path

from langgraph.checkpoint.sqlite import SqliteSaver

from reasoningbank_langgraph import MemoryBank, Verdict, create_reasoning_bank
from reasoningbank_langgraph.learn import drain, resolve_overdue
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel

from .dying import DyingStore, lives, steps
from .loop_fakes import lessons, solver, verdict

CONFIG = {"configurable": {"thread_id": "t"}}
TASK = "add two apples"
WORKS = {
    "defer": ["defer"],
    "outage": ["outage"],
    "background": ["background"],
    "resolve": ["defer", "resolve"],
    "overturn": ["defer", "resolve", "overturn"],
    "return": ["defer", "resolve", "overturn", "resolve"],
    "overdue": ["outage", "overdue"],
}
"""Lives, one after another; the last one is killed."""


class DyingSaver(SqliteSaver):
    def put(self, *given):
        steps.come("before checkpoint")
        return super().put(*given)


def model(*, down=False):
    """Judges an attempt a success and distils two lessons in words of its own process, or cannot be reached."""

    def reply(messages):
        judging = "You check whether" in messages[0].text
        steps.come("call")
        if down and not judging:
            return ConnectionError("down")
        return verdict() if judging else lessons("one", "two", way=os.getpid())

    return ScriptedChatModel(reply)


def invoke(folder, store, learn, **options):
    """Run the task, or the rest of its run, or nothing where it is done."""
    with DyingSaver.from_conn_string(str(folder / "threads.sqlite")) as saver:
        builder = create_reasoning_bank(solver, namespace="m", learn=learn, **options)
        graph = builder.compile(checkpointer=saver, store=store)
        state = graph.get_state(CONFIG)
        if state.tasks or not state.values:
            graph.invoke(None if state.tasks else {"task": TASK}, CONFIG, durability="sync")
        drain()


def do(folder, store, work):
    bank = MemoryBank(store, "m")
    if work == "defer":
        invoke(folder, store, "deferred")
    elif work == "outage":
        invoke(folder, store, True, model=model(down=True))
    elif work == "background":
        invoke(folder, store, "background", model=model())
        resolve_overdue(bank, model=model())  # what the next run in the bank would do
    elif work == "overdue":
        resolve_overdue(bank, model=model())
    elif work in ("resolve", "overturn"):
        (attempt,) = {one.id for one in [*bank.pending(), *bank.episodes()]}
        status = "success" if work == "resolve" else "failure"
        bank.resolve(attempt, Verdict(status=status, judge="user"), model=model())


def life(folder, work, end=None):
    """Do what is left of the work, or die on the way; says the steps and what is there before and after it."""
    with DyingStore.from_path(folder / "bank", embeddings=HashEmbeddings()) as store:
        found = left(store)
        steps.begin(end)
        do(folder, store, work)
        steps.end = None
        return {"steps": steps.names, "found": found, "left": left(store)}


def left(store):
    bank = MemoryBank(store, "m")
    return {
        "items": [[item.title, item.status, item.outcome] for item in bank.items()],
        "episodes": [[one.outcome, len(one.earlier)] for one in bank.episodes()],
        "pending": [one.verdict and one.verdict.status for one in bank.pending()],
        "ok": store.verify().ok,
    }


if __name__ == "__main__":
    root = Path(sys.argv[1])
    print(json.dumps({name: lives(life, root / name, *works) for name, works in WORKS.items()}))
