"""The kinds of stores that `test_any_store` and `test_sql_stores` try, and what their tests share."""

from contextlib import asynccontextmanager, contextmanager

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from reasoningbank_langgraph import ChromaStore, MemoryItem, create_reasoning_bank
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.loop_fakes import learner
from tests.postgres import require_pgvector
from tests.store.test_langgraph_stores import VECTORS

UNRANKED = ("sqlite",)


def one_kind(name, *marks):
    """A kind of store, whose tests run one after another in one process, so that it is opened once."""
    return pytest.param(name, marks=[pytest.mark.xdist_group(f"any store: {name}"), *marks])


KINDS = [
    one_kind("memory"),
    one_kind("sqlite"),
    one_kind("sqlite with vectors", pytest.mark.skipif(not VECTORS, reason="its sqlite3 loads no extensions")),
    one_kind("postgres", pytest.mark.slow),
    one_kind("chroma"),
    one_kind("chroma server", pytest.mark.slow, pytest.mark.network),
]


@contextmanager
def opened(name, request, folder):
    index = {"dims": 64, "embed": HashEmbeddings()}
    if name == "memory":
        yield InMemoryStore(index=index)
    elif name.startswith("sqlite"):
        settings = {} if name in UNRANKED else {"index": index}
        with SqliteStore.from_conn_string(str(folder / "store.sqlite"), **settings) as store:
            yield store
    elif name == "chroma":
        with ChromaStore.from_path(folder / "bank", embeddings=HashEmbeddings()) as store:
            yield store
    elif name == "chroma server":
        port = request.getfixturevalue("server_port")
        with ChromaStore.from_server(port=port, embeddings=HashEmbeddings(), collection="any-store") as store:
            yield store
    else:
        from langgraph.store.postgres import PostgresStore

        url = request.getfixturevalue("postgres")
        require_pgvector(url)
        with PostgresStore.from_conn_string(url, index=index) as store:
            store.setup()
            yield store


@asynccontextmanager
async def opened_asynchronously(name, request, folder):
    if name == "sqlite":
        from langgraph.store.sqlite.aio import AsyncSqliteStore

        async with AsyncSqliteStore.from_conn_string(str(folder / "store.sqlite")) as store:
            await store.setup()
            yield store
    else:
        from langgraph.store.postgres import AsyncPostgresStore

        url = request.getfixturevalue("database")
        require_pgvector(url)
        index = {"dims": 64, "embed": HashEmbeddings()}
        async with AsyncPostgresStore.from_conn_string(url, index=index) as store:
            await store.setup()
            yield store


def solve(state):
    return {"answer": f"the answer to {state['task']}", "messages": [("ai", f"I think about {state['task']}")]}


def build(place, **settings):
    return create_reasoning_bank(solve, model=learner(), namespace=place, **settings)


def app(store, place, **settings):
    return build(place, **settings).compile(checkpointer=InMemorySaver(), store=store)


def thread(name="t"):
    return {"configurable": {"thread_id": name}}


def lesson(name, task, **fields):
    texts = {"title": f"title {name}", "description": f"when {name}", "content": f"do {name}"}
    return MemoryItem(**{"id": name, **texts, "outcome": "success", "task": task, **fields})


def ids(records):
    return [record.id for record in records]
