"""Messages that the loop adds to a solver's conversation and that end users need not see. Their ids mark them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, convert_to_messages
from langgraph.channels import BinaryOperatorAggregate
from langgraph.graph.message import add_messages
from langgraph.types import Overwrite

TASK, LESSONS, EXAMPLE, CHECK = (f"reasoningbank:{kind}:" for kind in ("task", "lessons", "example", "check"))
"""How the ids begin of a task that was no message, of lessons, of an example, and of what asks for a check."""


def inserted(kind: str, text: str) -> HumanMessage:
    """Return a message that the loop adds, in the user's name."""
    return HumanMessage(text, id=f"{kind}{uuid4()}")


def inserted_example(messages: Sequence[Mapping[str, Any]]) -> list[BaseMessage]:
    """Return the messages of an example as messages that the loop adds."""
    named: list[dict[str, Any]] = [{**message, "id": f"{EXAMPLE}{uuid4()}"} for message in messages]
    return convert_to_messages(named)


def is_inserted(message: Any, *kinds: str) -> bool:
    """Say whether the loop added the message, as one of these kinds."""
    return str(getattr(message, "id", None) or "").startswith(kinds)


def unstreamed(message: Any) -> Any:
    """Return a message that the loop added as data, which `add_messages` reads: LangGraph would stream a message."""
    if not (isinstance(message, HumanMessage) and is_inserted(message, TASK, CHECK)):
        return message
    return {"role": "user", "content": message.content, "id": message.id}


def changes(before: list[Any], after: list[Any]) -> list[Any] | Overwrite:
    """Return the messages that `add_messages` needs to make one conversation of the other."""
    old, kept_ids = {message.id: message for message in before}, {message.id for message in after}
    removals = [RemoveMessage(id=str(name)) for name in old if name not in kept_ids]
    update: list[Any] = [*removals, *(message for message in after if old.get(message.id) != message)]
    if add_messages(before, update) != after:
        return Overwrite(after)
    return [unstreamed(message) for message in update]


def adds_messages(channel: object) -> bool:
    """Say whether a channel is reduced by LangGraph's `add_messages`."""
    return isinstance(channel, BinaryOperatorAggregate) and channel.operator is add_messages
