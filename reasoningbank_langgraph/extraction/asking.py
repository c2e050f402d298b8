"""How a model is asked for lessons: once, and again where nothing usable came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import AIMessage, HumanMessage

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.chat.context import is_small, room_in
from reasoningbank_langgraph.chat.dialogue import Dialogue, Request
from reasoningbank_langgraph.errors import ModelError
from reasoningbank_langgraph.extraction.acceptance import Extraction, accept
from reasoningbank_langgraph.extraction.literals import task_literals, without_details
from reasoningbank_langgraph.messages import content_text
from reasoningbank_langgraph.records import Attempt
from reasoningbank_langgraph.text import clean_text, redact_secrets
from reasoningbank_langgraph.text.trajectory import Room

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

_FIELDS = {"title": 80, "description": 200, "content": 400}
_SHORT_FIELDS = {"title": 60, "description": 120, "content": 300}
"""Characters of a lesson's fields that a model is asked for."""
_SHORT_REPLY = 300
"""Tokens: one lesson at its longest."""
_QUOTED = 2_000
"""Characters of a reply that are quoted back to the model."""


class ModelLimits(NamedTuple):
    """What one model can take and give."""

    max_tokens: int
    """Cap on one reply."""
    room: Room
    small: bool
    """Whether it gets a short prompt, and the attempt without the details of its task."""

    @classmethod
    def of(cls, model: BaseChatModel, max_tokens: int) -> ModelLimits:
        """Return what suits a model, by the size of its context."""
        small = is_small(model)
        cap = min(max_tokens, _SHORT_REPLY) if small else max_tokens
        return cls(cap, room_in(model, cap), small)


def items_schema(cap: int, *, short: bool = False) -> dict[str, Any]:
    """Return the JSON schema of a reply with at most `cap` lessons, for a small model `short` ones."""
    lengths = _SHORT_FIELDS if short else _FIELDS
    fields = {name: {"type": "string", "minLength": 3, "maxLength": most} for name, most in lengths.items()}
    item = {"type": "object", "properties": fields, "required": list(fields)}
    items = {"type": "array", "minItems": 1, "maxItems": cap, "items": item}
    return {"type": "object", "properties": {"items": items}, "required": ["items"]}


def ask_lessons(
    attempts: Sequence[Attempt], prompt: list[BaseMessage], limits: ModelLimits, cap: int
) -> Dialogue[Extraction]:
    """Ask for at most `cap` lessons from attempts at one task; once more if nothing usable comes.

    Args:
        attempts: what the lessons are from; lessons that name their details or copy those they were shown are left out.
        prompt: the messages to the model.
        limits: how the model is asked.
        cap: lessons to take.
    """
    prompt = [*prompt[:-1], HumanMessage(redact_secrets(content_text(prompt[-1].content)).text)]
    schema, masked = items_schema(cap, short=limits.small), _masked(prompt, attempts)
    first = masked if limits.small else prompt
    try:
        reply = yield Request(first, schema, limits.max_tokens)
        distilled = accept(attempts, reply, cap)
        if again := _again(distilled, first, reply, masked):
            reply = yield Request(again, schema, limits.max_tokens)
            distilled = accept(attempts, reply, cap)
    except ModelError as error:
        return Extraction([], "error", raw=str(error))
    return distilled


def _masked(prompt: list[BaseMessage], attempts: Sequence[Attempt]) -> list[BaseMessage]:
    """Return the prompt without the details of the task.

    What a model that can only retell the solution retells of this prompt is general.
    """
    return [*prompt[:-1], HumanMessage(without_details(content_text(prompt[-1].content), task_literals(*attempts)))]


def _again(
    distilled: Extraction, prompt: list[BaseMessage], reply: AIMessage, masked: list[BaseMessage]
) -> list[BaseMessage] | None:
    """Return the next prompt where nothing usable came, or None."""
    if distilled.items:
        return None
    if distilled.details:
        return masked if prompt is not masked else None
    if distilled.reason in ("unparsed", "truncated", "empty"):
        quoted = clean_text(content_text(reply.content)[:_QUOTED])
        repair = HumanMessage(prompts.REPAIR_USER.format(reason=distilled.reason))
        return [*prompt, *([AIMessage(quoted)] if quoted.strip() else []), repair]
    return None
