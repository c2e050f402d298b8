"""Rollouts with memory and without it: which are which, whether those without agree, and how both sides did."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from reasoningbank_langgraph.events import Comparison
from reasoningbank_langgraph.matts.records import Rollout
from reasoningbank_langgraph.matts.scaling import Scaling
from reasoningbank_langgraph.matts.scores import right_rollouts
from reasoningbank_langgraph.matts.votes import count_votes
from reasoningbank_langgraph.policies import Credit
from reasoningbank_langgraph.policies import compare as compare_in_pairs
from reasoningbank_langgraph.records import task_key


def without_memory(task: str, rollouts: int) -> frozenset[int]:
    """Return the numbers of the half that runs without memory: always the same for a task; of an odd number, one more.

    Args:
        task: its text; case and white space make no difference.
        rollouts: how many there are.
    """
    key = task_key(task)
    drawn = sorted(range(rollouts), key=lambda number: hashlib.sha256(f"memory|{number}|{key}".encode()).digest())
    return frozenset(drawn[: (rollouts + 1) // 2])


def agree(rollouts: Sequence[Rollout], scaling: Scaling) -> bool:
    """Say whether the first rollouts, made without memory, settle the answer (`Scaling.agreement`).

    Only answers count, whatever a judge said of them. A rollout that failed, refused or gave no answer agrees with
    none. One answer alone agrees with nothing, nor do as many as there are for another one.
    """
    unjudged = [rollout.model_copy(update={"verdict": None}) for rollout in rollouts[: scaling.first_attempts]]
    groups = count_votes(unjudged)
    most, second = [*(len(group.members) for group in groups[:2]), 0, 0][:2]
    return most > max(second, 1) and most / scaling.first_attempts >= scaling.agreement


def compare(state: Mapping[str, Any], rollouts: Sequence[Rollout]) -> Comparison | None:
    """Return how the rollouts did that were shown lessons and those that were not; None unless both were judged.

    The reference decides where it is known, else the verdict. A rollout that failed is on neither side.
    """
    right, wrong = _right_and_wrong(state, rollouts)
    shown = {rollout.number for rollout in rollouts if rollout.shown}
    judged = right | wrong
    if not judged & shown or not judged - shown:
        return None
    return Comparison(
        ids=sorted({name for rollout in rollouts for name in rollout.shown}),
        right_with=len(right & shown),
        wrong_with=len(wrong & shown),
        right_without=len(right - shown),
        wrong_without=len(wrong - shown),
    )


def credit_of(state: Mapping[str, Any], rollouts: Sequence[Rollout]) -> tuple[tuple[str, ...], Credit]:
    """Return the lessons that some rollouts were shown, and what the others say of them, in pairs by their numbers.

    Which see the memory has to be drawn beforehand, as with `memory="half"`: those that see it because others disagreed
    would be compared with the worst.
    """
    right, wrong = _right_and_wrong(state, rollouts)
    judged = [rollout for rollout in rollouts if rollout.number in right | wrong]
    shown = [rollout.number in right for rollout in judged if rollout.shown]
    unaided = [rollout.number in right for rollout in judged if not rollout.shown]
    ids = dict.fromkeys(name for rollout in rollouts for name in rollout.shown)
    return tuple(ids), compare_in_pairs(shown, unaided)


def _right_and_wrong(state: Mapping[str, Any], rollouts: Sequence[Rollout]) -> tuple[frozenset[int], frozenset[int]]:
    ended = frozenset(rollout.number for rollout in rollouts if rollout.error is None)
    if state["attempt"]["reference"] is not None:
        right = right_rollouts(state, rollouts)
        return right, ended - right
    status = {rollout.number: rollout.verdict.status for rollout in rollouts if rollout.verdict}
    right = frozenset(number for number in ended if status.get(number) == "success")
    return right, frozenset(number for number in ended if status.get(number) == "failure")
