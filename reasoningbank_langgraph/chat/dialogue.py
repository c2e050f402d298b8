"""Dialogues with a language model: what to ask and how to read the reply, as pure functions.

A dialogue is a generator: it yields a `Request`, is sent the reply, and returns its result. `ModelCaller` carries the
requests to a model, sync or async, so a dialogue is written once and tested without a model.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

Result = TypeVar("Result")


class Request(NamedTuple):
    """One question to a model."""

    messages: Sequence[BaseMessage]
    schema: dict[str, Any] | None
    """JSON schema of the reply, passed on to servers that can enforce it; None asks for plain text."""
    max_tokens: int
    """Cap on the tokens of the reply: a small model that loses the thread must not fill its context."""


Dialogue = Generator[Request, "AIMessage", Result]
