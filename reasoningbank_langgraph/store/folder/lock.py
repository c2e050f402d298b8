"""The folder of an embedded bank and the lock that keeps it to one writer.

Two Chroma clients that write to one folder lose vectors without an error, so the lock comes before Chroma starts.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from weakref import WeakSet

from reasoningbank_langgraph.errors import StoreLockedError, StorePathError
from reasoningbank_langgraph.store.chroma_files import DATABASE_FILE

LOCK_FILE = "writer.lock"

_locks: WeakSet[BankLock] = WeakSet()


def prepare_folder(path: str | os.PathLike[str]) -> Path:
    """Return the bank's folder, made with mode 0700 if it does not exist; `~` is the home folder.

    Raises:
        StorePathError: empty, a NUL in it, a file, or not writable. Nothing was changed.
    """
    text = os.fspath(path)
    if not isinstance(text, str) or not text.strip():
        raise StorePathError(path, "it is empty; name a folder")
    try:
        folder = Path(text).expanduser().resolve()
        if folder.exists():
            _check_writable(path, folder)
        else:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # another process may make it at the same moment
    except (OSError, ValueError, RuntimeError) as error:
        raise StorePathError(path, str(error)) from error
    return folder


def _check_writable(path: object, folder: Path) -> None:
    if not folder.is_dir():
        raise StorePathError(path, "it is a file, not a folder")
    for place in (folder, folder / DATABASE_FILE, folder / LOCK_FILE):
        if place.exists() and not os.access(place, os.W_OK):
            raise StorePathError(path, f"{place.name} is read-only for this user")


class BankLock:
    """An advisory lock on a bank's folder, held until `release()` or the end of the process, however it ends.

    Raises:
        StoreLockedError: another store holds it, in this process or another; at once, without waiting. One of this
            process holds it also where its folder was deleted since: Chroma would go on writing to the deleted files.
        StorePathError: the lock file cannot be opened, or the system has no such lock: it is not POSIX.
    """

    def __init__(self, folder: Path) -> None:
        try:
            import fcntl
        except ImportError as error:
            reason = "only POSIX systems have the lock it needs; elsewhere use `from_server`, or Linux under WSL"
            raise StorePathError(folder, reason) from error
        if any(lock.holds(folder) for lock in list(_locks)):
            raise StoreLockedError(folder, f"process {os.getpid()} (this one)")
        self._descriptor: int | None = None
        self._folder = folder
        try:
            descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorePathError(folder, f"its lock file cannot be opened: {error}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = _owner(descriptor)
            os.close(descriptor)
            raise StoreLockedError(folder, owner) from error
        self._descriptor = descriptor
        _locks.add(self)
        with contextlib.suppress(OSError):  # on a full disk others do not learn who holds the lock
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)

    def holds(self, folder: Path) -> bool:
        """Whether this is the lock of that path, released not yet."""
        return self._descriptor is not None and self._folder == folder

    @property
    def is_orphaned(self) -> bool:
        """Whether the folder was deleted since: what stands at its path now is another bank, or nothing."""
        if self._descriptor is None:
            return True
        try:
            there = (self._folder / LOCK_FILE).stat()
        except OSError:
            return True
        return not os.path.samestat(os.fstat(self._descriptor), there)

    def release(self) -> None:
        """Let others write. Does nothing the second time."""
        import fcntl

        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        with contextlib.suppress(OSError):
            # A program started meanwhile may share the lock: unlocking, unlike closing, frees it for both.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def abandon(self) -> None:
        """Leave the lock to the parent of this forked child: it ends with the parent's, not with the child."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def _abandon_all() -> None:
    for lock in list(_locks):
        lock.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)


def _owner(descriptor: int) -> str:
    text = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
    if not text.isdigit() or not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return "another process"
    return f"process {text}" + (" (this one)" if int(text) == os.getpid() else "")
