"""Files that a user names: read and replaced only where they are files, so nothing hangs or is destroyed."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from reasoningbank_langgraph.errors import NotAFileError

_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading its bytes.

    Raises:
        NotAFileError: it is a folder, a pipe, a socket or a device, which may never end or never begin.
        OSError: it is not there or cannot be read.
    """
    check_file(path)
    handle = os.open(path, os.O_RDONLY | _AT_ONCE)
    if S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)  # it was exchanged since it was checked
    raise NotAFileError(path)


def check_file(path: Path) -> None:
    """Raise `NotAFileError` if something is there that is no file."""
    if path.exists() and not path.is_file():
        raise NotAFileError(path)
