"""An attempt as fenced text for the judge and the extractor: material to look at, never instructions."""

from __future__ import annotations

import json

from reasoningbank_langgraph.messages import Message
from reasoningbank_langgraph.records import Attempt
from reasoningbank_langgraph.text import fence


def task_block(attempt: Attempt, max_chars: int = 6_000) -> str:
    """Return the fenced task text."""
    return fence(attempt.task, "task", max_chars=max_chars)


def trajectory_block(attempt: Attempt, max_chars: int) -> str:
    """Return the fenced steps of the attempt, one paragraph a message, or its answer where no messages were kept."""
    steps = [_step(message) for message in attempt.messages if message.role != "system"]
    return fence("\n\n".join(steps) or attempt.answer or "(no steps recorded)", "attempt", max_chars=max_chars)


def answer_block(attempt: Attempt, max_chars: int = 2_000) -> str:
    """Return the fenced final answer."""
    return fence(attempt.answer or "(no answer)", "answer", max_chars=max_chars)


def _step(message: Message) -> str:
    calls = [f"calls {call['name']}({json.dumps(call['args'], ensure_ascii=False)})" for call in message.tool_calls]
    return "\n".join([f"({message.role}) {message.text}", *calls])
