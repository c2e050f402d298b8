"""Processes that kill themselves at a step, and lives that go on after them.

Every life is a process of its own, forked after the imports and before any client is open, which saves the seconds
that imports take.
"""

import json
import os
import shutil
import signal
import traceback
from typing import NamedTuple

import chromadb.api.rust  # noqa: F401 - before the fork
from langgraph.store.base import PutOp

from reasoningbank_langgraph import ChromaStore


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


class Forked(NamedTuple):
    """A process that does one thing and says it as JSON."""

    pid: int
    reader: int

    def said(self):
        """What it said when it was done, or None if it was killed."""
        with os.fdopen(self.reader) as said:
            text = said.read()
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if code == -signal.SIGKILL:
            return None
        assert code == 0, f"a process ended with {code}"
        return json.loads(text)


def fork(function, *arguments):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return Forked(pid, reader)
    try:
        with os.fdopen(writer, "w") as out:
            json.dump(function(*arguments), out)
        os._exit(0)
    except BaseException:  # noqa: BLE001 - a fork must not go on with its parent's work
        traceback.print_exc()
        os._exit(1)


def lives(life, root, *works):
    """Kill the last of these works at each of its steps, after others that are left alone; then let it be done again.

    Args:
        life: does a work in a folder and may die at a step that it is told; it says its `steps`, what it `found` and
            what is `left`.
        root: folder of all these lives.
        works: pieces of work, one after another.
    """
    *earlier, work = works
    (before := root / "before").mkdir(parents=True)
    for each in earlier:
        fork(life, before, each).said()
    calm = fork(life, copied(before, root / "calm"), work).said()
    points = {}
    for number, name in enumerate(calm["steps"]):
        place = copied(before, root / str(number))
        killed = fork(life, place, work, name).said() is None
        points[name] = {"killed": killed, **fork(life, place, work).said()}
    return {"calm": calm, "points": points}


def copied(folder, copy):
    return shutil.copytree(folder, copy)
