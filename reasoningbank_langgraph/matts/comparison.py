"""Which of several attempts is the best, as a model sees it: asked twice, the second time in reverse order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import HumanMessage, SystemMessage

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.chat.dialogue import Dialogue, Request
from reasoningbank_langgraph.errors import ModelError
from reasoningbank_langgraph.parsing.answers import answer_object
from reasoningbank_langgraph.records import Attempt
from reasoningbank_langgraph.text.trajectory import answer_block, task_block, trajectory_block

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

MAX_TOKENS, MAX_CHARS = 300, 12_000


class Opinion(NamedTuple):
    """What the model chose, and why."""

    chosen: int | None
    """Index of the attempt; None when it chose none, or another one in the other order."""
    why: str


def ask_best(attempts: Sequence[Attempt]) -> Dialogue[Opinion]:
    """Ask which attempt is the best. The order of the list must not matter, so a choice that moves with it is none."""
    forward = list(range(len(attempts)))
    named: list[tuple[int | None, str]] = []
    try:
        for order in (forward, forward[::-1]):
            reply = yield Request(_question([attempts[index] for index in order]), _schema(len(order)), MAX_TOKENS)
            place, reason = _parse(reply, len(order))
            named.append((None if place is None else order[place - 1], reason))
    except ModelError as error:
        return Opinion(None, str(error))
    (first, reason), (second, _) = named
    if first is None or second is None:
        return Opinion(None, "the model named no attempt")
    if first != second:
        return Opinion(None, "the model chose another attempt when the order was reversed")
    return Opinion(first, reason)


def _question(attempts: Sequence[Attempt]) -> list[BaseMessage]:
    budget = MAX_CHARS // len(attempts)
    blocks = [
        prompts.CHOOSE_ATTEMPT.format(
            number=number, trajectory=trajectory_block(attempt, budget), answer=answer_block(attempt, budget)
        )
        for number, attempt in enumerate(attempts, 1)
    ]
    numbers = ", ".join(str(number) for number in range(1, len(attempts) + 1))
    question = prompts.CHOOSE_USER.format(task=task_block(attempts[0]), attempts="\n\n".join(blocks), numbers=numbers)
    return [SystemMessage(prompts.CHOOSE_SYSTEM), HumanMessage(question)]


def _schema(count: int) -> dict[str, Any]:
    best = {"type": "integer", "minimum": 1, "maximum": count}
    properties = {"reason": {"type": "string"}, "best": best}
    return {"type": "object", "properties": properties, "required": ["reason", "best"]}


def _parse(reply: AIMessage, count: int) -> tuple[int | None, str]:
    value = answer_object(reply, "best")
    named = "" if value is None else str(value["best"]).strip()
    if value is None or not (named.isdecimal() and len(named) <= len(str(count))):
        return None, ""
    place = int(named)
    return (place if 1 <= place <= count else None), str(value.get("reason") or "")[:600]
