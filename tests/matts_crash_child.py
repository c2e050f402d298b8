"""Runs MaTTS on a bank and a checkpointer on disk; the first time it reaches `where` it kills itself.

Usage: python -m tests.matts_crash_child FOLDER WHERE
"""

import os
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite import SqliteSaver

from reasoningbank_langgraph import ChromaStore, MemoryBank, Verdict, create_matts
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel

from .loop_fakes import lessons

folder, where = Path(sys.argv[1]), sys.argv[2]
flag, threads = folder / "killed", folder / "threads.sqlite"


def die(point):
    if point == where and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def note(text):
    with (folder / "calls").open("a", encoding="utf-8") as calls:
        calls.write(f"{text}\n")


def until_on_disk(count):
    """Wait until that many rollouts are checkpointed: a rollout that is only in memory is rightly repeated."""
    query = "select count(*) from writes where channel = 'rollouts'"
    for _ in range(6000):
        with closing(sqlite3.connect(threads)) as reader:
            if reader.execute(query).fetchone()[0] >= count:
                return
        time.sleep(0.01)
    raise TimeoutError(f"{count} rollouts are not on disk after a minute")


def solve(state, config: RunnableConfig):
    number = config["configurable"]["rollout"]
    if number == 2 and where in ("solve", "judge") and not flag.exists():
        until_on_disk(2)
    if number == 2:
        die("solve")
    note(f"solve {number}")
    return {"answer": "4" if number else "5"}


def judge(attempt):
    if attempt.answer == "4" and "solve 2" in (folder / "calls").read_text(encoding="utf-8"):
        die("judge")
    return Verdict(status="success" if attempt.answer == "4" else "failure", judge="tests", confidence=0.5)


def reply(messages):
    die("extract")
    return lessons("count twice", "sort first", "name the unit")


def dying_add(self, items, *, cap=5):
    die("before write")
    written = real_add(self, items, cap=cap)
    die("after write")
    return written


real_add, MemoryBank.add = MemoryBank.add, dying_add

with ChromaStore.from_path(folder / "bank", embeddings=HashEmbeddings()) as store:
    connection = sqlite3.connect(threads, check_same_thread=False)
    built = create_matts(solve, model=ScriptedChatModel(reply), judge=judge, verifiers=["tests"], k=3)
    graph = built.compile(checkpointer=SqliteSaver(connection), store=store)
    config = {"configurable": {"thread_id": "a"}}
    if flag.exists():
        print("before:", *[item.id for item in MemoryBank(store, "reasoningbank").items()])
    going = graph.get_state(config).tasks
    result = graph.invoke(None if going else {"task": "add the apples"}, config, durability="sync")
    items = MemoryBank(store, "reasoningbank").items()
    assert [item.id for item in items] == result["written"]
    print("after:", *result["written"])
    print("experiences:", len({item.experience_id for item in items}))
    print("answer:", result["answer"], result["selection"]["number"])
    connection.close()
