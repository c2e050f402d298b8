"""Rows of an experiment: one a problem, arm and seed, appended as they come and never written twice."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any, BinaryIO

from reasoningbank_langgraph.errors import ExperimentError
from reasoningbank_langgraph.records import Record

ROWS, CONFIG, ORIGIN, SUMMARY = "results.jsonl", "config.json", "origin.json", "summary.json"
DUPLICATES = "duplicates.json"


class ResultRow(Record):
    """What became of one problem in one arm."""

    arm: str
    """`baseline`, `memory`, `memory-10` (a smaller bank), `matts-parallel-3`, `matts-parallel-3+memory`, ..."""
    seed: int
    id: str
    """Of the problem."""
    position: int
    """Place of the problem in this arm, from 0: the running accuracy of protocol `stream` follows it."""
    problem: str
    reference: str
    answer: str
    """The final answer, "" where there is none."""
    reply: str
    right: bool
    verdict: str | None = None
    """What the judge of a learning arm said: `success`, `failure` or `indeterminate`."""
    memory: str = ""
    """The text of the memory that was shown."""
    shown: tuple[str, ...] = ()
    """Ids of the items in it."""
    scores: tuple[float, ...] = ()
    """Similarity of each."""
    sources: tuple[str, ...] = ()
    """Ids of the problems they were learned on."""
    dropped: tuple[str, ...] = ()
    """Ids of items the leak guard took out."""
    learned: int = 0
    """Items this row added to the bank."""
    bank: int = 0
    """Items in the bank before."""
    attempts: int = 1
    """Solutions that were made."""
    pass_at_k: bool | None = None
    """Whether any of several attempts was right."""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    prompt_hash: str = ""
    """Names the prompt in `prompts.jsonl`."""
    error: str | None = None
    """Why there is no answer, if the row failed: kind and message. It is left out of comparisons and run again on
    resume."""

    @property
    def key(self) -> tuple[str, int, str]:
        """What is unique about a row."""
        return self.arm, self.seed, self.id


class Results:
    """The rows of a folder, which further ones are appended to. Safe to use from threads.

    Raises:
        ExperimentError: a line in the middle of the file is no row.
    """

    def __init__(self, out: Path) -> None:
        self.path = out / ROWS
        self._lock = threading.Lock()
        self._rows = {row.key: row for row in _read(self.path)}

    @property
    def rows(self) -> list[ResultRow]:
        """All rows, the last one of each key."""
        with self._lock:
            return list(self._rows.values())

    def has(self, arm: str, seed: int, problem: str) -> bool:
        """Say whether this row is there and has an answer."""
        row = self._rows.get((arm, seed, problem))
        return row is not None and row.error is None

    def append(self, row: ResultRow) -> None:
        """Write one row; it is on disk when this returns."""
        with self._lock:
            append_line(self.path, row.to_json())
            self._rows[row.key] = row


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


def _read(path: Path) -> list[ResultRow]:
    return [_row(path, number, line) for number, line in enumerate(whole_lines(path), 1)]


def _row(path: Path, number: int, line: bytes) -> ResultRow:
    try:
        entry: dict[str, Any] = json.loads(line)
        return ResultRow.model_validate(entry)
    except ValueError as error:
        raise ExperimentError(f"{path}, line {number}: no row of an experiment: {str(error)[:200]}") from error
