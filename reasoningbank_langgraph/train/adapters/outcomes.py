"""What weights made of problems: one line each in the folder of the adapter that was tried, without any text."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from reasoningbank_langgraph.errors import AdapterError, InvalidRecordError
from reasoningbank_langgraph.experiments.stats import Key
from reasoningbank_langgraph.files import append_line, whole_lines
from reasoningbank_langgraph.records import Count, Record

TRIAL = "trial.jsonl"


class Outcome(Record):
    """What some weights made of one problem."""

    weights: str
    """SHA-256 of the adapter, or of the base alone."""
    task: str
    """Key of the problem's text."""
    asked: str
    """Names the prompt and the token limit."""
    id: str
    """Of the problem in its file."""
    right: bool
    tokens: Count
    """That were written."""


class _Known(NamedTuple):
    weights: str
    task: str


class Outcomes:
    """The outcomes that every trial in a folder of adapters has noted; further ones go to one adapter's file.

    What was found of the base, or of the adapter in use, serves the next trial on the same problems too. Safe to use
    from threads.

    Args:
        folder: of the adapter that is tried.
        asked: outcomes of other prompts and token limits are passed over.
        tasks: keys of the problems that it is tried on now.

    Attributes:
        tasks: these, and those of its earlier trials: never what it knows from its data.

    Raises:
        AdapterError: a line is no outcome.
    """

    def __init__(self, folder: Path, asked: str, tasks: Iterable[str]) -> None:
        self._path, self._asked, self._lock = folder / TRIAL, asked, threading.Lock()
        noted = {path: _read(path, asked) for path in sorted(folder.parent.glob(f"*/{TRIAL}"))}
        self._right = {_Known(one.weights, one.task): one.right for rows in noted.values() for one in rows}
        self.tasks = {*tasks, *(one.task for one in noted.get(self._path, ()))}

    @property
    def digest(self) -> str:
        """Names the tasks."""
        return hashlib.sha256("".join(sorted(self.tasks)).encode()).hexdigest()

    def has(self, weights: str, task: str) -> bool:
        """Say whether it is known what these weights make of a task."""
        return _Known(weights, task) in self._right

    def of(self, weights: str) -> dict[Key, bool]:
        """Return whether these weights were right, by task, as the statistics read it."""
        found = ((task, self._right.get(_Known(weights, task))) for task in sorted(self.tasks))
        return {(0, task): right for task, right in found if right is not None}

    def note(self, **found: Any) -> None:
        """Add one outcome; it is on disk when this returns."""
        outcome = Outcome(asked=self._asked, **found)
        with self._lock:
            append_line(self._path, outcome.to_json())
            self._right[_Known(outcome.weights, outcome.task)] = outcome.right


def _read(path: Path, asked: str) -> list[Outcome]:
    try:
        return [one for line in whole_lines(path) if (one := Outcome.model_validate_json(line)).asked == asked]
    except InvalidRecordError as error:
        raise AdapterError(f"{path} holds a line that is no outcome: {error}") from error
