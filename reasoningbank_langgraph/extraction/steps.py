"""The calls of tools that led to a solution, as they are kept with it: an answer alone would teach to call none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from reasoningbank_langgraph.extraction.cleaning import clean_message
from reasoningbank_langgraph.messages import Message, length_as_json
from reasoningbank_langgraph.records import Attempt

STEPS_CAP = 8_000
"""Characters of all steps as JSON that are kept of an attempt; of more than that, none are."""


def tool_steps(attempt: Attempt) -> tuple[Message, ...]:
    """Return the calls of an attempt that worked, each with its result, without secrets and lessons."""
    steps = tuple(clean_message(step, attempt) for step in _worked(attempt))
    return steps if length_as_json(steps) <= STEPS_CAP else ()


def calls_tools(attempt: Attempt) -> bool:
    """Say whether a tool was called in an attempt."""
    return any(message.tool_calls for message in attempt.messages)


def _worked(attempt: Attempt) -> Iterator[Message]:
    """Yield the calls and their results under ids that are the same in every run, in a form that every server takes."""
    results = {
        message.tool_call_id: message
        for message in attempt.messages
        if message.role == "tool" and message.tool_call_id and message.status != "error"
    }
    number = count(1)
    for message in attempt.messages:
        worked = [call for call in message.tool_calls if _is_whole(call) and call.get("id") in results]
        named = [(f"call{next(number):05}", call) for call in worked]
        if named:
            calls = tuple({**call, "id": name} for name, call in named)
            yield message.model_copy(update={"content": "", "tool_calls": calls})
            yield from (results[call["id"]].model_copy(update={"tool_call_id": name}) for name, call in named)


def _is_whole(call: Mapping[str, Any]) -> bool:
    return bool(call.get("name")) and isinstance(call.get("args"), Mapping)
