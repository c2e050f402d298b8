"""What all workers of a fleet share: the bank, the checkpoints, the graph, and the claim on a task."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.embeddings import Embeddings
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg import Connection
from psycopg.rows import DictRow, dict_row

from reasoningbank_langgraph import ChromaStore, MemoryBank, default_embeddings
from reasoningbank_langgraph.math_solver import create_math_solver
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.testing import HashEmbeddings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import RunnableConfig

NAMESPACE = ("fleet",)


class Place(NamedTuple):
    """Where a fleet keeps its work."""

    postgres: str
    """URL of the checkpoints' database."""
    chroma: int
    """Port of the bank's server on this machine."""
    run: str
    """Name of the run: its threads and claims begin with it."""
    fake_embeddings: bool = False

    def thread(self, problem: Problem) -> RunnableConfig:
        """The thread of a task: one of its own."""
        return {"configurable": {"thread_id": f"{self.run}/{problem.id}"}}


@contextmanager
def open_connection(url: str) -> Iterator[Connection[DictRow]]:
    """Connect to Postgres as its checkpointer wants it."""
    with Connection.connect(url, autocommit=True, prepare_threshold=0, row_factory=dict_row) as connection:
        yield connection


@contextmanager
def open_bank(place: Place) -> Iterator[ChromaStore]:
    """Open the bank on the server, which may have many writers."""
    embeddings: Embeddings = HashEmbeddings() if place.fake_embeddings else default_embeddings()
    with ChromaStore.from_server(port=place.chroma, embeddings=embeddings) as store:
        yield store


def create_app(chat: BaseChatModel, store: ChromaStore, connection: Connection[DictRow]) -> Any:
    """Return the graph: it works on a task, learns, and keeps each step in Postgres."""
    builder = create_math_solver(chat, namespace=NAMESPACE)
    return builder.compile(checkpointer=PostgresSaver(connection), store=store)


def bank_of(store: ChromaStore) -> MemoryBank:
    """Return the lessons of the fleet."""
    return MemoryBank(store, NAMESPACE)


@contextmanager
def claimed(connection: Connection[DictRow], name: str) -> Iterator[bool]:
    """Claim a name among all sessions of the database; tells whether it was free.

    The claim is a lock of the session, so the server lets go of it when the session ends, however its worker dies.
    It has to be the session the checkpointer writes through: then whatever a killed worker had under way is saved or
    dropped before another one can claim the task.
    """
    row = connection.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0)) AS free", (name,)).fetchone()
    free = bool(row and row["free"])
    try:
        yield free
    finally:
        if free:
            connection.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", (name,))
