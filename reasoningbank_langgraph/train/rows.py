"""The conversations to learn from and to stop by, each split into prompt and completion."""

from __future__ import annotations

import hashlib
import json
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph.errors import TuneError
from reasoningbank_langgraph.files import open_file
from reasoningbank_langgraph.local.tuned import digest
from reasoningbank_langgraph.records import has_visible_text

if TYPE_CHECKING:
    from pathlib import Path

TRAIN, VALIDATION = "train.jsonl", "validation.jsonl"
_ROLES = ("system", "user", "assistant")

Message = dict[str, str]
Row = dict[str, list[Message]]
"""What TRL reads: `prompt`, the messages that were there, and `completion`, the one to learn."""


class Rows(NamedTuple):
    """What is learned, and what tells when to stop."""

    train: list[Row]
    validation: list[Row]
    sha256: str
    """Of the files."""

    @property
    def told(self) -> list[tuple[str, str]]:
        """What every row says: the last message of the user, which is the task, and what follows it."""
        return [(_task(row), row["completion"][-1]["content"]) for row in (*self.train, *self.validation)]


def read_rows(data: Path) -> Rows:
    """Read a folder with `train.jsonl` and `validation.jsonl`, or one file, a tenth of whose tasks is held out.

    A line holds `messages`, or `prompt` and `completion`, each a list of messages with `role` and `content`. Every
    message of the assistant, or every one in `completion`, becomes a row, as often as the `weight` of the line says.

    Raises:
        TuneError: a file is missing or cannot be read, a line is something else, a prompt is in both files, or there is
            nothing to learn or to stop by.
    """
    if data.is_dir():
        files = [data / TRAIN, data / VALIDATION]
        if files[0].exists() and not files[1].exists():
            raise TuneError(f"{data} has no {VALIDATION}: name its {TRAIN}, a tenth of whose tasks is then held out")
        train, validation = (_rows(file) for file in files)
        if both := {*map(_key, train)} & {*map(_key, validation)}:
            problem = f"{len(both)} prompts of {VALIDATION} are in {TRAIN} too, and would not tell when to stop"
            raise TuneError(f"{data}: {problem}: take them out of one of the files")
        sha256 = hashlib.sha256("".join(map(digest, files)).encode()).hexdigest()
    else:
        train, validation = _held_out(_rows(data))
        sha256 = digest(data)
    if not train or not validation:
        problem = f"{len(train)} rows to train on and {len(validation)} to validate with: both are needed"
        raise TuneError(f"{data} holds {problem}; a single file needs two tasks")
    return Rows(train, validation, sha256)


def _task(row: Row) -> str:
    return next((message["content"] for message in reversed(row["prompt"]) if message["role"] == "user"), "")


def _held_out(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """Split by task, so that no other sample of a task that is held out is learned."""
    prompts = sorted({_key(row) for row in rows})
    held = set(prompts[: max(1, len(prompts) // 10)])
    return [row for row in rows if _key(row) not in held], [row for row in rows if _key(row) in held]


def _key(row: Row) -> str:
    """Return a key whose order is random but the same every time."""
    return hashlib.sha256(json.dumps(row["prompt"], sort_keys=True).encode()).hexdigest()


def _rows(path: Path) -> list[Row]:
    found: list[Row] = []
    try:
        with open_file(path) as file:
            lines = file.readlines()
    except OSError as error:
        raise TuneError(f"{path} cannot be read: {error.strerror or error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found += _completions(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                example = '{"messages": [{"role": "user", "content": "2 + 2"}, {"role": "assistant", ...}]}'
                problem = f"is no conversation ({type(error).__name__}: {error})"
                raise TuneError(f"{path}, line {number} {problem}; a line looks like {example}") from error
    return found


def _completions(line: dict[str, Any]) -> list[Row]:
    prompt = line["prompt"] if "completion" in line else []
    told = [_message(message) for message in [*prompt, *line["completion" if "completion" in line else "messages"]]]
    learned = [place for place, message in enumerate(told) if message["role"] == "assistant" and place >= len(prompt)]
    if not learned or learned[0] == 0 or not all(has_visible_text(told[place]["content"]) for place in learned):
        raise ValueError("the assistant answers nothing in it")
    if (weight := operator.index(line.get("weight", 1))) < 0:
        raise ValueError(f"its weight of {weight} is below 0")
    rows: list[Row] = [{"prompt": told[:place], "completion": [told[place]]} for place in learned]
    return rows * weight


def _message(message: dict[str, Any]) -> Message:
    role, content = message["role"], message["content"]
    if role not in _ROLES or not isinstance(content, str):
        raise ValueError(f"a message has a role of {', '.join(_ROLES)} and a text as content")
    content.encode()  # half of a pair of surrogates is no text: it raises
    return {"role": role, "content": content}
