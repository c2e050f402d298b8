"""Lessons from what sets several attempts at one task apart: labelled self-contrast (paper section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.chat.dialogue import Dialogue
from reasoningbank_langgraph.chat.models import ModelLike
from reasoningbank_langgraph.extraction.acceptance import Extraction
from reasoningbank_langgraph.extraction.asking import ModelLimits, ask_lessons
from reasoningbank_langgraph.extraction.extractor import Judged, LessonExtractor
from reasoningbank_langgraph.extraction.results import Origin, make_items
from reasoningbank_langgraph.records import ITEMS_PER_GROUP, MemoryItem
from reasoningbank_langgraph.text import clean_line
from reasoningbank_langgraph.text.trajectory import answer_block, task_block, trajectory_block

SHOWN = 6
"""Attempts a model is shown at most: successes and failures in turn."""
CONTRAST_HASH = prompts.prompt_hash(
    prompts.CONTRAST_SYSTEM,
    prompts.CONTRAST_USER,
    prompts.TIP_SYSTEM,
    prompts.TIP_USER,
    prompts.TIP_USER_SHORT,
    prompts.TIP_PROGRAM,
    prompts.TIP_AGAIN,
    prompts.GENERAL_USER,
    prompts.CONTRAST_ATTEMPT,
    prompts.CONTRAST_MIXED,
    prompts.CONTRAST_SUCCESSES,
    prompts.CONTRAST_FAILURES,
)


class GroupExtractor:
    """Asks a model for at most five lessons from all judged attempts of one experience.

    Of a single attempt, lessons are distilled as from any: there is nothing to contrast it with. A weak model is asked
    about the first success alone: asked to compare, one of 1.5 billion parameters writes that one should be careful.

    Args:
        model: the chat model that distils.
        max_tokens: cap on the tokens of one reply.
        time_limit: seconds one call may take.
        weak: whether the model is a weak one, by default decided by its parameters.
    """

    def __init__(
        self, model: ModelLike, *, max_tokens: int = 900, time_limit: float = 120.0, weak: bool | None = None
    ) -> None:
        self._single = LessonExtractor(model, max_tokens=max_tokens, time_limit=time_limit, weak=weak)
        self.caller, self.limits = self._single.caller, self._single.limits

    def dialogue(self, group: Sequence[Judged]) -> Dialogue[Extraction]:
        """Return the dialogue about the attempts; without any it asks nothing."""
        if not group:
            return Extraction([], "indeterminate")
        statuses = [judged.verdict.status for judged in group]
        if not self.limits.learns_from(statuses):
            return Extraction([], "weak_model")
        if len(group) > 1 and not self.limits.weak:
            return (yield from contrast(group, self.limits))
        about = statuses.index("success") if self.limits.weak else 0
        return (yield from self._single.dialogue(group[about]))._replace(about=about)


def contrast(group: Sequence[Judged], limits: ModelLimits) -> Dialogue[Extraction]:
    """Ask what sets the attempts apart. Each is shown with its label and the judge's reason; equal ones once."""
    selected = alternating(_distinct(group))[:SHOWN]
    budget = limits.room.trajectory // len(selected)
    statuses = {judged.verdict.status for judged in group}
    questions = {"success": prompts.CONTRAST_SUCCESSES, "failure": prompts.CONTRAST_FAILURES}
    question = prompts.CONTRAST_USER.format(
        task=task_block(group[0].attempt, limits.room.task),
        attempts="\n\n".join(
            _attempt_block(number, judged, times, budget) for number, (judged, times) in enumerate(selected, 1)
        ),
        question=prompts.CONTRAST_MIXED if len(statuses) > 1 else questions[statuses.pop()],
        max_items=ITEMS_PER_GROUP,
    )
    prompt = [SystemMessage(prompts.CONTRAST_SYSTEM), HumanMessage(question)]
    return ask_lessons([judged.attempt for judged in group], prompt, limits, ITEMS_PER_GROUP)


def _distinct(group: Sequence[Judged]) -> list[tuple[Judged, int]]:
    found: dict[tuple[str, str], tuple[Judged, int]] = {}
    for judged in group:
        key = (judged.attempt.digest(None), judged.verdict.status)
        first, times = found.get(key, (judged, 0))
        found[key] = (first, times + 1)
    return list(found.values())


def alternating(distinct: Sequence[tuple[Judged, int]]) -> list[tuple[Judged, int]]:
    """Successes and failures in turn, so that what is cut off does not leave one side only."""
    places: dict[str, int] = {}
    ranked = []
    for order, entry in enumerate(distinct):
        status = entry[0].verdict.status
        places[status] = place = places.get(status, -1) + 1
        ranked.append((place, order, entry))
    return [entry for _, _, entry in sorted(ranked, key=lambda item: item[:2])]


def _attempt_block(number: int, judged: Judged, times: int, budget: int) -> str:
    return prompts.CONTRAST_ATTEMPT.format(
        number=number,
        status=judged.verdict.status,
        repeated=f", made {times} times" if times > 1 else "",
        rationale=clean_line(judged.verdict.rationale),
        trajectory=trajectory_block(judged.attempt, budget),
        answer=answer_block(judged.attempt, budget),
    )


def make_group_items(group: Sequence[Judged], distilled: Extraction, origin: Origin) -> list[MemoryItem]:
    """Return the lessons as items of one experience."""
    if distilled.about is not None:
        return make_items(group[distilled.about], distilled.items, origin)
    sureness = [judged.verdict.confidence for judged in group if judged.verdict.confidence is not None]
    score = sum(sureness) / len(sureness) if sureness else None
    changed: dict[str, Any] = {"verifier_score": score, "outcome": "contrast"}
    return [item.model_copy(update=changed) for item in make_items(group[0], distilled.items, origin)]
