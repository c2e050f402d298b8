"""An attempt as fenced text for the judge and the extractor: material to look at, never instructions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reasoningbank_langgraph.messages import Message
from reasoningbank_langgraph.records import Attempt, RetrievedMemory
from reasoningbank_langgraph.text import clean_line, fence, without_memories

_NAME = 60
"""Characters of a speaker's name."""


class Room(NamedTuple):
    """Characters of an attempt that a prompt may show."""

    trajectory: int = 12_000
    task: int = 6_000
    answer: int = 2_000


def task_block(attempt: Attempt, max_chars: int = Room().task) -> str:
    """Return the fenced task text."""
    return fence(attempt.task, "task", max_chars=max_chars)


def trajectory_block(attempt: Attempt, max_chars: int) -> str:
    """Return the fenced steps of the attempt, one paragraph a message, or its answer where no messages were kept.

    The block of lessons it was shown is left out: it is no step, and a small model would copy it.
    """
    calls = _NumberedCalls(attempt.messages)
    steps = [_step(message, attempt.memories, calls) for message in attempt.messages if message.role != "system"]
    return fence("\n\n".join(steps) or attempt.answer or "(no steps recorded)", "attempt", max_chars=max_chars)


def answer_block(attempt: Attempt, max_chars: int = Room().answer) -> str:
    """Return the fenced final answer."""
    return fence(attempt.answer or "(no answer)", "answer", max_chars=max_chars)


class _NumberedCalls:
    """The tool calls of an attempt, numbered where there are several: results may come in another order."""

    def __init__(self, messages: Sequence[Message]) -> None:
        calls = [call for message in messages for call in message.tool_calls]
        self.numbers = {id(call): f"#{number} " for number, call in enumerate(calls, 1)} if len(calls) > 1 else {}
        self.by_id = {str(call["id"]): call for call in calls if call.get("id")}

    def call(self, call: Mapping[str, Any]) -> str:
        arguments = json.dumps(call["args"], ensure_ascii=False)
        return f"calls {self.numbers.get(id(call), '')}{call['name']}({arguments})"

    def sender(self, message: Message) -> str:
        """Return role and name; of a tool's result also which call it answers and whether that failed."""
        call = self.by_id.get(message.tool_call_id or "", {})
        name = clean_line(message.name or call.get("name") or "")[:_NAME]
        number = self.numbers.get(id(call), "").strip()
        failed = "error" if message.status == "error" else ""
        return " ".join(filter(None, [message.role, name, number, failed]))


def _step(message: Message, memories: Sequence[RetrievedMemory], calls: _NumberedCalls) -> str:
    text = without_memories(message.text, memories) if message.role == "user" else message.text
    return "\n".join([f"({calls.sender(message)}) {text}", *map(calls.call, message.tool_calls)])
