"""What Chroma leaves in the folder of a bank: index folders nobody uses, and texts that were deleted."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Literal
from uuid import UUID

from reasoningbank_langgraph.errors import StoreError
from reasoningbank_langgraph.store.folder.lock import DATABASE_FILE

_PROGRAM = Path(__file__).with_name("purge.py")
HEADER, VECTORS, LENGTHS = "header.bin", "data_level0.bin", "length.bin"
INDEX_FILES = {HEADER, VECTORS, LENGTHS, "link_lists.bin", "index_metadata.pickle"}
_LENGTH_BYTES = 4
_HEADER_FIELDS = struct.Struct("<i6Q")
_HEADER_VERSION = 1


def remove_unused_indexes(folder: Path) -> None:
    """Remove index folders that no collection uses; Chroma leaves them when a collection is deleted.

    Raises:
        StoreError: the database could not be read.
    """
    _remove(folder, "list")


def purge(folder: Path) -> None:
    """Remove every trace of deleted rows from the files of a bank. Waits for, and keeps out, all other users.

    Raises:
        StoreError: the database could not be written anew, for example on a full disk; the bank is whole.
    """
    for index in _remove(folder, "purge"):
        if not blank_unused(index):
            raise StoreError(f"{index} has a layout this version does not know: texts may be left in it")


def blank_unused(index: Path) -> bool:
    """Overwrite what belongs to no vector in the files of an index with zeros; say whether their layout is known.

    Chroma reserves room for vectors and writes it out as it is: with whatever the process had in that memory before.
    """
    header, vectors, lengths = index / HEADER, index / VECTORS, index / LENGTHS
    if not (header.exists() and vectors.exists() and lengths.exists()):
        return not any(index.iterdir())
    start = header.read_bytes()[: _HEADER_FIELDS.size]
    if len(start) < _HEADER_FIELDS.size:
        return False
    version, _, _, count, size, _, _ = _HEADER_FIELDS.unpack(start)
    if version != _HEADER_VERSION or count * size > vectors.stat().st_size:
        return False
    _blank(vectors, count * size)
    _blank(lengths, count * _LENGTH_BYTES)
    return True


def _blank(path: Path, start: int) -> None:
    length = path.stat().st_size
    if start < length:
        with path.open("r+b") as file:
            file.seek(start)
            file.write(bytes(length - start))


def blank_indexes(folder: Path) -> None:
    """Blank the unused part of every index in a folder that no client has open, as far as the disk lets it."""
    with suppress(OSError):
        for index in index_folders(folder):
            blank_unused(index)


def index_folders(folder: Path) -> list[Path]:
    """Return the folders that hold an index of Chroma's and nothing else."""
    return [path for path in folder.iterdir() if _is_index(path)]


def _remove(folder: Path, task: Literal["list", "purge"]) -> list[Path]:
    found = index_folders(folder)  # before the database is asked: what is made later is not in this list
    used = _asked(folder / DATABASE_FILE, task)
    for path in found:
        if path.name not in used:
            shutil.rmtree(path)
    return [path for path in found if path.name in used]


def _asked(database: Path, task: str) -> set[str]:
    command = [sys.executable, "-I", str(_PROGRAM), str(database), task]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own file
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise StoreError(f"{database} could not be cleaned: {said[-1] if said else f'exit code {done.returncode}'}")
    return set(json.loads(done.stdout))


def _is_index(path: Path) -> bool:
    try:
        UUID(path.name)
    except ValueError:
        return False
    return path.is_dir() and not path.is_symlink() and {file.name for file in path.iterdir()} <= INDEX_FILES
