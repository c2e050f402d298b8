"""Kills a process after each SQL statement of a write to a store of LangGraph's own, and lets a new one do it again.

Usage: python -m tests.any_store_crash_child KIND FOLDER [URL]     KIND is `sqlite` or `postgres`, URL that of a server

Prints JSON by the number of the statement: how much of each kind of row the bank has before and after the second life.
"""

import json
import os
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.records import Episode, Provenance
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.small_bank import lesson

from .dying import fork

SECONDS = 0.05
"""A server has this long to carry out a statement before the process dies."""


class Statements:
    """A cursor that counts what it writes, and ends the process after one of its statements."""

    def __init__(self, cursor, end):
        self.cursor, self.end = cursor, end

    def execute(self, query, params):
        self.cursor.execute(query, params)
        self.end -= 1
        if self.end == 0:
            time.sleep(SECONDS)
            os.kill(os.getpid(), signal.SIGKILL)


def dying(store_class):
    class DyingStore(store_class):
        end = 0

        def batch(self, ops):
            ops = list(ops)
            results = super().batch(ops)
            if any(isinstance(op, PutOp) for op in ops):
                Statements(self.conn.cursor(), self.end).execute("SELECT 1", ())
            return results

        def _batch_put_ops(self, put_ops, cur):
            counted = Statements(cur, self.end)
            super()._batch_put_ops(put_ops, counted)
            self.end = counted.end

    return DyingStore


@contextmanager
def opened(kind, folder, url):
    if kind == "sqlite":
        with dying(SqliteStore).from_conn_string(str(folder / "bank.sqlite")) as store:
            yield store
    else:
        with dying(PostgresStore).from_conn_string(url, index={"dims": 64, "embed": HashEmbeddings()}) as store:
            store.setup()
            yield store


def life(kind, folder, url, end=0):
    """Add two attempts unless they are there, and die after a statement; return what is there before and after each."""
    with opened(kind, folder, url) as store:
        bank, counts = MemoryBank(store, "m"), []
        for dies_at in (0, end):
            counts.append([len(bank.items()), len(bank.episodes()), len(bank.log())])
            store.end = dies_at
            add(bank, "first" if len(counts) == 1 else "second")
        counts.append([len(bank.items()), len(bank.episodes()), len(bank.log())])
        return {"counts": counts, "whole": bank.verify_log().ok}


def add(bank, name):
    source = Provenance(attempt_digest=name)
    fields = {"experience_id": name, "provenance": source}
    solved = Episode(id=f"{name} episode", task=name, solution="so", outcome="success", **fields)
    bank.add([lesson(number, id=f"{name} {number}", **fields) for number in range(3)], episodes=[solved])


def new_place(kind, folder, url, number):
    (place := folder / str(number)).mkdir()
    if kind == "postgres":
        import psycopg

        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE any_store_{number} STRATEGY file_copy")
    return place, url.replace("/postgres?", f"/any_store_{number}?")


def main(kind, folder, url=""):
    found = {}
    for end in range(1, 99):
        place = new_place(kind, folder, url, end)
        if fork(life, kind, *place, end).said() is not None:
            break
        found[end] = fork(life, kind, *place).said()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
