"""Messages of ours in a conversation: what a solver is told and the user's users need not see. Their ids name them."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from langchain_core.messages import HumanMessage
from langgraph.channels import BinaryOperatorAggregate
from langgraph.graph.message import add_messages

TASK, LESSONS, CHECK = (f"reasoningbank:{kind}:" for kind in ("task", "lessons", "check"))
"""How the ids begin of a task that was no message, of lessons, and of what asks for a check."""


def aside(kind: str, text: str) -> HumanMessage:
    """Return a message of ours, in the user's name."""
    return HumanMessage(text, id=f"{kind}{uuid4()}")


def is_aside(message: Any, *kinds: str) -> bool:
    """Say whether it is a message of ours of one of these kinds."""
    return str(getattr(message, "id", None) or "").startswith(kinds)


def unstreamed(message: Any) -> Any:
    """Return a message of ours as data, of which `add_messages` makes a message: LangGraph would stream a message."""
    if not is_aside(message, TASK, CHECK):
        return message
    return {"role": "user", "content": message.content, "id": message.id}


def adds_messages(channel: object) -> bool:
    """Say whether a channel is reduced by LangGraph's `add_messages`."""
    return isinstance(channel, BinaryOperatorAggregate) and channel.operator is add_messages
