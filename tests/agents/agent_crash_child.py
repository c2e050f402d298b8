"""Kills an agent at every step of a turn that leaves something on disk, and lets a new process go on with it.

python -m tests.agents.agent_crash_child FOLDER
"""

import json
import os
import signal
import sys
from pathlib import Path

from langchain.agents import create_agent
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.base import PutOp

from reasoningbank_langgraph import ChromaStore, MemoryBank, ReasoningBankMiddleware
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel, ScriptedToolModel
from tests.dying import fork
from tests.loop_fakes import lessons, verdict

POINTS = ["model", "judge", "extract", "before the write", "after the write", "before the result"]
CONFIG = {"configurable": {"thread_id": "t"}}


class Life:
    """One process's part of the turn."""

    def __init__(self, point):
        self.point, self.asked = point, 0

    def may_end(self, point):
        if point == self.point:
            os.kill(os.getpid(), signal.SIGKILL)

    def learn(self, messages):
        self.asked += 1
        judging = "You check whether" in messages[0].text
        self.may_end("judge" if judging else "extract")
        return verdict() if judging else lessons("first", "second", way=os.getpid())

    def answer(self, messages):
        self.may_end("model")
        return "3 m"

    def go_on(self, folder):
        life = self

        class Dying(ChromaStore):
            def batch(self, ops):
                ops = list(ops)
                writes = any(isinstance(op, PutOp) for op in ops)
                if writes:
                    life.may_end("before the write")
                results = super().batch(ops)
                if writes:
                    life.may_end("after the write")
                return results

        class DyingSaver(SqliteSaver):
            def put_writes(self, config, writes, task_id, task_path=""):
                if "after_agent" in task_path:
                    life.may_end("before the result")
                super().put_writes(config, writes, task_id, task_path)

        with (
            Dying.from_path(folder / "bank", embeddings=HashEmbeddings()) as store,
            DyingSaver.from_conn_string(str(folder / "threads.sqlite")) as saver,
        ):
            bank, memory = (
                MemoryBank(store, "agents"),
                ReasoningBankMiddleware(model=ScriptedChatModel(self.learn), namespace="agents"),
            )
            before = [item.id for item in bank.items()]
            app = create_agent(ScriptedToolModel(self.answer), middleware=[memory], store=store, checkpointer=saver)
            given = None if app.get_state(CONFIG).tasks else {"messages": [("user", "How long is this table?")]}
            app.invoke(given, CONFIG, durability="sync")
            items = bank.items()
            return {
                "before": before,
                "ids": [item.id for item in items],
                "titles": [item.title for item in items],
                "written": app.get_state(CONFIG).values["written"],
                "episodes": len(bank.episodes()),
                "asked": self.asked,
            }


def two_lives(folder, point):
    folder.mkdir()
    killed = fork(Life(point).go_on, folder).said() is None
    return {"killed": killed, **fork(Life(None).go_on, folder).said()}


if __name__ == "__main__":
    print(json.dumps({point: two_lives(Path(sys.argv[1]) / str(n), point) for n, point in enumerate(POINTS)}))
