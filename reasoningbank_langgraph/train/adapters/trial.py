"""An adapter on problems beside its base, and beside the adapter in use, with one server at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph.errors import AdapterError, TrialError
from reasoningbank_langgraph.experiments.calls import measured, side_by_side
from reasoningbank_langgraph.experiments.solving import is_right
from reasoningbank_langgraph.experiments.stats import Interval, mcnemar_p, mean_difference, pair
from reasoningbank_langgraph.local import start_local_model
from reasoningbank_langgraph.local.adapters import RivalComparison
from reasoningbank_langgraph.local.tuned import digest, read_tuned
from reasoningbank_langgraph.math_solver import solve_prompt, solve_step
from reasoningbank_langgraph.prompts import prompt_hash
from reasoningbank_langgraph.train.adapters.outcomes import Outcomes
from reasoningbank_langgraph.train.card import Card

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable

    from reasoningbank_langgraph.math_solver.problems import Problem


class Contender(NamedTuple):
    """A finished adapter."""

    folder: Path
    card: Card
    weights: Path
    sha256: str


class Rival(NamedTuple):
    """The adapter in use."""

    name: str
    weights: Path
    sha256: str


class TrialProgress(NamedTuple):
    """How far a trial is."""

    done: int
    """Solutions that were made."""
    total: int
    """Solutions that were missing when it began."""


class _Job(NamedTuple):
    weights: str
    task: str
    problem: Problem


def read_contender(folder: Path) -> Contender:
    """Return the adapter in a folder.

    Raises:
        AdapterError: it is not finished, or its weights are gone.
    """
    card = Card.read(folder)
    if card is None:
        way_out = f"`reasoningbank tune --out {folder}` makes one, or finishes it"
        raise AdapterError(f"{folder} holds no finished adapter: {way_out}")
    weights = folder / card.adapter
    if not weights.is_file():
        raise AdapterError(f"{weights} is gone: bring it back, or delete {folder} and tune it again")
    return Contender(folder, card, weights, digest(weights))


def asked_as(max_tokens: int) -> str:
    """Name the prompt of the bundled solver without memory, and the token limit of a solution."""
    return prompt_hash(*(message.text for message in solve_prompt({"task": "{task}"})), str(max_tokens))


def require_enough(problems: int, level: float) -> None:
    """Raise `TrialError` where no outcome on so many problems could show that an adapter is better."""
    if mcnemar_p(problems, 0) > level:
        least = next(number for number in range(problems, 10_000) if mcnemar_p(number, 0) <= level)
        raise TrialError(f"{problems} problems can show nothing at a level of {level:g}: {least} or more are needed")


def answer_missing(
    contender: Contender,
    rival: Rival | None,
    problems: Mapping[str, Problem],
    outcomes: Outcomes,
    max_tokens: int,
    progress: Callable[[TrialProgress], None] | None,
) -> None:
    """Note what the adapter, its base and the adapter in use make of each problem, where that is not known yet.

    Raises:
        TrialError: a solution failed; those that were made are kept.
    """
    sides = [(contender.weights, {contender.card.base_sha256: False, contender.sha256: True})]
    if rival is not None:
        sides.append((rival.weights, {rival.sha256: True}))
    servers = [(adapter, adapted, _missing(adapted, problems, outcomes)) for adapter, adapted in sides]
    total, failures, done = sum(len(jobs) for *_, jobs in servers), list[str](), list[_Job]()
    base = read_tuned(contender.folder).base

    def finish(job: _Job, step: Runnable[Any, Any]) -> None:
        if failure := _solve(job, step, outcomes):
            failures.append(failure)
        done.append(job)
        if progress is not None:
            progress(TrialProgress(len(done), total))

    for adapter, adapted, jobs in servers:
        if jobs:
            _serve(base, adapter, adapted, jobs, max_tokens, finish)
    if failures:
        problem = f"{len(failures)} of {total} solutions failed ({failures[0][:300]})"
        raise TrialError(f"{problem}: run the same command again to try these, or leave their problems out")


def compared(outcomes: Outcomes, contender: Contender, name: str, sha256: str) -> RivalComparison:
    """Compare an adapter with a rival, on all problems of the adapter's trials that both answered."""
    own, rival = outcomes.of(contender.sha256), outcomes.of(sha256)
    paired = pair(rival, own)
    both = own.keys() & rival.keys()
    return RivalComparison(
        rival=name,
        rival_sha256=sha256,
        problems=paired.pairs,
        right=sum(own[key] for key in both),
        rival_right=sum(rival[key] for key in both),
        fixed=len(paired.fixed),
        broken=len(paired.broken),
        p=mcnemar_p(len(paired.fixed), len(paired.broken)),
    )


def difference(one: RivalComparison) -> Interval:
    """Return how much more an adapter gets right than its rival, 0..1, with the 95 % interval of Agresti and Min."""
    ties = one.problems - one.fixed - one.broken
    found = mean_difference([1.0] * one.fixed + [-1.0] * one.broken + [0.0] * ties)
    assert found is not None  # noqa: S101 - a trial has problems
    return found


def _missing(adapted: Mapping[str, bool], problems: Mapping[str, Problem], outcomes: Outcomes) -> list[_Job]:
    """Problem by problem, both sides of each, so that a trial that is stopped leaves pairs."""
    every = (_Job(weights, task, problem) for task, problem in problems.items() for weights in adapted)
    return [job for job in every if not outcomes.has(job.weights, job.task)]


def _serve(
    base: Path,
    adapter: Path,
    adapted: Mapping[str, bool],
    jobs: list[_Job],
    max_tokens: int,
    finish: Callable[[_Job, Runnable[Any, Any]], None],
) -> None:
    with start_local_model(base, adapter=adapter) as server:
        steps = {name: solve_step(server.chat_model(adapted=with_it), max_tokens) for name, with_it in adapted.items()}
        side_by_side(lambda job: finish(job, steps[job.weights]), jobs, server.slots)


def _solve(job: _Job, step: Runnable[Any, Any], outcomes: Outcomes) -> str:
    """Note the outcome of one problem; return why there is none, "" if there is."""
    reply, usage = measured(lambda: str(step.invoke({"task": job.problem.text})["answer"]))
    if reply is None:
        return f"{job.problem.id}: {usage.error}"
    right = is_right(job.problem, reply)
    outcomes.note(weights=job.weights, task=job.task, id=job.problem.id, right=right, tokens=usage.tokens_out)
    return ""
