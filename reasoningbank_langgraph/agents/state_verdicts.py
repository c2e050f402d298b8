"""A verdict from an agent's state at the end of a turn, for example the status of a rubric of deepagents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reasoningbank_langgraph.chat.outages import Outages
from reasoningbank_langgraph.chat.threads import is_plain
from reasoningbank_langgraph.errors import JudgeError
from reasoningbank_langgraph.judges.base import Decision, as_verdict, verdict_on_error
from reasoningbank_langgraph.records import Verdict

StateCheck = Callable[[Mapping[str, Any]], "Decision | None"]
"""From an agent's state at the end of a turn to a verdict, or True for success and False for failure; None for no
opinion."""


class StateJudge:
    """Judges a turn by what the agent's state holds at its end, or leaves it to another judge.

    Args:
        check: what the state says of the turn.

    Raises:
        TypeError: it is not a plain function (here), or returns something else (`JudgeError`, when called).
    """

    def __init__(self, check: StateCheck) -> None:
        if not is_plain(check):
            raise TypeError(f"verdict_from must be a plain function of the agent's state, got {check!r}")
        self._check, self._outages = check, Outages()

    def __call__(self, state: Mapping[str, Any]) -> Verdict | None:
        """Return the verdict; None where the state decides nothing, or the check failed, which is logged."""
        try:
            decision = self._check(state)
            verdict = None if decision is None else as_verdict("state", decision)
        except Exception as error:  # noqa: BLE001 - sorted out there
            verdict = verdict_on_error("state", error, self._outages)
        return None if verdict is None or verdict.status == "indeterminate" else verdict


def rubric_verdict(state: Mapping[str, Any]) -> Verdict | None:
    """Return what the rubric of deepagents' `RubricMiddleware` says of a turn, for `verdict_from`.

    `satisfied` is a success, and what is still not satisfied after the last iteration a failure, with what the grader
    found missing as its rationale. There is no opinion without a rubric, nor where the grader failed, could not
    evaluate the rubric, or left out criteria.

    Args:
        state: the agent's state after `RubricMiddleware`, which comes after `ReasoningBankMiddleware` in the list:
            LangChain runs what follows a turn from the last middleware to the first.

    Raises:
        JudgeError: the turn has not been graded yet, as the two stand in the other order.
    """
    if not state.get("rubric"):
        return None
    status = state.get("_rubric_status")
    if status in (None, "needs_revision"):
        raise JudgeError(
            f"the rubric has not graded this turn (status {status!r}): in the list of middlewares put "
            "ReasoningBankMiddleware before RubricMiddleware"
        )
    graded = (state.get("_rubric_evaluations") or [{}])[-1]
    if status not in ("satisfied", "max_iterations_reached") or graded.get("unverified"):
        return None
    verdict = as_verdict("rubric", status == "satisfied")
    return verdict.model_copy(update={"rationale": _rationale(graded)})


def _rationale(graded: Mapping[str, Any]) -> str:
    gaps = [f"- {one['name']}: {one['gap']}" for one in graded.get("criteria", ()) if not one["passed"]]
    return "\n".join([str(graded.get("explanation", "")), *gaps])
