"""What one run says about more and less scaling. Only where the right answer is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reasoningbank_langgraph.judges import ReferenceJudge
from reasoningbank_langgraph.matts.records import Rollout, attempt_of_rollout
from reasoningbank_langgraph.matts.selectors import without_reference_verdicts
from reasoningbank_langgraph.matts.votes import group_answers


def right_rollouts(state: Mapping[str, Any], rollouts: Sequence[Rollout]) -> frozenset[int]:
    """Return the numbers of the rollouts whose answer is the reference, by the judge that compared, else as math."""
    return frozenset(rollout.number for rollout in rollouts if _is_right(state, rollout))


def _is_right(state: Mapping[str, Any], rollout: Rollout) -> bool:
    if rollout.error:
        return False
    if rollout.verdict and rollout.verdict.judge == "reference":
        return rollout.verdict.status == "success"
    return ReferenceJudge().invoke(attempt_of_rollout(state, rollout)).status == "success"


def score(rollouts: Sequence[Rollout], right: frozenset[int], best: int) -> dict[str, Any]:
    """Return the scores of one task; a failed rollout counts as wrong.

    Args:
        rollouts: all that were run.
        right: numbers of those with the right answer.
        best: number of the one that is selected without a look at the reference.

    Returns:
        `rollouts` and `right` (counts); `pass_at_1`, the share that is right; `pass_at_k`, whether any is;
        `majority_at_k`, whether the answer with the most votes is (of several, the one first given); `best_of_k`,
        whether `best` is.
    """
    groups = group_answers(without_reference_verdicts(rollouts))
    return {
        "rollouts": len(rollouts),
        "right": len(right),
        "pass_at_1": len(right) / len(rollouts),
        "pass_at_k": bool(right),
        "majority_at_k": bool(groups) and groups[0].members[0].number in right,
        "best_of_k": best in right,
    }
