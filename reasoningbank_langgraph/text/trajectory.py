"""An attempt as fenced text for the judge and the extractor: material to look at, never instructions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph.chat.models import context_tokens
from reasoningbank_langgraph.messages import Message
from reasoningbank_langgraph.records import Attempt, RetrievedMemory
from reasoningbank_langgraph.text import clean_line, fence, without_memories

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

SMALL_CONTEXT = 8_192
"""Tokens. A model of no more gets prompts that are shorter and ask for less."""
_CHARS_A_TOKEN = 2.5
"""On the safe side: English has four, digits and LaTeX have fewer."""
_NAME = 60
"""Characters of a speaker's name."""
_INSTRUCTIONS = 600
"""Tokens of our own words and of the chat template."""


class Room(NamedTuple):
    """Characters of an attempt that a prompt may show."""

    trajectory: int = 12_000
    task: int = 6_000
    answer: int = 2_000


def is_small(model: BaseChatModel) -> bool:
    """Say whether a model is known to have a small context."""
    return (context_tokens(model) or SMALL_CONTEXT + 1) <= SMALL_CONTEXT


def room_in(model: BaseChatModel, max_tokens: int) -> Room:
    """Return what fits into the model's context beside the instructions and a reply of `max_tokens` tokens."""
    context = context_tokens(model)
    if context is None:
        return Room()
    left = max(1_000, round((context - max_tokens - _INSTRUCTIONS) * _CHARS_A_TOKEN))
    return Room(*(min(most, left * most // sum(Room())) for most in Room()))


def task_block(attempt: Attempt, max_chars: int = Room().task) -> str:
    """Return the fenced task text."""
    return fence(attempt.task, "task", max_chars=max_chars)


def trajectory_block(attempt: Attempt, max_chars: int) -> str:
    """Return the fenced steps of the attempt, one paragraph a message, or its answer where no messages were kept.

    The block of lessons it was shown is left out: it is no step, and a small model would copy it.
    """
    told = _Calls(attempt.messages)
    steps = [_step(message, attempt.memories, told) for message in attempt.messages if message.role != "system"]
    return fence("\n\n".join(steps) or attempt.answer or "(no steps recorded)", "attempt", max_chars=max_chars)


def answer_block(attempt: Attempt, max_chars: int = Room().answer) -> str:
    """Return the fenced final answer."""
    return fence(attempt.answer or "(no answer)", "answer", max_chars=max_chars)


class _Calls:
    """The tool calls of an attempt, numbered where there are several: results may come in another order."""

    def __init__(self, messages: Sequence[Message]) -> None:
        calls = [call for message in messages for call in message.tool_calls]
        self.numbers = {id(call): f"#{number} " for number, call in enumerate(calls, 1)} if len(calls) > 1 else {}
        self.by_id = {str(call["id"]): call for call in calls if call.get("id")}

    def call(self, call: Mapping[str, Any]) -> str:
        arguments = json.dumps(call["args"], ensure_ascii=False)
        return f"calls {self.numbers.get(id(call), '')}{call['name']}({arguments})"

    def speaker(self, message: Message) -> str:
        """Who says it: role, name, and of a tool's result which call it answers and whether that failed."""
        call = self.by_id.get(message.tool_call_id or "", {})
        name = clean_line(message.name or call.get("name") or "")[:_NAME]
        number = self.numbers.get(id(call), "").strip()
        failed = "error" if message.status == "error" else ""
        return " ".join(filter(None, [message.role, name, number, failed]))


def _step(message: Message, memories: Sequence[RetrievedMemory], told: _Calls) -> str:
    said = without_memories(message.text, memories) if message.role == "user" else message.text
    return "\n".join([f"({told.speaker(message)}) {said}", *map(told.call, message.tool_calls)])
