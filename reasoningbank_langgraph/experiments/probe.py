"""A probe: which form of memory helps a model on a file of problems, if any, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

from reasoningbank_langgraph.bank import Show
from reasoningbank_langgraph.errors import ExperimentError
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.folder import read_problem_sets
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.experiments.summary import Comparison, Summary
from reasoningbank_langgraph.experiments.wording import capital, claim, points_interval, power
from reasoningbank_langgraph.math_solver.problems import read_problems
from reasoningbank_langgraph.records import Record

SHOWN = {
    "baseline": "nothing",
    "long": "a rule to write every step",
    "filler": "text about nothing",
    "random": "random lessons",
    "memory": "lessons",
    "examples-random": "a random example",
    "examples": "an example",
}
"""What each arm of a probe shows, in their order."""
RECURRING = {"examples-random": "recurring-random", "examples": "recurring"}
"""The arms that take their place where near copies of a problem may be shown."""
LEAST, MOST = 20, 100
"""Problems that are compared on."""
_LEARNED = 60
_FORMS: dict[str, Show] = {"memory": "lessons", "examples": "examples", "recurring": "examples"}
_TEXTS = ("filler", "random", "examples-random", "recurring-random")
Use = Literal["lessons", "examples", "rule", "gate", "guard"]
"""`lessons`, `examples`: show them; `rule`: no memory, a rule in the prompt; `gate`: show a memory only where attempts
without one disagree; `guard`: let a guard find out."""


class Advice(Record):
    """What to do, why, and the Python that does it."""

    use: Use
    reason: str
    python: str


def what_is_shown(arm: str) -> str:
    """Return what an arm of a probe shows, in words."""
    return SHOWN[next((plain for plain, name in RECURRING.items() if name == arm), arm)]


def probe_config(
    file: Path, *, limit: int = MOST, learn: int | None = None, recurring: bool = False, **settings: Any
) -> ExperimentConfig:
    """Return the experiment of a probe: the first problems of a file are learned from, the others compared on.

    Args:
        file: the problems.
        limit: the most problems to compare on.
        learn: problems to learn from; by default a third of the file, and at most 60. None are with a `bank`.
        recurring: whether examples may be near copies of a problem, as where tasks come again.
        settings: further settings of the experiment.

    Raises:
        ProblemFileError: the file cannot be read.
        ExperimentError: fewer than 20 problems are left to compare on, or one of them has no answer.
    """
    arms = tuple(RECURRING.get(arm, arm) if recurring else arm for arm in SHOWN)
    given: dict[str, Any] = {"protocol": "phase1", "test": file, "limit": limit, "arms": arms, **settings}
    if given.get("bank") is None:
        given |= {"train": file, "train_limit": learn or max(1, min(_LEARNED, len(read_problems(file)) // 3))}
    config = ExperimentConfig(**given)
    problems = read_problem_sets(config)
    if len(problems.test) < LEAST:
        learned = f"{len(problems.train)} problems of {file} are learned from and {len(problems.test)} others are left"
        raise ExperimentError(f"{learned}: a probe compares on {LEAST} or more, so add problems or learn from fewer")
    return config


def reply_lengths(rows: Sequence[ResultRow]) -> dict[str, float]:
    """Return the mean length of the replies of each arm of a probe, in characters."""
    arms = [*SHOWN, *RECURRING.values()]
    by_arm = {arm: [row.reply_length for row in rows if row.arm == arm and row.error is None] for arm in arms}
    return {arm: fmean(lengths) for arm, lengths in by_arm.items() if lengths}


def advise(summary: Summary, lengths: Mapping[str, float]) -> Advice:
    """Return what a probe found to be best, with its reason.

    Args:
        summary: of the probe.
        lengths: of the replies, by arm, as `reply_lengths` counts them.
    """
    found = _Found.of(summary.comparisons)
    gained = [one for one in (*found.forms, *found.rule) if one.shown and one.is_better]
    lost = [one for one in (*found.forms, *found.texts) if one.shown and not one.is_better]
    if gained:
        return _gain(max(gained, key=_points), summary)
    if not lost:
        return _nothing(found)
    if {one.arm for one in lost} & {*_TEXTS} or not found.unharmed:
        return _gate(found, lost, lengths)
    return _one_form(found, lost)


class _Found(NamedTuple):
    """The comparisons with nothing."""

    forms: list[Comparison]
    """Of lessons and of examples."""
    texts: list[Comparison]
    """Of other text in their place."""
    rule: list[Comparison]

    @classmethod
    def of(cls, comparisons: Sequence[Comparison]) -> _Found:
        by_arm = {one.arm: one for one in comparisons if one.against == "baseline" and one.difference is not None}
        return cls(*([by_arm[name] for name in names if name in by_arm] for names in (_FORMS, _TEXTS, ("long",))))

    @property
    def unharmed(self) -> list[Comparison]:
        return [one for one in self.forms if not one.shown or one.is_better]

    @property
    def best(self) -> Comparison:
        """The form with the best difference."""
        return max(self.forms, key=_points)


def _points(comparison: Comparison) -> float:
    return comparison.difference.value if comparison.difference else 0.0


def _sentences(comparisons: Sequence[Comparison]) -> str:
    return " ".join(capital(claim(one)) for one in comparisons)


def _cost(comparison: Comparison) -> str:
    difference = points_interval(comparison.difference) if comparison.difference else ""
    return f"{what_is_shown(comparison.arm)}: {difference}"


def _gain(winner: Comparison, summary: Summary) -> Advice:
    controls = [one for one in summary.comparisons if (one.group, one.arm) == ("control", winner.arm)]
    reason = _sentences([winner, *controls])
    if winner.arm == "long":
        return Advice(use="rule", reason=f"{reason} It needs no memory.", python=_RULE)
    form = _FORMS[winner.arm]
    return Advice(use="lessons" if form == "lessons" else "examples", reason=reason, python=_SHOW.format(form))


def _gate(found: _Found, lost: Sequence[Comparison], lengths: Mapping[str, float]) -> Advice:
    lower = [one.arm for one in lost if lengths[one.arm] < lengths["baseline"]]
    shorter = [f"{lengths[arm]:,.0f} after {what_is_shown(arm)}" for arm in lower]
    replies = f" Its replies get shorter: {lengths['baseline']:,.0f} characters after nothing, {', '.join(shorter)}."
    what = "any text before the task" if {one.arm for one in lost} & {*_TEXTS} else "lessons and with an example alike"
    reason = (
        f"This model loses with {what}: use the gate. {capital('; '.join(map(_cost, lost)))}."
        f"{replies if shorter else ''} The gate solves without memory first, and shows it only where answers disagree."
    )
    return Advice(use="gate", reason=reason, python=_GATED.format(_FORMS[found.best.arm]))


def _one_form(found: _Found, lost: Sequence[Comparison]) -> Advice:
    other = found.unharmed[0]
    reason = (
        f"{_sentences(lost)} Other text in its place was not shown to cost anything, so it is what it says. "
        f"{_sentences([other])} Show {_FORMS[other.arm]}, with a guard that switches them off where they hurt."
    )
    return Advice(use="guard", reason=reason, python=_SHOW.format(_FORMS[other.arm]))


def _nothing(found: _Found) -> Advice:
    reason = (
        f"No text before the task was shown to change anything. {power(found.best)} A guard finds out on your own "
        "tasks, and switches memory off where it hurts."
    )
    return Advice(use="guard", reason=reason, python=_SHOW.format(_FORMS[found.best.arm]))


_SHOW = """\
from reasoningbank_langgraph import Guard, create_reasoning_bank

graph = create_reasoning_bank(solver, model=model, show="{}", guard=Guard())"""
_GATED = """\
from reasoningbank_langgraph import Scaling, create_reasoning_bank

gate = Scaling(k=3, memory="on_disagreement")
graph = create_reasoning_bank(solver, model=model, show="{}", scaling=gate)"""
_RULE = """\
from reasoningbank_langgraph.prompts import EVERY_STEP

rules = f"{rules} {EVERY_STEP}"  # in your prompt"""
