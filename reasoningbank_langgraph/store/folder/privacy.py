"""A bank's folder and files are for their owner alone: 0700 and 0600, also where they existed before.

Only what is the bank's is ever changed. A folder with other things in it may be a home or a project that others have
to reach, so a new bank is made there only if the folder is private already.
"""

from __future__ import annotations

import logging
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from reasoningbank_langgraph.errors import StorePathError
from reasoningbank_langgraph.store.cache.saved_prefixes import LIST, prefix_files
from reasoningbank_langgraph.store.chroma_files import DATABASE_FILE, DATABASE_FILES, index_folders
from reasoningbank_langgraph.store.folder.lock import LOCK_FILE

FILES = frozenset({LOCK_FILE, LIST, *DATABASE_FILES})
OTHERS = stat.S_IRWXG | stat.S_IRWXO

logger = logging.getLogger(__name__)


def make_private(path: object, folder: Path) -> None:
    """Remove the rights of all others from the folder of a bank.

    Args:
        path: the folder as the user named it.
        folder: the same, resolved.

    Raises:
        StorePathError: others have rights to it that cannot be removed, and there is no bank in it yet.
    """
    mode = stat.S_IMODE(folder.stat().st_mode)
    if not mode & OTHERS:
        return
    problem = _close_to_others(folder, mode)
    if problem is None:
        return
    if not (folder / DATABASE_FILE).is_file():
        name = "a folder inside it, which will be made for the bank alone"
        raise StorePathError(path, f"others may use it (mode {mode:04o}) and {problem}: name {name}")
    logger.warning(
        "the bank in %s may be used by others (mode %04o) and %s: move it, chmod 0700", folder, mode, problem
    )


def make_files_private(folder: Path) -> None:
    """Remove the rights of all others from a bank's files, as far as they are this user's."""
    for path in _bank_files(folder):
        with suppress(OSError):
            status = path.lstat()
            if status.st_mode & OTHERS and not stat.S_ISLNK(status.st_mode):
                path.chmod(stat.S_IMODE(status.st_mode) & ~OTHERS)


def _close_to_others(folder: Path, mode: int) -> str | None:
    """Remove the rights of others from a folder that is the bank's alone; returns what prevents that."""
    own = {path.name for path in _bank_files(folder)}
    foreign = sorted(path.name for path in folder.iterdir() if path.name not in own)
    if foreign:
        return f"it holds what is not the bank's ({', '.join(foreign[:3])})"
    try:
        folder.chmod(mode & ~OTHERS)
    except PermissionError:
        return "it belongs to another user"
    return None


def _bank_files(folder: Path) -> Iterator[Path]:
    yield from (folder / name for name in FILES)
    yield from prefix_files(folder)
    for index in index_folders(folder):
        yield index
        yield from index.iterdir()
