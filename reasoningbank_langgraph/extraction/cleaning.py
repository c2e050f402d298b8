"""Messages of an attempt as they may be kept: without secrets, without the lessons they quote, and not too long."""

from __future__ import annotations

from reasoningbank_langgraph.messages import Message, with_texts
from reasoningbank_langgraph.records import Attempt
from reasoningbank_langgraph.records.episodes import SOLUTION_CAP
from reasoningbank_langgraph.text import redact_secrets, without_memories
from reasoningbank_langgraph.text.fencing import cut
from reasoningbank_langgraph.text.visible import split_lines, without_invisible

MESSAGE_CAP = SOLUTION_CAP + 200
"""More than an episode keeps: so the episode that is made of it later knows that it was cut."""


def clean_text_of(text: str) -> str:
    """Return a text of an attempt without secrets and without what cannot be seen."""
    return redact_secrets(without_invisible(split_lines(text))).text


def clean_message(message: Message, attempt: Attempt) -> Message:
    """Return a message of an attempt as it may be kept; what is no text in it is named in brackets."""
    text = clean_text_of(without_memories(message.text, attempt.memories))
    calls = tuple(with_texts(call, lambda value: cut(clean_text_of(value), MESSAGE_CAP)) for call in message.tool_calls)
    return message.model_copy(update={"content": cut(text, MESSAGE_CAP), "tool_calls": calls})
