"""Lessons from what sets the rollouts of one task apart: labelled self-contrast (paper section 4)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import HumanMessage, SystemMessage

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.chat.dialogue import Dialogue
from reasoningbank_langgraph.extraction import (
    Extraction,
    Judged,
    LessonExtractor,
    ModelLimits,
    Origin,
    ask_lessons,
    make_episodes,
    make_items,
)
from reasoningbank_langgraph.matts.records import judged_rollout, rollouts_of
from reasoningbank_langgraph.matts.with_and_without import credit_of
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.nodes.extract import lessons_update, origin_of
from reasoningbank_langgraph.policies import GroupCredit
from reasoningbank_langgraph.records import ITEMS_PER_GROUP, Episode, MemoryItem
from reasoningbank_langgraph.state.attempts import solving_model
from reasoningbank_langgraph.text import clean_line
from reasoningbank_langgraph.text.trajectory import answer_block, task_block, trajectory_block

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from reasoningbank_langgraph.state import ChannelNames

SHOWN, SHOWN_WEAK = 6, 2
"""Attempts a model is shown at most: successes and failures in turn."""
PROMPT_HASH = prompts.prompt_hash(
    prompts.CONTRAST_SYSTEM,
    prompts.CONTRAST_USER,
    prompts.TIP_SYSTEM,
    prompts.TIP_CONTRAST,
    prompts.TIP_AGAIN,
    prompts.GENERAL_USER,
    prompts.CONTRAST_ATTEMPT,
    prompts.CONTRAST_MIXED,
    prompts.CONTRAST_SUCCESSES,
    prompts.CONTRAST_FAILURES,
)


def create_contrast(
    model: BaseChatModel,
    names: ChannelNames,
    *,
    compares: bool = False,
    max_tokens: int = 900,
    time_limit: float = 120.0,
) -> MemoryNode:
    """Return a node that fills `lessons` with at most five items from all judged rollouts of the task.

    Of a single judged rollout, lessons are distilled as from any attempt: there is nothing to contrast it with. Kept in
    `episodes` are at most six rollouts: the selected one, then successes and failures in turn, one for each answer.

    Args:
        model: the chat model that distils.
        names: the channels of the graph.
        compares: whether a half of the rollouts, drawn beforehand, runs without memory: then `credit` is filled too.
        max_tokens: cap on the tokens of one reply.
        time_limit: seconds one call may take.
    """
    single = LessonExtractor(model, max_tokens=max_tokens, time_limit=time_limit)
    caller, limits = single.caller, single.limits

    def distil(group: Sequence[Judged]) -> Dialogue[Extraction]:
        if not group:
            return Extraction([], "indeterminate")
        if not limits.learns_from([judged.verdict.status for judged in group]):
            return Extraction([], "weak_model")
        return (yield from single.dialogue(group[0]) if len(group) == 1 else contrast(group, limits))

    def extract(state: State, context: Context) -> Update:
        started, group = time.perf_counter(), judged_rollouts(state)
        return update(group, caller.run(distil(group), context.config), context, started)

    async def aextract(state: State, context: Context) -> Update:
        started, group = time.perf_counter(), judged_rollouts(state)
        return update(group, await caller.arun(distil(group), context.config), context, started)

    def update(group: Sequence[Judged], distilled: Extraction, context: Context, started: float) -> Update:
        items, episodes, credit = list[MemoryItem](), list[Episode](), None
        if group:
            origin = group_origin(group, caller.model_name, context)
            items = make_group_items(group, distilled, origin)
            kept = kept_rollouts(group, selected_rollout(context.state))
            episodes = make_episodes(kept, origin, solving_model(context.state, names))
            credit = group_credit(context.state, origin, [*episodes, *items]) if compares else None
        learned = lessons_update(items, episodes, distilled, caller, context, started)
        return {**learned, "credit": credit.to_json() if credit else None}

    return MemoryNode("extract", extract, aextract, names)


def group_credit(state: Mapping[str, Any], origin: Origin, kept: Sequence[Episode | MemoryItem]) -> GroupCredit | None:
    """Return what the rollouts say of the lessons that half of them were shown, if the bank keeps anything of them."""
    ids, credit = credit_of(state, rollouts_of(state))
    if not ids or not kept:
        return None
    return GroupCredit(ids=ids, credit=credit, known_as=kept[0].id, provenance=origin.provenance)


def judged_rollouts(state: Mapping[str, Any]) -> list[Judged]:
    """Return the rollouts with a verdict: failed and indeterminate ones teach nothing."""
    return [judged_rollout(state, rollout) for rollout in rollouts_of(state) if rollout.judged]


def selected_rollout(state: Mapping[str, Any]) -> Judged:
    """Return the rollout whose answer the graph gives."""
    rollouts = {rollout.number: rollout for rollout in rollouts_of(state)}
    return judged_rollout(state, rollouts[state["selection"]["number"]])


def kept_rollouts(group: Sequence[Judged], selected: Judged) -> list[Judged]:
    """Return the rollouts that are kept as episodes: the selected one, then one for each answer and outcome."""
    by_answer: dict[tuple[str, str], tuple[Judged, int]] = {}
    for judged in (selected, *group):
        if judged.verdict.status != "indeterminate":
            by_answer.setdefault((judged.attempt.answer or "", judged.verdict.status), (judged, 1))
    others = [judged for judged, _ in _alternating(list(by_answer.values())) if judged is not selected]
    return [*([selected] if selected.verdict.status != "indeterminate" else []), *others][:SHOWN]


def contrast(group: Sequence[Judged], limits: ModelLimits) -> Dialogue[Extraction]:
    """Ask what sets the attempts apart. Each is shown with its label and the judge's reason; equal ones once."""
    selected = _alternating(_distinct(group))[: SHOWN_WEAK if limits.weak else SHOWN]
    budget = limits.room.trajectory // len(selected)
    statuses = {judged.verdict.status for judged in group}
    questions = {"success": prompts.CONTRAST_SUCCESSES, "failure": prompts.CONTRAST_FAILURES}
    question = (prompts.TIP_CONTRAST if limits.weak else prompts.CONTRAST_USER).format(
        task=task_block(group[0].attempt, limits.room.task),
        attempts="\n\n".join(
            _attempt_block(number, judged, times, budget) for number, (judged, times) in enumerate(selected, 1)
        ),
        question=prompts.CONTRAST_MIXED if len(statuses) > 1 else questions[statuses.pop()],
        max_items=ITEMS_PER_GROUP,
    )
    prompt = [SystemMessage(prompts.TIP_SYSTEM if limits.weak else prompts.CONTRAST_SYSTEM), HumanMessage(question)]
    return ask_lessons([judged.attempt for judged in group], prompt, limits, 1 if limits.weak else ITEMS_PER_GROUP)


def _distinct(group: Sequence[Judged]) -> list[tuple[Judged, int]]:
    found: dict[tuple[str, str], tuple[Judged, int]] = {}
    for judged in group:
        key = (judged.attempt.digest(None), judged.verdict.status)
        first, times = found.get(key, (judged, 0))
        found[key] = (first, times + 1)
    return list(found.values())


def _alternating(distinct: Sequence[tuple[Judged, int]]) -> list[tuple[Judged, int]]:
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


def group_origin(group: Sequence[Judged], model: str, context: Context) -> Origin:
    """Return where the records of a group come from: one experience, known by the content of all rollouts."""
    digests = sorted(judged.attempt.digest(context.thread_id) for judged in group)
    digest = hashlib.sha256("|".join(digests).encode()).hexdigest()[:32]
    used = dict.fromkeys(name for judged in group for name in judged.attempt.shown)
    changed: dict[str, Any] = {"attempt_digest": digest, "memory_ids_used": tuple(used)}
    if len(group) > 1:
        changed["prompt_hash"] = PROMPT_HASH
    origin = origin_of(group[0], model, context)
    return origin._replace(provenance=origin.provenance.model_copy(update=changed))


def make_group_items(group: Sequence[Judged], distilled: Extraction, origin: Origin) -> list[MemoryItem]:
    """Return the lessons as items of one experience."""
    sureness = [judged.verdict.confidence for judged in group if judged.verdict.confidence is not None]
    changed: dict[str, Any] = {"verifier_score": sum(sureness) / len(sureness) if sureness else None}
    if len(group) > 1:
        changed["outcome"] = "contrast"
    return [item.model_copy(update=changed) for item in make_items(group[0], distilled.items, origin)]
