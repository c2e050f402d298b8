"""Finished attempts of the arms that make several: what several arms ask of the model, it is asked once.

A try is known by the request: the problem, the prompt with what memory it holds, the temperature and the seed. So the
first tries of `vote-3` are those of `gated-3` and of `gated-3+examples`, and each arm is graded as if it had made all
of its own.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from reasoningbank_langgraph.files import append_line, whole_lines
from reasoningbank_langgraph.math_answers import final_answer
from reasoningbank_langgraph.matts.votes import SHORT
from reasoningbank_langgraph.records import Record

TRIES, TRY_TEXTS = "tries.jsonl", "try_texts.jsonl"


class TryKey(NamedTuple):
    """Names a try."""

    id: str
    """Of the problem."""
    seed: int
    number: int
    """Among the attempts at the problem, from 0."""
    request: str
    """Digest of the prompt and of how it is sampled."""


class Try(Record):
    """One finished attempt, without the texts of the problem and of the memory."""

    id: str
    seed: int
    number: int
    request: str
    memory: str = ""
    """Digest of the memory that was shown, "" for none."""
    answer: str = ""
    """The final answer, "" where there is none."""
    marked: bool = True
    """Whether the reply marks it."""
    right: bool
    reply: str = ""
    """"" where the texts are not there."""
    reply_length: int
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    @property
    def key(self) -> TryKey:
        """What is unique about it."""
        return TryKey(self.id, self.seed, self.number, self.request)

    @property
    def text(self) -> str:
        """The reply as a vote reads it; where its text is not there, its answer as the reply gave it."""
        return self.reply or (f"\\boxed{{{self.answer}}}" if self.answer and self.marked else self.answer)


class Tries:
    """The tries of a folder. Safe to use from threads: of several that want a try, one makes it.

    Args:
        out: the folder of the run.
    """

    def __init__(self, out: Path) -> None:
        self.path, self.texts = out / TRIES, out / TRY_TEXTS
        replies = {entry["request"]: entry["reply"] for entry in map(json.loads, whole_lines(self.texts))}
        entries = [Try.model_validate_json(line) for line in whole_lines(self.path)]
        self._made = {
            entry.key: entry.model_copy(update={"reply": replies.get(entry.request, "")}) for entry in entries
        }
        self._lock, self._making = threading.Lock(), dict[TryKey, threading.Lock]()

    @property
    def made(self) -> list[Try]:
        """All that are there."""
        with self._lock:
            return list(self._made.values())

    def take(self, key: TryKey, make: Callable[[], Try]) -> Try:
        """Return a try, made now if it is not there yet. What fails is not kept, and made again by the next call."""
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            if key not in self._made:
                self._add(make())
            return self._made[key]

    def _add(self, made: Try) -> None:
        with self._lock:
            append_line(self.texts, {"request": made.request, "reply": made.reply})
            append_line(self.path, made.model_dump(mode="json", exclude={"reply"}))
            self._made[made.key] = made


def answer_of(reply: str) -> tuple[str, bool]:
    """Return the final answer of a reply, "" for none and for a long text, and whether the reply marks it."""
    answer = final_answer(reply) or ""
    return (answer if len(answer) <= SHORT else ""), answer != reply
