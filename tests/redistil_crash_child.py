"""Kills a run of `redistil` at every step, or its undoing, and lets a new process go on with it.

Usage: python -m tests.redistil_crash_child FOLDER

Prints JSON: `points`, by the name of each step what is in use when the process has died there and after a second life.
"""

import json
import os
import signal
import sys
from pathlib import Path

from langgraph.store.base import PutOp

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.testing import HashEmbeddings

from .bank.test_forgetting import NAMESPACE
from .bank.test_redistil import filled, newer
from .crash_child import fork


class Steps:
    """Counts the steps of a life; at one of them the process ends."""

    def __init__(self):
        self.end, self.names = None, []

    def begin(self, end=None):
        self.end, self.names = end, []

    def come(self, name):
        self.names.append(f"{name} {sum(name in each for each in self.names)}")
        if self.names[-1] == self.end:
            os.kill(os.getpid(), signal.SIGKILL)


steps = Steps()


class DyingStore(ChromaStore):
    def batch(self, ops):
        ops = list(ops)
        writes = any(isinstance(op, PutOp) for op in ops)
        if writes:
            steps.come("before write")
        results = super().batch(ops)
        if writes:
            steps.come("after write")
        return results


def life(folder, work, end=None):
    """Do what is left of the work, or die on the way; says the steps and what is there after it."""
    with DyingStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        bank = filled(store, 3) if work == "fill" else MemoryBank(store, NAMESPACE)
        model = newer("one", "two")
        reply = model.script

        def dying_reply(messages):
            steps.come("call")
            return reply(messages)

        model.script = dying_reply
        steps.begin(end)
        if work == "redistil":
            bank.redistil(model)
        elif work == "undo":
            bank.undo_redistil(bank.redistil(model, dry_run=True).run)
        return {"steps": steps.names, "items": [of(item) for item in bank.items()], "ok": store.verify().ok}


def of(item):
    return [item.experience_id, item.title, item.status, item.id]


def lives(folder, before, work):
    """Kill a life at each of its steps, after others that are left alone, and let a second one go on."""
    names = last_life(folder / f"calm {work}", [*before, work])["steps"]
    found = {}
    for number, name in enumerate(names):
        place = folder / f"{work} {number}"
        last_life(place, before)
        killed = fork(life, place, work, name).said() is None
        found[f"{work}: {name}"] = {
            "killed": killed,
            "first": fork(life, place, "look").said(),
            "second": fork(life, place, work).said(),
        }
    return found


def last_life(place, works):
    """Live one life for each of these works and return what the last one says."""
    return [fork(life, place, work).said() for work in works][-1]


if __name__ == "__main__":
    root = Path(sys.argv[1])
    print(json.dumps(lives(root, ["fill"], "redistil") | lives(root, ["fill", "redistil"], "undo")))
