"""What weights made of problems: one line each in the folder of the adapter that was tried, without any text."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph.errors import AdapterError, InvalidRecordError
from reasoningbank_langgraph.experiments.stats import Key
from reasoningbank_langgraph.files import append_line, whole_lines
from reasoningbank_langgraph.records import Count, Record, normalise_task

if TYPE_CHECKING:
    from reasoningbank_langgraph.math_solver.problems import Problem

TRIAL = "trial.jsonl"


class Outcome(Record):
    """What some weights made of one problem."""

    weights: str
    """SHA-256 of the adapter, or of the base alone."""
    task: str
    """Key of the problem's text."""
    asked: str
    """Names the prompt and the token limit."""
    graded: str = ""
    """Digest of the problem with the answer that it was graded by; "" in files of earlier versions."""
    id: str
    """Of the problem in its file."""
    right: bool
    tokens: Count
    """That were written."""


class _Known(NamedTuple):
    weights: str
    task: str
    graded: str


class Outcomes:
    """The outcomes that every trial in a folder of adapters has noted; further ones go to one adapter's file.

    What was found of the base, or of the adapter in use, serves the next trial on the same problems too. Safe to use
    from threads.

    Args:
        folder: of the adapter that is tried.
        asked: outcomes of other prompts and token limits are passed over, and those graded by other answers.
        problems: those that it is tried on now, by the key of the task.
        known: keys of tasks that it knows from its data: earlier trials may have asked them, before that was seen.

    Attributes:
        tasks: keys of these problems, and of those of its earlier trials: never what it knows from its data.

    Raises:
        AdapterError: a line is no outcome.
    """

    def __init__(self, folder: Path, asked: str, problems: Mapping[str, Problem], known: Collection[str] = ()) -> None:
        self._path, self._asked, self._lock = folder / TRIAL, asked, threading.Lock()
        noted = {path: _read(path, asked) for path in sorted(folder.parent.glob(f"*/{TRIAL}"))}
        self._right = {_Known(one.weights, one.task, one.graded): one.right for rows in noted.values() for one in rows}
        own = {one.task: one.graded for one in noted.get(self._path, ()) if one.task not in known}
        # Of the text and not of its key, which is in the file: with that, a short answer could be guessed.
        now = {task: _digest(normalise_task(one.text), str(one.answer)) for task, one in problems.items()}
        self._graded = own | now
        self.tasks = self._graded.keys()

    @property
    def digest(self) -> str:
        """Names the tasks, and how they were asked and graded."""
        return _digest(self._asked, *map(str, sorted(self._graded.items())))

    def has(self, weights: str, task: str) -> bool:
        """Say whether it is known what these weights make of a task."""
        return self._of(weights, task) is not None

    def of(self, weights: str) -> dict[Key, bool]:
        """Return whether these weights were right, by task, as the statistics read it."""
        found = ((task, self._of(weights, task)) for task in sorted(self.tasks))
        return {(0, task): right for task, right in found if right is not None}

    def note(self, **found: Any) -> None:
        """Add one outcome; it is on disk when this returns."""
        outcome = Outcome(asked=self._asked, graded=self._graded[found["task"]], **found)
        with self._lock:
            append_line(self._path, outcome.to_json())
            self._right[_Known(outcome.weights, outcome.task, outcome.graded)] = outcome.right

    def _of(self, weights: str, task: str) -> bool | None:
        return self._right.get(_Known(weights, task, self._graded[task]))


def _digest(*told: str) -> str:
    return hashlib.sha256(repr(told).encode()).hexdigest()


def _read(path: Path, asked: str) -> list[Outcome]:
    try:
        return [one for line in whole_lines(path) if (one := Outcome.model_validate_json(line)).asked == asked]
    except InvalidRecordError as error:
        raise AdapterError(f"{path} holds a line that is no outcome: {error}") from error
