"""What Chroma, a crash or a replaced collection leaves in a bank's folder: unused indexes and deleted texts."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from reasoningbank_langgraph.errors import StoreCorruptedError, StoreError
from reasoningbank_langgraph.store import chroma_files
from reasoningbank_langgraph.store.chroma_files import DATABASE_FILE, blank_unused, index_folders, is_whole
from reasoningbank_langgraph.store.collection import clear_unfinished
from reasoningbank_langgraph.store.connect import folder_of
from reasoningbank_langgraph.store.row_layout import DELETED, removed_with
from reasoningbank_langgraph.store.rows import Rows

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

_PROGRAM = Path(chroma_files.__file__)

logger = logging.getLogger(__name__)


def finish_removals(rows: Rows) -> None:
    """Remove the rows that a writer had to remove when a crash ended it; it was the only one, so others may do it."""
    marks = {mark.id: removed_with(mark) for mark in rows.get(rows.ids({"row": DELETED}), documents=False)}
    gone = {row: token for named in marks.values() for row, token in named.items()}
    left = rows.get(list(gone), documents=False)
    rows.delete([row.id for row in left if row.metadata.get("token") == gone[row.id]])
    rows.delete([mark for mark, named in marks.items() if named])


def clear_leftovers(rows: Rows) -> None:
    """Clean a bank that has no other writer: rows marked deleted, a stopped rebuild, index folders of neither."""
    rows.delete(rows.ids({"row": DELETED}), {"row": DELETED})
    clear_unfinished(rows.client, rows.name)
    folder = folder_of(rows.client)
    # The one folder of an ordinary bank is its own, and asking the database takes a process.
    if folder is not None and len(index_folders(folder)) > 1:
        _remove_unused(folder)


def remove_old_index(client: ClientAPI) -> None:
    """Remove the index folder of a collection that another one has replaced; a server's files are left to it."""
    folder = folder_of(client)
    if folder is not None:
        _remove_unused(folder)


def purge(folder: Path) -> None:
    """Remove every trace of deleted rows from the files of a bank. Waits for, and keeps out, all other users.

    Raises:
        StoreError: the database could not be written anew, for example on a full disk; the bank is whole.
    """
    for index in _remove(folder, "purge"):
        if not blank_unused(index):
            raise StoreError(f"{index} has a layout this version does not know: texts may be left in it")


def blank_indexes(folder: Path) -> None:
    """Blank the unused part of every index in a folder that no client has open, as far as the disk allows it."""
    with suppress(OSError):
        for index in index_folders(folder):
            blank_unused(index)


def torn_indexes(folder: Path) -> list[Path]:
    """Return the indexes whose saving was cut off."""
    return [index for index in index_folders(folder) if not is_whole(index)]


def refuse_torn_indexes(folder: Path) -> None:
    """Raise `StoreCorruptedError` if the saving of an index was cut off: a new one takes the bank's embedder."""
    if torn_indexes(folder):
        raise StoreCorruptedError(
            f"the index of the bank in {str(folder)!r} was not saved to its end: open the bank once with "
            "ChromaStore.from_path and its embedder, which makes the index anew (with the packaged embedder: "
            "`reasoningbank bank rebuild --bank ...`)"
        )


def remove_torn_indexes(folder: Path) -> bool:
    """Remove the indexes whose saving was cut off; say whether there were any: then the bank needs a new one."""
    torn = torn_indexes(folder)
    for index in torn:
        logger.warning("the index in %s was not saved to its end: the bank gets a new one, from its documents", index)
        shutil.rmtree(index)
    return bool(torn)


def _remove_unused(folder: Path) -> None:
    try:
        _remove(folder, "list")
    except (OSError, StoreError) as error:
        # They only take room, and the next opening tries again: no reason to refuse a bank that is whole.
        logger.warning("index folders that nothing uses stay in %s: %s", folder, error)


def _remove(folder: Path, task: Literal["list", "purge"]) -> list[Path]:
    """Remove the index folders that no collection uses; Chroma leaves them when a collection is deleted."""
    found = index_folders(folder)  # before the database is asked: what is made later is not in this list
    used = _run_program(folder / DATABASE_FILE, task)
    for path in found:
        if path.name not in used:
            shutil.rmtree(path)
    return [path for path in found if path.name in used]


def _run_program(database: Path, task: str) -> set[str]:
    command = [sys.executable, "-I", str(_PROGRAM), str(database), task]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own file
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        reason = lines[-1] if lines else f"exit code {done.returncode}"
        raise StoreError(f"{database} could not be cleaned: {reason}")
    return set(json.loads(done.stdout))
