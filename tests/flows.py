"""What the tests of exactly-once share: real checkpointers, nodes that fail, a model that never says the same twice."""

from collections import Counter
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest
from langchain_core.runnables import Runnable
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel

from .loop_fakes import indexed_memory, lessons, verdict

CONFIG = {"configurable": {"thread_id": "t"}}
NODES = ["retrieve", "solve", "judge", "extract", "consolidate"]
TASKS = ["add the apples", "add the pears", "add the plums"]
VARIANTS = [("count twice", "sort first", "name the unit"), ("draw a picture", "check the sum"), ("estimate first",)]
"""Titles of the lessons of the first, second and third attempt at a task."""


class Flow(NamedTuple):
    """A checkpointer and a bank, and the way of calling a graph that goes with them."""

    saver: BaseCheckpointSaver
    store: BaseStore
    is_async: bool = False

    def compile(self, builder, **options):
        return builder.compile(checkpointer=self.saver, store=self.store, **options)

    async def run(self, graph, given, config=CONFIG):
        if self.is_async:
            return await graph.ainvoke(given, config, durability="sync")
        return graph.invoke(given, config, durability="sync")

    async def state(self, graph, config=CONFIG, **options):
        return await graph.aget_state(config, **options) if self.is_async else graph.get_state(config, **options)

    async def history(self, graph, config=CONFIG):
        if self.is_async:
            return [state async for state in graph.aget_state_history(config)]
        return list(graph.get_state_history(config))

    async def update(self, graph, config, values, **options):
        if self.is_async:
            return await graph.aupdate_state(config, values, **options)
        return graph.update_state(config, values, **options)

    async def items(self):
        bank = MemoryBank(self.store, "reasoningbank")
        return await bank.aitems() if self.is_async else bank.items()

    async def ids(self):
        return [item.id for item in await self.items()]


@asynccontextmanager
async def open_flow(kind, folder, database):
    """A flow of this kind, with an embedded Chroma on disk. `database` is called for the URL of a Postgres database."""
    with ChromaStore.from_path(folder / "bank", embeddings=HashEmbeddings()) as store:
        if kind == "sqlite":
            from langgraph.checkpoint.sqlite import SqliteSaver

            with SqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as saver:
                yield Flow(saver, store)
        elif kind == "sqlite async":
            from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

            async with AsyncSqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as saver:
                yield Flow(saver, store, is_async=True)
        elif kind == "postgres":
            from langgraph.checkpoint.postgres import PostgresSaver

            with PostgresSaver.from_conn_string(database()) as saver:
                saver.setup()
                yield Flow(saver, store)
        else:
            async with pooled(database()) as saver:
                yield Flow(saver, store, is_async=True)


@asynccontextmanager
async def pooled(url):
    """A pool, as psycopg closes a connection whose query is cancelled: LangGraph cancels the siblings of what fails."""
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg.rows import dict_row
    from psycopg_pool import AsyncConnectionPool

    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(url, kwargs=settings, min_size=1, max_size=4) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        yield saver


KINDS = [
    "sqlite",
    *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("sqlite async", "postgres", "postgres async")),
]


def calm_flow():
    """A flow in memory, for the undisturbed run that the disturbed one is compared with."""
    return Flow(InMemorySaver(), indexed_memory())


def solve(state):
    return {"answer": f"the answer to {state['task']}", "messages": [("ai", f"thinking about {state['task']}")]}


def differing_model(first=None, steady=()):
    """A model whose lessons differ in number and text from attempt to attempt.

    Args:
        first: by task, which of the `VARIANTS` its first attempt gives; 0 if not said.
        steady: tasks whose attempts give all the same.
    """
    attempts = Counter(first or {})

    def reply(messages):
        task = next(task for task in TASKS if task in messages[1].text)
        if "You check whether" in messages[0].text:
            return verdict("failure" if "pears" in task else "success")
        attempts[task] = 1 if task in steady else attempts[task] + 1
        titles = VARIANTS[(attempts[task] - 1) % len(VARIANTS)]
        return lessons(*(f"{title} of {task.split()[-1]}" for title in titles), way=attempts[task])

    return ScriptedChatModel(reply)


class Failing(Runnable):
    """Does what a node does, but fails before its work in the first call and after its work in the second.

    Args:
        node: the node.
        error: what to raise.
        only: fails for tasks with this word, and counts only these.
    """

    def __init__(self, node, error=RuntimeError, only=""):
        self.node, self.error, self.only = node, error, only
        self.name = getattr(node, "name", None)
        self.calls, self.results = 0, []

    def invoke(self, input, config=None, **kwargs):
        if self.only not in input["task"]:
            return self.node.invoke(input, config, **kwargs)
        self._before()
        return self._after(self.node.invoke(input, config, **kwargs))

    async def ainvoke(self, input, config=None, **kwargs):
        if self.only not in input["task"]:
            return await self.node.ainvoke(input, config, **kwargs)
        self._before()
        return self._after(await self.node.ainvoke(input, config, **kwargs))

    def _before(self):
        self.calls += 1
        if self.calls == 1:
            raise self.error("before its work")

    def _after(self, result):
        self.results.append(result)
        if self.calls == 2:
            raise self.error("after its work")
        return result


def make_fail(builder, name, error=RuntimeError, only=""):
    """Let a node of a graph fail twice; returns what counts its calls."""
    node = Failing(builder.nodes[name].runnable, error, only)
    builder.nodes[name].runnable = node
    return node


def told(items):
    """What a bank holds, in order, without what belongs to one run only: ids and times."""
    places = {item.id: place for place, item in enumerate(items)}
    rows = []
    for item in items:
        row = item.model_dump(mode="json", exclude={"id", "experience_id", "created_at", "updated_at"})
        for own in ("checkpoint_ns", "checkpoint_id", "task_id", "run_id", "origin", "line", "after"):
            del row["provenance"][own]
        row["provenance"]["memory_ids_used"] = sorted(places[used] for used in row["provenance"]["memory_ids_used"])
        rows.append(row)
    return rows
