"""What a guard makes of the rows of `baseline` and of an arm with memory: it chooses between them, task by task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reasoningbank_langgraph.bank import task_key_without_secrets
from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.policies.guard import Guard, GuardStatus

_SHARE = 0.5
"""Held out where nothing speaks for harm. An experiment has too few tasks for a test to end, so this part bounds the
loss; a fifth, the guard's default, is for those who already trust their memory."""


def guarded_rows(
    rows: Sequence[ResultRow], problems: Sequence[Problem], seed: int, arm: Arm, *, share: float = _SHARE
) -> Iterator[ResultRow]:
    """Yield the rows a loop with a guard would have had, in order of the problems.

    A guard decides by the problems before, so a row that failed or is missing ends them. Where there was no lesson to
    show, nothing is decided and nothing learned.
    """
    named, guard, status = {row.key: row for row in rows}, Guard(share=share, seed=seed), GuardStatus()
    for problem in problems:
        without, aided = named.get(("baseline", seed, problem.id)), named.get((arm.guards, seed, problem.id))
        if without is None or aided is None or without.error is not None or aided.error is not None:
            return
        row = without
        if aided.memory_length:
            shown = guard.trial(task_key_without_secrets(problem.text), status).withheld is None
            row = aided if shown else without
            status = guard.after(status, shown=shown, right=row.right)
        yield row.model_copy(update={"arm": arm.name})
