"""The best of the rollouts: what a verifier accepts, else what most of them answer, else what a model chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph.chat.model_caller import ModelCaller
from reasoningbank_langgraph.chat.threads import in_own_thread
from reasoningbank_langgraph.events import SelectedBy
from reasoningbank_langgraph.math_answers import final_answer, is_refusal
from reasoningbank_langgraph.matts.comparison import Opinion, ask_best
from reasoningbank_langgraph.matts.records import Rollout, attempt_of_rollout, judged_rollout
from reasoningbank_langgraph.matts.scaling import Choose, Scaling
from reasoningbank_langgraph.matts.votes import group_answers

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

SHOWN = 6
"""Attempts a model is asked to compare at most."""


class Selection(NamedTuple):
    """Which rollout was selected, by what, and why."""

    number: int
    by: SelectedBy
    why: str


def by_rank(rollout: Rollout) -> tuple[int, float, int]:
    """Sort key: judged a success first, then the surer verdict, then the lower number."""
    verdict = rollout.verdict
    status = verdict.status if verdict else "indeterminate"
    sureness = (verdict.confidence or 0.0) if verdict and status == "success" else 0.0
    return ({"success": 0, "indeterminate": 1, "failure": 2}[status], -sureness, rollout.number)


def without_reference_verdicts(rollouts: Sequence[Rollout]) -> list[Rollout]:
    """Return the rollouts without what a look at the reference said of them, for a choice that owes it nothing."""
    return [
        rollout.model_copy(update={"verdict": None}) if judged_by_reference(rollout) else rollout
        for rollout in rollouts
    ]


def judged_by_reference(rollout: Rollout) -> bool:
    """Say whether the verdict is a comparison with the right answer."""
    return rollout.verdict is not None and rollout.verdict.judge == "reference"


def without_reference(start: object, rollouts: Sequence[Rollout]) -> Sequence[Rollout]:
    """Return the rollouts as a selection sees them that starts there: only a verifier's looks at the reference."""
    return rollouts if start == "verifier" else without_reference_verdicts(rollouts)


def settle(rollouts: Sequence[Rollout], start: str, verifiers: frozenset[str]) -> Selection | list[Rollout]:
    """Return the choice that needs no model, or the rollouts a model should choose from.

    Args:
        rollouts: those that ended without an error.
        start: `verifier`, `majority` or `model`.
        verifiers: judges whose verdict is proof.
    """
    if len(rollouts) == 1:
        return Selection(rollouts[0].number, "only", "no other rollout came to an end")
    pool = sorted(rollouts, key=by_rank)
    if start == "verifier":
        proven = [rollout for rollout in pool if _proven(rollout, "success", verifiers)]
        if proven:
            return Selection(proven[0].number, "verifier", _accepted(proven))
    groups = group_answers(pool)
    if start != "model" and groups:
        votes = len(groups[0].members)
        leading = [group for group in groups if len(group.members) == votes]
        if len(leading) == 1:
            answered = sum(len(group.members) for group in groups)
            best = min(groups[0].members, key=by_rank)
            why = f"{votes} of {answered} answers that have a vote are {groups[0].answer!r:.80}"
            return Selection(best.number, "majority", why)
        groups = leading
    if not groups and any(is_refusal(final_answer(rollout.answer) or "") for rollout in pool):
        return conclude(pool, Opinion(None, "no rollout gives an answer: those that say anything refuse"))
    # Of equivalent answers one is shown; those without an answer only where no rollout has one.
    return sorted((min(group.members, key=by_rank) for group in groups), key=by_rank)[:SHOWN] or pool[:SHOWN]


def _proven(rollout: Rollout, status: str, verifiers: frozenset[str]) -> bool:
    return bool(rollout.verdict and rollout.verdict.status == status and rollout.verdict.judge in verifiers)


def _accepted(proven: Sequence[Rollout]) -> str:
    numbers = ", ".join(str(number) for number in sorted(rollout.number for rollout in proven))
    judge = proven[0].verdict.judge if proven[0].verdict else ""
    return f"the verifier {judge!r} accepted rollouts {numbers}"


class RolloutSelector:
    """Selects one rollout, sync and async.

    Args:
        scaling: where selection starts, and who counts as a verifier.
        caller: carries the question to a model; None where there is none.
    """

    def __init__(self, scaling: Scaling, caller: ModelCaller | None) -> None:
        self.start, self.verifiers, self.caller = scaling.select, frozenset(scaling.verifiers), caller

    def choose(
        self, state: Mapping[str, Any], rollouts: Sequence[Rollout], start: str, config: RunnableConfig
    ) -> Selection:
        """Return the choice, starting at `start`."""
        settled = settle(without_reference(start, rollouts), start, self.verifiers)
        if isinstance(settled, Selection):
            return settled
        if self.caller is None or len(settled) == 1:
            return conclude(settled, None)
        dialogue = ask_best([attempt_of_rollout(state, rollout) for rollout in settled])
        return conclude(settled, self.caller.run(dialogue, config))

    async def achoose(
        self, state: Mapping[str, Any], rollouts: Sequence[Rollout], start: str, config: RunnableConfig
    ) -> Selection:
        """Async form of `choose`: answers are compared with each other, which may take a while, in a thread."""
        settled = await in_own_thread(
            "select", partial(settle, without_reference(start, rollouts), start, self.verifiers)
        )
        if isinstance(settled, Selection):
            return settled
        if self.caller is None or len(settled) == 1:
            return conclude(settled, None)
        dialogue = ask_best([attempt_of_rollout(state, rollout) for rollout in settled])
        return conclude(settled, await self.caller.arun(dialogue, config))


def conclude(pool: Sequence[Rollout], opinion: Opinion | None) -> Selection:
    """Return what the model chose; where it chose nothing, the rollout the judge liked best, else the first."""
    if opinion is not None and opinion.chosen is not None:
        return Selection(pool[opinion.chosen].number, "model", opinion.why)
    best = min(pool, key=by_rank)
    why = opinion.why if opinion else "no answer has more votes than the others"
    if best.verdict and best.verdict.status == "success":
        return Selection(best.number, "judge", f"{why}; the judge takes it for a success")
    return Selection(best.number, "first", f"{why}; it is the first")


def chosen_by_function(choose: Choose, state: Mapping[str, Any], rollouts: Sequence[Rollout]) -> Selection:
    """Return the choice of a function of the user's own. Raises `ValueError` where it is no index of a rollout."""
    name = getattr(choose, "__name__", "select")
    index = choose([judged_rollout(state, rollout) for rollout in rollouts])
    if not hasattr(index, "__index__") or not 0 <= index < len(rollouts):
        raise ValueError(
            f"{name} chose {index!r}: return the index of one of the {len(rollouts)} rollouts it was given"
        )
    return Selection(rollouts[int(index)].number, "function", name)
