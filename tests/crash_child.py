"""Runs two tasks on a bank and a checkpointer on disk; the first time it reaches `where` it kills itself.

Usage: python -m tests.crash_child FOLDER WHERE
"""

import os
import signal
import sqlite3
import sys
from pathlib import Path

from langgraph.checkpoint.sqlite import SqliteSaver

from reasoningbank_langgraph import ChromaStore, MemoryBank, create_reasoning_bank
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel

from .loop_fakes import lessons, verdict

folder, where = Path(sys.argv[1]), sys.argv[2]
flag = folder / "killed"


def die(point):
    if point == where and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def solve(state):
    die("solve")
    return {"answer": "5", "messages": [("ai", f"thinking about {state['task']}")]}


def reply(messages):
    if "You check whether" in messages[0].text:
        die("judge")
        return verdict("failure" if "pears" in messages[1].text else "success")
    die("extract")
    task = "pears" if "pears" in messages[1].text else "apples"
    return lessons(f"count {task} twice", f"sort {task} first", f"name {task}")


def dying_add(self, items, *, cap=5):
    die("before write")
    written = real_add(self, items, cap=cap)
    die("after write")
    return written


real_add, MemoryBank.add = MemoryBank.add, dying_add

with ChromaStore.from_path(folder / "bank", embeddings=HashEmbeddings()) as store:
    connection = sqlite3.connect(folder / "threads.sqlite", check_same_thread=False)
    graph = create_reasoning_bank(solve, model=ScriptedChatModel(reply)).compile(
        checkpointer=SqliteSaver(connection), store=store
    )
    if flag.exists():
        print("before:", *[item.id for item in MemoryBank(store, "reasoningbank").items()])
    for thread, task in [("a", "add the apples"), ("b", "add the pears")]:
        config = {"configurable": {"thread_id": thread}}
        state = graph.get_state(config)
        if not state.values or state.next:
            graph.invoke(None if state.next else {"task": task}, config, durability="sync")
    items = MemoryBank(store, "reasoningbank").items()
    written = [
        name for thread in "ab" for name in graph.get_state({"configurable": {"thread_id": thread}}).values["written"]
    ]
    assert [item.id for item in items] == written
    print("after:", *written)
    for item in items:
        print("item:", item.outcome, item.task, "|", item.title, "|", item.content)
    connection.close()
