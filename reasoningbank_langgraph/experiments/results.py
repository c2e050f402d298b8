"""Rows of an experiment: one a problem, arm and seed, appended as they come and never written twice.

What was asked, answered and shown is kept in a file of its own, so that the rows can be published: they hold ids,
counts and outcomes, and the figures follow from them alone. The texts belong to the authors of the data.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import model_validator

from reasoningbank_langgraph.errors import ExperimentError
from reasoningbank_langgraph.files import append_line, whole_lines
from reasoningbank_langgraph.prompts import prompt_hash
from reasoningbank_langgraph.records import Record

ROWS, CONFIG, ORIGIN, SUMMARY = "results.jsonl", "config.json", "origin.json", "summary.json"
DUPLICATES, LEAKS, TEXTS = "duplicates.json", "leaks.json", "texts.jsonl"
PROMPTS, ADAPTERS, CYCLES = "prompts.jsonl", "adapters.json", "cycles.jsonl"
GIVEN = "bank.jsonl"
"""The bank that a run was given, as it was when the run began."""
_KEY = ("arm", "seed", "id")
_TEXTS = ("problem", "reference", "answer", "reply", "memory")
Key = tuple[Any, ...]
"""Arm, seed and problem."""


class ResultRow(Record):
    """What became of one problem in one arm."""

    arm: str
    """`baseline`, `memory`, `memory-10` (a smaller bank), `vote-3`, `checked-3+memory`, `vote-3+matts`, ..."""
    seed: int
    id: str
    """Of the problem."""
    position: int
    """Place of the problem in this arm, from 0: the running accuracy of protocol `stream` follows it."""
    problem: str = ""
    """"" where the texts are not there, as in the four texts that follow."""
    reference: str = ""
    answer: str = ""
    """The final answer, "" where there is none."""
    reply: str = ""
    reply_length: int = 0
    """Characters, as is `memory_length`."""
    right: bool
    verdict: str | None = None
    """What the judge of a learning arm said: `success`, `failure` or `indeterminate`."""
    memory: str = ""
    """The text of the memory that was shown."""
    memory_length: int = 0
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
    bank_digest: str = ""
    """Names the content of a bank that is frozen; "" where there is none, or one that grows."""
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
    """Why there is no answer, if the row failed: kind and message (without the texts, the kind alone). It is left out
    of comparisons and run again on resume."""

    @model_validator(mode="before")
    @classmethod
    def _measure_texts(cls, values: Any) -> Any:
        """Texts have lengths, also in rows that were written before there was a field for them."""
        if not isinstance(values, dict):
            return values
        return {**{f"{name}_length": len(str(values.get(name, ""))) for name in ("reply", "memory")}, **values}

    @property
    def key(self) -> tuple[str, int, str]:
        """What is unique about a row."""
        return self.arm, self.seed, self.id

    @property
    def has_texts(self) -> bool:
        """Whether what was asked, answered and shown is there to be read."""
        return bool(self.problem)

    def without_texts(self) -> dict[str, Any]:
        """Return what may be published of it, as plain JSON data."""
        return {**self.model_dump(mode="json", exclude={*_TEXTS}), "error": _name_of(self.error)}

    def texts(self) -> dict[str, Any]:
        """Return the rest of it, under the name of the row."""
        return self.model_dump(mode="json", include={*_KEY, *_TEXTS, "error"})


class Results:
    """The rows of a folder, which further ones are appended to. Safe to use from threads.

    Raises:
        ExperimentError: a line in the middle of the file is no row.
    """

    def __init__(self, out: Path) -> None:
        self.path, self.texts = out / ROWS, out / TEXTS
        self._lock = threading.Lock()
        texts = _texts(self.texts)
        rows = (_row(self.path, number, line, texts) for number, line in enumerate(whole_lines(self.path), 1))
        self._rows = {row.key: row for row in rows}

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
        """Write one row and its texts; both are on disk when this returns."""
        with self._lock:
            append_line(self.texts, row.texts())
            append_line(self.path, row.without_texts())
            self._rows[row.key] = row


class PromptFile:
    """The prompts that were sent, each once by its hash, so that a reader can check what the arms differ in.

    Safe to use from threads.
    """

    def __init__(self, out: Path) -> None:
        self.path = out / PROMPTS
        self._lock = threading.Lock()
        self._hashes = {json.loads(line)["hash"] for line in whole_lines(self.path)}

    def add(self, messages: list[tuple[str, str]]) -> str:
        """Write the prompt down unless it is there; returns its hash."""
        name = prompt_hash(*(text for _, text in messages))
        with self._lock:
            if name not in self._hashes:
                self._hashes.add(name)
                append_line(self.path, {"hash": name, "messages": messages}, durable=False)
        return name


def _row(path: Path, number: int, line: bytes, texts: Mapping[Key, Mapping[str, Any]]) -> ResultRow:
    try:
        entry = _object(line)
        told = texts.get(_key(entry), {})
        belongs = _name_of(told.get("error")) == entry.get("error")  # a kill may have left the texts of a later try
        return ResultRow.model_validate({**entry, **told} if belongs else entry)
    except (ValueError, TypeError) as error:
        raise ExperimentError(f"{path}, line {number}: no row of an experiment: {str(error)[:200]}") from error


def _name_of(error: str | None) -> str | None:
    """The kind of an error, without its message."""
    return error and (re.match(r"[A-Za-z]\w*", error) or ["error"])[0]


def _texts(path: Path) -> dict[Key, Mapping[str, Any]]:
    """The texts of each row, the last ones where it was run again."""
    try:
        return {_key(entry): entry for entry in map(_object, whole_lines(path))}
    except (ValueError, TypeError) as error:
        raise ExperimentError(f"{path}: a line holds no texts of a row: {str(error)[:200]}") from error


def _object(line: bytes) -> dict[str, Any]:
    entry = json.loads(line)
    if not isinstance(entry, dict):
        raise ValueError("it is no JSON object")
    return entry


def _key(entry: Mapping[str, Any]) -> Key:
    return tuple(entry.get(name) for name in _KEY)
