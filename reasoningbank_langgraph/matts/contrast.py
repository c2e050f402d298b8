"""The node that distils lessons from what sets the rollouts of one task apart (paper section 4)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.extraction import Extraction, Judged, Origin, make_episodes
from reasoningbank_langgraph.extraction.contrast import (
    CONTRAST_HASH,
    SHOWN,
    GroupExtractor,
    alternating,
    make_group_items,
)
from reasoningbank_langgraph.extraction.results import episode_id
from reasoningbank_langgraph.matts.records import judged_rollout, rollouts_of
from reasoningbank_langgraph.matts.with_and_without import credit_of
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.nodes._defer import Left
from reasoningbank_langgraph.nodes.extract import lessons_update, origin_of, waiting_update
from reasoningbank_langgraph.policies import GroupCredit
from reasoningbank_langgraph.records import Episode, MemoryItem
from reasoningbank_langgraph.state.attempts import solving_model

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from reasoningbank_langgraph.state import ChannelNames


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
    extractor = GroupExtractor(model, max_tokens=max_tokens, time_limit=time_limit)
    caller = extractor.caller

    def extract(state: State, context: Context) -> Update:
        started, group = time.perf_counter(), judged_rollouts(state)
        return update(group, caller.run(extractor.dialogue(group), context.config), context, started)

    async def aextract(state: State, context: Context) -> Update:
        started, group = time.perf_counter(), judged_rollouts(state)
        return update(group, await caller.arun(extractor.dialogue(group), context.config), context, started)

    def update(group: Sequence[Judged], distilled: Extraction, context: Context, started: float) -> Update:
        items, episodes, credit = list[MemoryItem](), list[Episode](), None
        selected, solved_by = selected_rollout(context.state), solving_model(context.state, names)
        origin = group_origin(group or [selected], caller.model_name, context)
        kept = kept_rollouts(group, selected)
        if group:
            items = make_group_items(group, distilled, origin)
            episodes = make_episodes(kept, origin, solved_by)
            ids = [*(episode.id for episode in episodes), *(item.id for item in items)]
            credit = group_credit(context.state, origin, ids) if compares else None
        learned = lessons_update(items, episodes, distilled, caller, context, started)
        waits = waiting_update(kept or [selected], distilled, origin, solved_by, context.state)
        return {**learned, **waits, "credit": credit.to_json() if credit else None}

    return MemoryNode("extract", extract, aextract, names)


def left_by_rollouts(state: State, context: Context, *, compares: bool) -> Left:
    """Return the rollouts of which something can be learned, first the selected one, and where they come from."""
    selected, judged = selected_rollout(state), judged_rollouts(state)
    unjudged = [selected] if selected.verdict.status == "indeterminate" else []
    origin = group_origin([*unjudged, *judged], "", context)
    group = [*unjudged, *kept_rollouts(judged, selected)][:SHOWN]
    known_as = episode_id(origin.provenance.attempt_digest)
    credit = group_credit(state, origin, [known_as]) if compares else None
    return Left(group, origin, {"credit": credit.to_json() if credit else None})


def group_credit(state: Mapping[str, Any], origin: Origin, kept: Sequence[str]) -> GroupCredit | None:
    """Return what the rollouts say of the lessons that half of them were shown, if the bank keeps anything of them.

    Args:
        state: the graph's state.
        origin: where their records come from.
        kept: ids of what the bank keeps.
    """
    ids, credit = credit_of(state, rollouts_of(state))
    if not ids or not kept:
        return None
    return GroupCredit(ids=ids, credit=credit, known_as=kept[0], provenance=origin.provenance)


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
    others = [judged for judged, _ in alternating(list(by_answer.values())) if judged is not selected]
    return [*([selected] if selected.verdict.status != "indeterminate" else []), *others][:SHOWN]


def group_digest(group: Sequence[Judged], thread_id: str | None) -> str:
    """Return the content identity of the rollouts of a task within one thread."""
    digests = sorted(judged.attempt.digest(thread_id) for judged in group)
    return hashlib.sha256("|".join(digests).encode()).hexdigest()[:32]


def group_origin(group: Sequence[Judged], model: str, context: Context) -> Origin:
    """Return where the records of a group come from: one experience, known by the content of all rollouts."""
    digest = group_digest(group, context.thread_id)
    used = dict.fromkeys(name for judged in group for name in judged.attempt.shown)
    changed: dict[str, Any] = {"attempt_digest": digest, "memory_ids_used": tuple(used)}
    if len(group) > 1:
        changed["prompt_hash"] = CONTRAST_HASH
    origin = origin_of(group[0], model, context)
    return origin._replace(provenance=origin.provenance.model_copy(update=changed))
