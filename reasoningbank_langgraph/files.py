"""Files that a user names: read or replaced only if they are regular files, so nothing hangs or is destroyed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO

from reasoningbank_langgraph.errors import NotAFileError

_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading its bytes.

    Raises:
        NotAFileError: it is a folder, a pipe, a socket or a device; reading one of these may never end.
        OSError: it does not exist or cannot be read.
    """
    check_file(path)
    handle = os.open(path, os.O_RDONLY | _AT_ONCE)
    if S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)  # it was exchanged since it was checked
    raise NotAFileError(path)


def check_file(path: Path) -> None:
    """Raise `NotAFileError` if the path exists and is not a regular file."""
    if path.exists() and not path.is_file():
        raise NotAFileError(path)


def write_whole(path: Path, text: str) -> None:
    """Write a file, which appears whole or not at all; an existing file is replaced."""
    draft = path.with_name(f"{path.name}.draft")
    with draft.open("wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def whole_lines(path: Path) -> list[bytes]:
    """Return the lines of a file, without one that is being written or that a kill cut off."""
    content = path.read_bytes() if path.exists() else b""
    return [line for line in content[: content.rfind(b"\n") + 1].split(b"\n") if line]


def append_line(path: Path, entry: Any, *, durable: bool = True) -> None:
    """Write one line of JSON, onto the disk if `durable`. What a killed run left of the last line is removed."""
    line = json.dumps(entry).encode("ascii") + b"\n"
    with path.open("a+b") as file:
        _cut_tail(file)
        file.write(line)
        file.flush()
        if durable:
            os.fsync(file.fileno())


def _cut_tail(file: BinaryIO) -> None:
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - 1))
    if file.read(1) not in (b"", b"\n"):
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
