"""Kills a MaTTS run on a bank and a checkpointer on disk at each of six points, and lets a new process go on with it.

Usage: python -m tests.matts_crash_child FOLDER

Prints JSON, by the name of each point: whether the first process was `killed`, and what the second one found and left.
"""

import json
import os
import signal
import sqlite3
import sys
import time
from contextlib import closing
from functools import partialmethod
from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite import SqliteSaver

from reasoningbank_langgraph import ChromaStore, MemoryBank, Verdict, create_matts
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel

from .dying import fork
from .loop_fakes import lessons

POINTS = ["solve", "retrieve", "judge", "extract", "before write", "after write"]


class Life:
    """One process of a run; the first of them kills itself at a point, named `where`."""

    def __init__(self, folder, where, *, first):
        self.where, self.first = where, first
        self.calls, self.bank, self.threads = folder / "calls", folder / "bank", folder / "threads.sqlite"

    def die(self, point):
        if self.first and point == self.where:
            os.kill(os.getpid(), signal.SIGKILL)

    def until_on_disk(self, count):
        """Wait until that many rollouts are checkpointed: a rollout that is only in memory is rightly repeated."""
        query = "select count(*) - 1 from writes where channel = 'rollouts'"  # the first step writes it too
        for _ in range(6000):
            with closing(sqlite3.connect(self.threads)) as reader:
                if reader.execute(query).fetchone()[0] >= count:
                    return
            time.sleep(0.01)
        raise TimeoutError(f"{count} rollouts are not on disk after a minute")

    def solve(self, state, config: RunnableConfig):
        number = config["configurable"]["rollout"]
        if number == 2:
            if self.first and self.where in ("solve", "judge"):
                self.until_on_disk(2)
            self.die("solve")
        with self.calls.open("a", encoding="utf-8") as calls:
            calls.write(f"solve {number}\n")
        return {"answer": "4" if number else "5"}

    def judge(self, attempt):
        if attempt.answer == "4" and "solve 2" in self.calls.read_text(encoding="utf-8"):
            self.die("judge")
        return Verdict(status="success" if attempt.answer == "4" else "failure", judge="tests", confidence=0.5)

    def reply(self, messages):
        self.die("extract")
        return lessons("count twice", "sort first", "name the unit")

    def run(self):
        """Run the group, or what is left of it; returns what was there before and after."""
        MemoryBank.add, MemoryBank.recall = partialmethod(dying_add, self), partialmethod(dying_recall, self)
        memory = "on_disagreement" if self.where == "retrieve" else "all"
        with (
            ChromaStore.from_path(self.bank, embeddings=HashEmbeddings()) as store,
            SqliteSaver.from_conn_string(str(self.threads)) as saver,
        ):
            model = ScriptedChatModel(self.reply)
            built = create_matts(self.solve, model=model, judge=self.judge, verifiers=["tests"], memory=memory)
            graph = built.compile(checkpointer=saver, store=store)
            config = {"configurable": {"thread_id": "a"}}
            bank = MemoryBank(store, "reasoningbank")
            before = [item.id for item in bank.items()]
            going = graph.get_state(config).tasks
            result = graph.invoke(None if going else {"task": "add the apples"}, config, durability="sync")
            items = bank.items()
        return {
            "before": before,
            "after": [item.id for item in items],
            "written": result["written"],
            "experiences": len({item.experience_id for item in items}),
            "answer": [result["answer"], result["selection"]["number"]],
            "calls": self.calls.read_text(encoding="utf-8").splitlines(),
        }


real_add, real_recall = MemoryBank.add, MemoryBank.recall


def dying_add(bank, life, items, **left):
    life.die("before write")
    written = real_add(bank, items, **left)
    life.die("after write")
    return written


def dying_recall(bank, life, *asked, **question):
    life.die("retrieve")
    return real_recall(bank, *asked, **question)


def two_lives(folder, where):
    folder.mkdir()
    killed = fork(Life(folder, where, first=True).run).said() is None
    return {"killed": killed, **fork(Life(folder, where, first=False).run).said()}


if __name__ == "__main__":
    print(json.dumps({where: two_lives(Path(sys.argv[1]) / where, where) for where in POINTS}))
