"""The file a bank is exported to: a header line, then one record a line. Every line is checked when it is read."""

from __future__ import annotations

import json
import os
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn, TypeVar

from reasoningbank_langgraph.bank.collector import collector_paused
from reasoningbank_langgraph.errors import ImportFileError, InvalidRecordError
from reasoningbank_langgraph.files import check_file, open_file
from reasoningbank_langgraph.records import Episode, MemoryItem
from reasoningbank_langgraph.records.lessons import NEVER_OUT

Kept = TypeVar("Kept", MemoryItem, Episode)

FORMAT, VERSION = "reasoningbank", 5
"""Version 2 counts its episodes, version 3 may hold lessons that were made anew or ties of pairs, version 4 episodes
whose verdict was overturned, and version 5 what may bring lessons back. A file without any of these is of version 1.
Older packages read the versions they know and refuse others."""
LINE_BYTES = 2_000_000
"""Longer than the longest item."""

Numbered = tuple[int, MemoryItem]
"""An item and the line it stands on."""
NumberedEpisode = tuple[int, Episode]


class Exported(NamedTuple):
    """What a file holds."""

    items: list[Numbered]
    episodes: list[NumberedEpisode]


def write(path: Path, items: Sequence[MemoryItem], episodes: Sequence[Episode]) -> None:
    """Write items, then episodes, to a file, which appears whole or not at all; an existing file is replaced.

    Raises:
        NotAFileError: a folder, a pipe or a device is there.
        OSError: the file cannot be written.
    """
    check_file(path)
    version = _version(items, episodes)
    head: dict[str, Any] = {"format": FORMAT, "version": version, "items": len(items)}
    if version > 1:
        head["episodes"] = len(episodes)
    lines = [json.dumps(entry) + "\n" for entry in (head, *(record.to_json() for record in (*items, *episodes)))]
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(line.encode("ascii") for line in lines)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink()
        raise


def _version(items: Sequence[MemoryItem], episodes: Sequence[Episode]) -> int:
    """Return the oldest version that may hold these."""
    marks = (item.later_verdict or any(getattr(item, name) for name in NEVER_OUT) for item in items)
    if any(marks) or any(episode.lesson_forgotten for episode in episodes):
        return VERSION
    if any(one.earlier for one in episodes):
        return 4
    return 3 if any(item.redistil_run or item.utility.ties for item in items) else 2 if episodes else 1


def read(path: Path) -> Exported:
    """Read and check every line.

    Raises:
        ImportFileError: a line is wrong; the error names it and says why.
    """
    try:
        with open_file(path) as file, collector_paused():
            lines = lines_of(path, file)
            promised, episodes = _promised(path, next(lines, (1, b"")))
            first = islice(lines, promised) if episodes else lines
            found = [(number, _record(path, number, line, MemoryItem, "item")) for number, line in first]
            kept = [(number, _record(path, number, line, Episode, "episode")) for number, line in lines]
    except OSError as error:
        raise ImportFileError(path, None, f"cannot be read: {error.strerror or error}") from error
    for name, announced, has in (("items", promised, len(found)), ("episodes", episodes, len(kept))):
        if announced != has:
            raise ImportFileError(path, None, f"is incomplete: it announces {announced} {name} and has {has}")
    return Exported(found, kept)


def lines_of(path: Path, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines, which end with byte 10 and nothing else: texts may contain any other line separator."""
    number = 0
    while line := file.readline(LINE_BYTES + 1):
        number += 1
        if len(line) > LINE_BYTES:
            raise ImportFileError(path, number, f"is longer than {LINE_BYTES} bytes")
        if line.strip():
            yield number, line


def _promised(path: Path, first: tuple[int, bytes]) -> tuple[int, int]:
    number, line = first
    head = json_of(path, number, line) if line else None
    if not isinstance(head, dict) or head.get("format") != FORMAT or not _is_count(head.get("version"), 1):
        raise ImportFileError(path, number, "is not the first line of an export: that names its format and version")
    if head["version"] > (VERSION if "episodes" in head else 1):
        raise ImportFileError(
            path, number, f"was written by a newer version (format {head['version']}): upgrade this package first"
        )
    if not _is_count(head.get("items"), 0):
        raise ImportFileError(path, number, "the number of items is missing")
    if not _is_count(head.get("episodes", 0), 0):
        raise ImportFileError(path, number, "the number of episodes is none")
    return head["items"], head.get("episodes", 0)


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _record(path: Path, number: int, line: bytes, kind: type[Kept], name: str) -> Kept:
    entry = json_of(path, number, line)
    if not isinstance(entry, dict):
        raise ImportFileError(path, number, f"is not an {name} but {type(entry).__name__}")
    if "id" not in entry:
        raise ImportFileError(path, number, f"the {name} has no id")
    try:
        record = kind.model_validate(entry)
    except InvalidRecordError as error:
        raise ImportFileError(path, number, str(error)) from error
    for known_by in (record.id, record.experience_id):
        if not known_by.isprintable() and any(unicodedata.category(char) == "Cc" for char in known_by):
            raise ImportFileError(path, number, f"the id {known_by!r:.200} has control characters")
    return record


def json_of(path: Path, number: int, line: bytes) -> Any:
    """Return the JSON value of a line, in which no key appears twice. Raises `ImportFileError` for anything else."""
    try:
        return _DECODER.decode(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # ValueError is also what a bad encoding and a huge integer raise
        raise ImportFileError(path, number, f"is not JSON: {str(error) or type(error).__name__}") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise ValueError(f"the key {name!r:.200} appears twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        _no_number(text)
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number, parse_float=_finite)
