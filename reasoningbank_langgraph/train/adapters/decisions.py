"""Accept an adapter if it is better, reject it, or go back to what was in use before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reasoningbank_langgraph.errors import AdapterError
from reasoningbank_langgraph.experiments.folder import alone_in
from reasoningbank_langgraph.files import append_line
from reasoningbank_langgraph.local.adapters import (
    HISTORY,
    AdapterTrial,
    Decision,
    accepted,
    adapter_in_use,
    read_history,
    require_adapters,
)
from reasoningbank_langgraph.train.adapters.outcomes import Outcomes
from reasoningbank_langgraph.train.adapters.trial import (
    Contender,
    Rival,
    TrialProgress,
    answer_missing,
    asked_as,
    compared,
    read_contender,
    require_enough,
)
from reasoningbank_langgraph.train.adapters.validation import clear_problems


def accept(
    folder: str | Path,
    problems: str | Path,
    *,
    alpha: float = 0.05,
    max_tokens: int = 512,
    progress: Callable[[TrialProgress], None] | None = None,
) -> Decision:
    """Try an adapter on problems with known answers, and have it used only if it is better than what it replaces.

    The adapter, its base and, where another adapter of the folder is in use, that one too solve each problem once, as
    the bundled math solver asks without memory, at temperature 0. The adapter is accepted if it is better than each of
    them by McNemar's exact test. Problems that it knows from its data are left out: equal texts, near copies, and those
    whose answer a solution there states.

    A call that was killed is taken up by the next one like it. What base and adapter in use made of a problem is known
    to the next trial in the folder. A further trial on other problems counts all problems so far, at half the level of
    the one before, and so does one with corrected answers or another token limit: an adapter that is not better is
    accepted with a chance of at most `alpha`, however often it is tried.

    Args:
        folder: of the adapter; beside it lie others of its base, and the file of all decisions.
        problems: JSONL with `problem` and `answer`, and `id` where known.
        alpha: what the two-sided p of the test is held against.
        max_tokens: cap on the tokens of a solution.
        progress: called with a `TrialProgress` after each solution.

    Returns:
        What was decided: `accepted` or `not better`. For the adapter that is in use, how it was accepted.

    Raises:
        AdapterError: the adapter is not finished, was rejected, has another base than the one in use, or a trial of it
            is at work.
        TrialError: the problems cannot decide, or solutions failed.
        ProblemFileError: the file cannot be read.
        ModelUnavailableError: its base is gone, is another file by now, or is no GGUF file.
        ModelServerError: the server did not start.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha!r}")
    contender = read_contender(_absolute(folder))
    with alone_in(contender.folder, AdapterError):
        history = read_history(contender.folder.parent)
        in_use = _in_use(history, contender)
        if in_use is not None and in_use.sha256 == contender.sha256:
            return in_use
        trial = _try(contender, in_use, history, Path(problems), alpha, max_tokens, progress)
        return _decide(contender, in_use, trial)


def reject(folder: str | Path, reason: str) -> Decision:
    """Decide that an adapter is never used; if it is in use, what was in use before is used again.

    Args:
        folder: of the adapter.
        reason: why, for those who read the history.

    Raises:
        AdapterError: there is no such adapter, or another decision is taken at this moment.
    """
    path = _absolute(folder)
    require_adapters(path.parent)
    with alone_in(path.parent, AdapterError):
        known = [one for one in read_history(path.parent) if one.adapter == path.name]
        try:
            contender = read_contender(path)
            told: dict[str, Any] = {"sha256": contender.sha256, "base_sha256": contender.card.base_sha256}
        except AdapterError:  # it or its weights are gone
            if not known:
                raise
            told = known[-1].model_dump(include={"sha256", "base_sha256"})
        return _write(path.parent, Decision(adapter=path.name, outcome="rejected", reason=reason, **told))


def rollback(folder: str | Path, reason: str = "") -> Decision:
    """Take the adapter in use out of use: the one before it is used again, or the base where there is none.

    Args:
        folder: of the adapters.
        reason: why, for those who read the history.

    Returns:
        What was decided, on the adapter that was in use.

    Raises:
        AdapterError: it is no folder of adapters, no adapter is in use, or another decision is taken at this moment.
    """
    path = _absolute(folder)
    require_adapters(path)
    with alone_in(path, AdapterError):
        standing = accepted(read_history(path))
        if not standing:
            raise AdapterError(f"no adapter of {path} is in use: there is nothing to go back from, the base is used")
        told = standing[-1].model_dump(include={"adapter", "sha256", "base_sha256"})
        return _write(path, Decision(outcome="rolled back", reason=reason, **told))


def _absolute(folder: str | Path) -> Path:
    """Return a path whose last part is the name of the folder, also for `.`."""
    return Path(folder).expanduser().resolve()


def _in_use(history: Sequence[Decision], contender: Contender) -> Decision | None:
    """Return how the adapter in use was accepted. Raises `AdapterError` where this one cannot take its place."""
    for one in history:
        if one.outcome == "rejected" and one.sha256 == contender.sha256:
            raise AdapterError(f"{contender.folder} was rejected on {one.at:%Y-%m-%d} ({one.reason}): tune another one")
    in_use = next(reversed(accepted(history)), None)
    if in_use is not None and in_use.base_sha256 != contender.card.base_sha256:
        problem = f"has another base than {in_use.adapter}, which is in use beside it"
        raise AdapterError(f"{contender.folder} {problem}: move it to a folder of its own")
    return in_use


def _tried_on(history: Sequence[Decision], contender: Contender) -> set[str]:
    """Return the sets of problems that decided on these weights before."""
    return {one.trial.problems_sha256 for one in history if one.trial and one.sha256 == contender.sha256}


def _rival(in_use: Decision | None, adapters: Path) -> Rival | None:
    if in_use is None:
        return None
    weights = adapter_in_use(adapters).adapter
    assert weights is not None  # noqa: S101 - one is in use
    return Rival(in_use.adapter, weights, in_use.sha256)


def _try(
    contender: Contender,
    in_use: Decision | None,
    history: Sequence[Decision],
    problems: Path,
    alpha: float,
    max_tokens: int,
    progress: Callable[[TrialProgress], None] | None,
) -> AdapterTrial:
    """Have the adapter and its rivals answer what they did not answer yet, and compare them on all of it."""
    rival = _rival(in_use, contender.folder.parent)
    validation = clear_problems(problems, contender.card)
    outcomes = Outcomes(contender.folder, asked_as(max_tokens), validation.problems, validation.known)
    level = alpha / 2 ** len(_tried_on(history, contender) - {outcomes.digest})
    require_enough(len(outcomes.tasks), level)
    answer_missing(contender, rival, validation.problems, outcomes, max_tokens, progress)
    against = {contender.card.base_sha256: "", **({rival.sha256: rival.name} if rival else {})}
    return AdapterTrial(
        problems=problems.name,
        problems_sha256=outcomes.digest,
        comparisons=tuple(compared(outcomes, contender, name, sha256) for sha256, name in against.items()),
        left_out=validation.left_out,
        unchecked=validation.unchecked,
        alpha=alpha,
        level=level,
    )


def _decide(contender: Contender, in_use: Decision | None, trial: AdapterTrial) -> Decision:
    """Write what a trial decides, unless another adapter came into use, or went, while it was at work."""
    adapters = contender.folder.parent
    with alone_in(adapters, AdapterError):
        if next(reversed(accepted(read_history(adapters))), None) != in_use:
            raise AdapterError(f"what is in use in {adapters} changed meanwhile: run the same command again")
        decision = Decision(
            adapter=contender.folder.name,
            sha256=contender.sha256,
            base_sha256=contender.card.base_sha256,
            outcome="accepted" if trial.is_better else "not better",
            trial=trial,
        )
        return _write(adapters, decision)


def _write(adapters: Path, decision: Decision) -> Decision:
    append_line(adapters / HISTORY, decision.to_json())
    return decision
