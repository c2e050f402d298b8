"""How a model is asked for lessons: once, and again where nothing usable came."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.chat.context import room_in
from reasoningbank_langgraph.chat.dialogue import Dialogue, Request
from reasoningbank_langgraph.chat.parameters import TINY_BELOW, is_weak, parameters_of, writes_lessons
from reasoningbank_langgraph.chat.refusals import kind_of_failure
from reasoningbank_langgraph.errors import ModelError
from reasoningbank_langgraph.extraction.acceptance import Extraction, accept
from reasoningbank_langgraph.extraction.formulas import parse_formula
from reasoningbank_langgraph.extraction.tips import parse_tip
from reasoningbank_langgraph.messages import content_text
from reasoningbank_langgraph.parsing import parse_items
from reasoningbank_langgraph.records import Attempt, VerdictStatus
from reasoningbank_langgraph.text import clean_line, clean_text, redact_secrets
from reasoningbank_langgraph.text.trajectory import Room, task_block, trajectory_block

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

_FIELDS = ("title", "description", "content")
_TIP = 300
"""Tokens: a tip of twice its length."""
_QUOTED = 2_000
"""Characters of a reply that are quoted back to the model."""


class ModelLimits(NamedTuple):
    """What one model can take and give."""

    max_tokens: int
    """Cap on one reply."""
    room: Room
    weak: bool
    """Whether it is asked for one tip in plain text."""
    parameters: int | None = None

    @classmethod
    def of(cls, model: BaseChatModel, max_tokens: int, *, weak: bool | None = None) -> ModelLimits:
        """Return what suits a model, by its parameters unless `weak` says."""
        weak = is_weak(model) if weak is None else weak
        cap = min(max_tokens, _TIP) if weak else max_tokens
        return cls(cap, room_in(model, cap), weak, parameters_of(model))

    @property
    def is_tiny(self) -> bool:
        """Whether it is known to have less than a billion parameters."""
        return (self.parameters or TINY_BELOW) < TINY_BELOW

    @property
    def tip(self) -> str:
        """The prompt for a tip."""
        return prompts.TIP_USER_SHORT if self.is_tiny else prompts.TIP_USER

    def learns_from(self, statuses: Collection[VerdictStatus]) -> bool:
        """Say whether its lessons on attempts with these verdicts are worth asking for."""
        return not self.weak or (writes_lessons(self.parameters) and "success" in statuses)


def items_schema(cap: int) -> dict[str, Any]:
    """Return the JSON schema of a reply with at most `cap` lessons.

    It holds no length: a server that enforces one ends a text in the middle of a word.
    """
    fields = {name: {"type": "string"} for name in _FIELDS}
    item = {"type": "object", "properties": fields, "required": list(fields)}
    items = {"type": "array", "minItems": 1, "maxItems": cap, "items": item}
    return {"type": "object", "properties": {"items": items}, "required": ["items"]}


def ask_formula(attempt: Attempt, limits: ModelLimits) -> Dialogue[Extraction]:
    """Ask a weak model for the solution of a right attempt as a program, which is kept as a lesson if it is right."""
    question = prompts.TIP_PROGRAM.format(
        task=task_block(attempt, limits.room.task), trajectory=trajectory_block(attempt, limits.room.trajectory)
    )
    prompt = [SystemMessage(prompts.TIP_SYSTEM), HumanMessage(redact_secrets(question).text)]
    try:
        reply = yield Request(prompt, None, limits.max_tokens)
    except ModelError as error:
        return Extraction([], "error", raw=str(error), failure=kind_of_failure(error))
    return accept([attempt], reply, 1, lambda reply: parse_formula(reply, attempt))


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
    schema, parse = (None, parse_tip) if limits.weak else (items_schema(cap), parse_items)
    try:
        reply = yield Request(prompt, schema, limits.max_tokens)
        distilled = accept(attempts, reply, cap, parse)
        if correction := _correction(distilled, weak=limits.weak):
            quoted = clean_text(content_text(reply.content)[:_QUOTED])
            again = [*prompt, *([AIMessage(quoted)] if quoted.strip() else []), HumanMessage(correction)]
            reply = yield Request(again, schema, limits.max_tokens)
            distilled = accept(attempts, reply, cap, parse)
    except ModelError as error:
        return Extraction([], "error", raw=str(error), failure=kind_of_failure(error))
    return distilled


def _correction(distilled: Extraction, *, weak: bool) -> str | None:
    """Return what to say to a reply of which nothing was usable, None where asking again brings nothing."""
    readable = distilled.reason not in ("unparsed", "truncated", "empty")
    if distilled.items or (readable and (distilled.reason != "dropped" or "copied" in distilled.dropped)):
        return None
    if distilled.details:
        return redact_secrets(prompts.GENERAL_USER.format(details=clean_line(", ".join(distilled.details)))).text
    return prompts.TIP_AGAIN if weak else prompts.REPAIR_USER.format(reason=distilled.reason) if not readable else None
