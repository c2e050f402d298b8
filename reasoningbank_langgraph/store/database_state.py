"""What a bank's database says about its last change, so that a file made of its rows can be told from a stale one.

Run as a program where a client has the database open, for the reason that `purge.py` gives; imported where none has.

Usage: database_state.py DATABASE COLLECTION; prints the state as JSON.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

State = list[str | int | None]

_COLLECTION = "SELECT id FROM collections WHERE name = ?"
_APPLIED = "SELECT max(m.seq_id) FROM max_seq_id m JOIN segments s ON s.id = m.segment_id WHERE s.collection = ?"
_LAST = "SELECT seq_id, operation, topic, id, metadata FROM embeddings_queue ORDER BY seq_id DESC LIMIT 1"
_ROWS = "SELECT count(*) FROM embeddings e JOIN segments s ON s.id = e.segment_id WHERE s.collection = ?"


def read_state(database: Path, collection: str) -> State | None:
    """Return what changes with every write: the collection, the number and a digest of the last write, the rows.

    Every write of a store carries a token drawn for it, so two histories of equal length differ here as well.

    Returns:
        None where it cannot be known: no such database or collection, or one that a kill left half-written.
    """
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            ids = connection.execute(_COLLECTION, [collection]).fetchall()
            if len(ids) != 1:
                return None
            applied, rows = (connection.execute(query, ids[0]).fetchone()[0] for query in (_APPLIED, _ROWS))
            last = json.dumps(connection.execute(_LAST).fetchone())
            return [ids[0][0], applied, rows, hashlib.sha256(last.encode()).hexdigest()]
    except (sqlite3.Error, TypeError):
        return None


if __name__ == "__main__":
    sys.stdout.write(json.dumps(read_state(Path(sys.argv[1]), sys.argv[2])))
