"""Kills a walk over old threads at every step, and lets a new process go on with it.

Usage: python -m tests.threads_crash_child FOLDER

Prints JSON: by the name of each step what is in the bank when the process has died there and after a second life, and
which attempts each life has judged.
"""

import json
import sys
from pathlib import Path

from langgraph.checkpoint.sqlite import SqliteSaver

from reasoningbank_langgraph import MemoryBank, learn_from_threads
from reasoningbank_langgraph.testing import HashEmbeddings

from .dying import DyingStore, lives, steps
from .learn.past import NAMESPACE, ask, chat, said, teacher

TASKS = {"t0": ["add the apples", "add the pears"], "t1": ["add the plums"], "t2": ["add the cherries"]}
ALL = [task for tasks in TASKS.values() for task in tasks]


def fill(threads):
    """Leave threads of a graph that does not know this package."""
    with SqliteSaver.from_conn_string(threads) as saver:
        for thread, tasks in TASKS.items():
            ask(chat(checkpointer=saver), *tasks, thread=thread)


def life(folder, work, end=None):
    """Learn what is left, or die on the way; says the steps and what is there before and after it."""
    threads, asked = str(folder / "threads.sqlite"), []
    if work == "fill":
        return fill(threads)
    model = teacher()
    reply = model.script

    def dying_reply(messages):
        steps.come("call")
        if "You check whether" in messages[0].text:
            asked.append(next(task for task in ALL if task in said(messages)))
        return reply(messages)

    model.script = dying_reply
    with (
        SqliteSaver.from_conn_string(threads) as saver,
        DyingStore.from_path(folder / "bank", embeddings=HashEmbeddings()) as store,
    ):
        found = left(store)
        steps.begin(end)
        learn_from_threads(None, model=model, checkpointer=saver, store=store, namespace=NAMESPACE)
        return {"steps": steps.names, "asked": asked, "found": found, "left": left(store)}


def left(store):
    bank = MemoryBank(store, ("math", "ann"))
    items = bank.items()
    return {
        "tasks": [item.task for item in items],
        "ids": [item.id for item in items],
        "episodes": [episode.task for episode in bank.episodes()],
        "ok": store.verify().ok,
    }


if __name__ == "__main__":
    print(json.dumps(lives(life, Path(sys.argv[1]), "fill", "learn")["points"]))
