"""What is known of Chroma's private files: the tables of its database, and the folders and files of its indexes.

Chroma documents none of this. It was checked with Chroma 1.5.2, the oldest version that is allowed, and with 1.5.9, the
version that the tests run with. What has another layout is left alone.

A folder holds one SQLite database and, for each collection, a folder named by a UUID: the index of its vectors. Chroma
saves an index after every thousand rows by writing its files in place, one after the other: header, vectors, lengths,
links, and the pickle that says which row is which. It reserves room for vectors and writes that room out as it is, with
whatever the process had in that memory before.

This file is also the program that works on a database while a client has it open, and so imports only what comes with
Python. SQLite separates its users by locks of the process. Chroma brings its own copy of SQLite, and two copies in one
process do not see each other's locks, so what Python's copy does has to be done in another process.

Usage: chroma_files.py DATABASE list|purge; prints the ids of the index folders in use, as JSON.
"""

from __future__ import annotations

import hashlib
import json
import pickletools
import sqlite3
import struct
import sys
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

DATABASE_FILE = "chroma.sqlite3"
DATABASE_FILES = (DATABASE_FILE, *(f"{DATABASE_FILE}-{part}" for part in ("journal", "wal", "shm")))
"""The database and what SQLite may keep beside it."""
HEADER, VECTORS, LENGTHS = "header.bin", "data_level0.bin", "length.bin"
LINKS, NAMES = "link_lists.bin", "index_metadata.pickle"
INDEX_FILES = {HEADER, VECTORS, LENGTHS, LINKS, NAMES}

WAIT = 60.0
"""Seconds to wait for a writer to finish."""

State = list[str | int | None]

_HEADER = struct.Struct("<i6Q")
_HEADER_VERSION = 1
_LENGTH_BYTES = 4

_COLLECTION = "SELECT id FROM collections WHERE name = ?"
_METADATA = "SELECT key, str_value FROM collection_metadata WHERE collection_id = ?"
_APPLIED = "SELECT max(m.seq_id) FROM max_seq_id m JOIN segments s ON s.id = m.segment_id WHERE s.collection = ?"
_LAST = "SELECT seq_id, operation, topic, id, metadata FROM embeddings_queue ORDER BY seq_id DESC LIMIT 1"
_ROWS = "SELECT count(*) FROM embeddings e JOIN segments s ON s.id = e.segment_id WHERE s.collection = ?"
_SEGMENTS = "SELECT id FROM segments"
_UNOWNED = (
    # All but the last remove what a crash in the middle of deleting a collection may leave.
    "DELETE FROM embeddings_queue WHERE substr(topic, -36) NOT IN (SELECT id FROM collections)",
    "DELETE FROM embeddings WHERE segment_id NOT IN (SELECT id FROM segments)",
    "DELETE FROM embedding_metadata WHERE id NOT IN (SELECT id FROM embeddings)",
    "DELETE FROM embedding_metadata_array WHERE id NOT IN (SELECT id FROM embeddings)",
    "DELETE FROM embedding_fulltext_search WHERE rowid NOT IN (SELECT id FROM embeddings)",
    # A deleted text stays readable in the full-text index until its parts are merged; this makes the index anew.
    "INSERT INTO embedding_fulltext_search (embedding_fulltext_search) VALUES ('rebuild')",
)


class _Header(NamedTuple):
    """What the header of an index says."""

    version: int
    vectors: int
    vector_bytes: int


def read_state(folder: Path, collection: str) -> State | None:
    """Return what changes with every write: the collection, the number and a digest of the last write, rows and files.

    Every write of a store carries a token drawn for it, so two histories of equal length differ as well. To be called
    where no client has the folder open.

    Returns:
        None where it cannot be known: no such database or collection, one that a kill left half-written, or no access.
    """
    try:
        with closing(sqlite3.connect(f"{(folder / DATABASE_FILE).as_uri()}?mode=ro", uri=True)) as connection:
            ids = connection.execute(_COLLECTION, [collection]).fetchall()
            if len(ids) != 1:
                return None
            applied, rows = (connection.execute(query, ids[0]).fetchone()[0] for query in (_APPLIED, _ROWS))
            last = json.dumps(connection.execute(_LAST).fetchone())
        files = sorted(path for index in index_folders(folder) for path in index.iterdir())
        sizes = [f"{path.relative_to(folder)} {path.stat().st_size}" for path in files]
    except (sqlite3.Error, TypeError, OSError):
        return None
    return [ids[0][0], applied, rows, hashlib.sha256(last.encode()).hexdigest(), *sizes]


def read_metadata(folder: Path, collection: str) -> dict[str, str | None] | None:
    """Return the texts that the metadata of a collection holds, where no client has the folder open.

    A database that a kill left in the middle of a write is taken back to before it, as Chroma would do.

    Returns:
        None if there is no such collection or no database that can be read.
    """
    try:
        with closing(sqlite3.connect(f"{(folder / DATABASE_FILE).as_uri()}?mode=rw", uri=True)) as connection:
            ids = connection.execute(_COLLECTION, [collection]).fetchall()
            return dict(connection.execute(_METADATA, ids[0]).fetchall()) if len(ids) == 1 else None
    except sqlite3.Error:
        return None


def index_folders(folder: Path) -> list[Path]:
    """Return the folders that hold an index of Chroma's and nothing else."""
    return [path for path in folder.iterdir() if _is_index(path)]


def is_whole(index: Path) -> bool:
    """Say whether an index was saved to its end: then its files give the same number of rows five times.

    Chroma cannot read another one, crashes on it, or fills the disk from it. An index that was never saved has no
    files, or files that hold nothing.
    """
    if not any(index.iterdir()):
        return True
    try:
        _, count, size = _header(index)
        if count == 0 and not (index / NAMES).exists():
            return True
        sizes = ((index / VECTORS).stat().st_size, (index / LENGTHS).stat().st_size)
        return (
            sizes == (count * size, count * _LENGTH_BYTES)
            and _links_fit((index / LINKS).read_bytes(), count)
            and _named((index / NAMES).read_bytes()) == count
        )
    except (OSError, ValueError, struct.error):
        return False


def blank_unused(index: Path) -> bool:
    """Overwrite what belongs to no vector in the files of an index with zeros; say whether their layout is known."""
    vectors, lengths = index / VECTORS, index / LENGTHS
    if not ((index / HEADER).exists() and vectors.exists() and lengths.exists()):
        return not any(index.iterdir())
    try:
        version, count, size = _header(index)
    except struct.error:
        return False
    if version != _HEADER_VERSION or count * size > vectors.stat().st_size:
        return False
    _blank(vectors, count * size)
    _blank(lengths, count * _LENGTH_BYTES)
    return True


def main(database: str, task: str) -> None:
    """Do the task and print the ids of the segments, which are the names of the index folders in use."""
    with closing(sqlite3.connect(database, timeout=WAIT, isolation_level=None)) as connection:
        if task == "purge":
            _purge(connection)
        sys.stdout.write(json.dumps([row[0] for row in connection.execute(_SEGMENTS)]))


def _purge(connection: sqlite3.Connection) -> None:
    """Remove what no collection owns, and write the file anew without its free pages."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in _UNOWNED:
        connection.execute(statement)
    connection.execute("COMMIT")
    connection.execute("VACUUM")


def _is_index(path: Path) -> bool:
    try:
        UUID(path.name)
    except ValueError:
        return False
    return path.is_dir() and not path.is_symlink() and {file.name for file in path.iterdir()} <= INDEX_FILES


def _header(index: Path) -> _Header:
    version, _, _, count, size, _, _ = _HEADER.unpack((index / HEADER).read_bytes()[: _HEADER.size])
    return _Header(version, count, size)


def _links_fit(links: bytes, count: int) -> bool:
    at = 0
    for _ in range(count):
        if at + _LENGTH_BYTES > len(links):
            return False
        at += _LENGTH_BYTES + int.from_bytes(links[at : at + _LENGTH_BYTES], "little")
    return at == len(links)


def _named(names: bytes) -> int | None:
    """Return the number of rows a pickle says there are, without unpickling it."""
    count = None
    expected = False
    for code, argument, _ in pickletools.genops(names):
        if expected and "INT" in code.name:
            count, expected = argument, False
        expected = expected or argument == "total_elements_added"
    return count


def _blank(path: Path, start: int) -> None:
    length = path.stat().st_size
    if start < length:
        with path.open("r+b") as file:
            file.seek(start)
            file.write(bytes(length - start))


if __name__ == "__main__":
    main(*sys.argv[1:])
