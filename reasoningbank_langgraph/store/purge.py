"""The program that works on a bank's database beside the client that has it open. Run as a file, never imported.

SQLite keeps its users apart with locks of the process. Chroma brings a copy of SQLite of its own, and two copies in one
process do not see each other's locks, so what Python's copy does has to be done in another process.

Usage: purge.py DATABASE list|purge; prints the ids of the index folders in use, as JSON.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing

WAIT = 60.0
"""Seconds to wait for a writer to finish."""
UNOWNED = (
    # The first four are what a crash in the middle of deleting a collection may leave.
    "DELETE FROM embeddings_queue WHERE substr(topic, -36) NOT IN (SELECT id FROM collections)",
    "DELETE FROM embeddings WHERE segment_id NOT IN (SELECT id FROM segments)",
    "DELETE FROM embedding_metadata WHERE id NOT IN (SELECT id FROM embeddings)",
    "DELETE FROM embedding_metadata_array WHERE id NOT IN (SELECT id FROM embeddings)",
    "DELETE FROM embedding_fulltext_search WHERE rowid NOT IN (SELECT id FROM embeddings)",
    # A deleted text stays readable in the full-text index until its parts are merged; this makes the index anew.
    "INSERT INTO embedding_fulltext_search (embedding_fulltext_search) VALUES ('rebuild')",
)


def main(database: str, task: str) -> None:
    """Do the task and print the ids of the segments."""
    with closing(sqlite3.connect(database, timeout=WAIT, isolation_level=None)) as connection:
        if task == "purge":
            purge(connection)
        sys.stdout.write(json.dumps([row[0] for row in connection.execute("SELECT id FROM segments")]))


def purge(connection: sqlite3.Connection) -> None:
    """Remove what no collection owns, and write the file anew without its free pages."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in UNOWNED:
        connection.execute(statement)
    connection.execute("COMMIT")
    connection.execute("VACUUM")


if __name__ == "__main__":
    main(*sys.argv[1:])
