"""From a bank and from runs of experiments to the files of a harvest."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from reasoningbank_langgraph.errors import HarvestError
from reasoningbank_langgraph.math_solver import solve_prompt
from reasoningbank_langgraph.messages import to_messages
from reasoningbank_langgraph.prompts import prompt_hash
from reasoningbank_langgraph.train.harvest.card import Harvest
from reasoningbank_langgraph.train.harvest.examples import (
    MISSED_FIRST,
    best,
    is_bare,
    judged_both_ways,
    missed_first,
    pairs,
    unfit,
)
from reasoningbank_langgraph.train.harvest.fed import Taint
from reasoningbank_langgraph.train.harvest.folder import PREFERENCES, VALIDATION_PREFERENCES, Row, check_free, write
from reasoningbank_langgraph.train.harvest.held_out import HeldOut
from reasoningbank_langgraph.train.harvest.solutions import (
    CHECKS,
    Solution,
    is_checked,
    named_runs,
    of_bank,
    of_run,
    tenant_of,
)
from reasoningbank_langgraph.train.harvest.split import held_back
from reasoningbank_langgraph.train.rows import TRAIN, VALIDATION

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from reasoningbank_langgraph.bank.reading import BankReader

Prompt = Callable[[str], Sequence[Any]]
"""From a task to the messages that a solver sends for it without memory, in any form that LangChain takes."""
Messages = list[dict[str, str]]


def harvest(
    path: str | os.PathLike[str],
    bank: BankReader | None = None,
    outcome: Literal["success", "failure"] = "success",
    *,
    runs: Iterable[str | os.PathLike[str]] = (),
    arms: Sequence[str] = (),
    judges: Sequence[str] = CHECKS,
    not_in: Iterable[str | os.PathLike[str]] = (),
    samples: int = 4,
    validation: float = 0.1,
    prompt: Prompt | None = None,
    embeddings: Embeddings | None = None,
) -> Harvest:
    """Make training data of a bank, of runs of experiments, or of both, as `MemoryBank.harvest` explains.

    With the outcome `failure` the rows are wrong solutions, for an adapter that is the control of another.
    """
    if samples < 1 or not 0 <= validation < 1:
        raise ValueError(f"samples is 1 or more and validation 0 or more and below 1, got {samples} and {validation}")
    folder, folders, left_out = Path(path), named_runs(map(Path, _several(runs))), Counter[str]()
    judges, arms = _several(judges), _several(arms)
    check_free(folder)
    namespace, held_out = _tenant(bank, folders.values()), HeldOut.in_files([*map(Path, _several(not_in))], embeddings)
    found = [*(of_bank(bank) if bank else ()), *(one for run in folders.items() for one in of_run(*run, arms))]
    checked = _checked(found, bank, judges, left_out)
    right, wrong = _usable(checked, held_out, left_out, bare=prompt is not None)
    asked, weighty = _asked(prompt or _of_math_solver), missed_first(checked)
    chosen = best(right if outcome == "success" else wrong, samples, left_out)
    rows = [_example(asked, one, weighty) for one in chosen]
    preferences = [_preference(asked, *pair) for pair in pairs([*right, *wrong], samples)]
    if not (rows or preferences):
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items()) or "there are no solutions"
        raise HarvestError(f"nothing is left to learn from: {reasons}")
    tasks = {row.task: row.solutions[0].task for row in (*rows, *preferences)}
    files, template = _files(rows, preferences, held_back(tasks, validation, embeddings)), asked("{task}")
    card = Harvest(
        namespace=namespace,
        runs=tuple(folders),
        judges=tuple(judges),
        outcome=outcome,
        samples=samples,
        prompt_hash=prompt_hash(*(message["content"] for message in template)),
        not_in=held_out.files,
        solutions=len(found),
        left_out=dict(left_out),
    )
    return write(folder, files, card, template)


def _several(given: Iterable[Any]) -> list[Any]:
    """Return what was given as a list: one name is one, and not its letters."""
    return [given] if isinstance(given, str | os.PathLike) else list(given)


def _tenant(bank: BankReader | None, runs: Collection[Path]) -> tuple[str, ...]:
    """Return the namespace that all sources belong to. Raises `HarvestError` if they belong to several."""
    if bank is None and not runs:
        raise HarvestError("there is nothing to harvest: name a bank, or the folder of an experiment")
    tenants = {*([tuple(bank.namespace)] if bank else []), *map(tenant_of, runs)} - {()}
    if len(tenants) > 1:
        several = " and ".join(sorted("/".join(labels) for labels in tenants))
        raise HarvestError(f"these attempts belong to {several}: a harvest is of one namespace")
    return next(iter(tenants), ())


def _checked(
    found: Sequence[Solution], bank: BankReader | None, judges: Sequence[str], left_out: Counter[str]
) -> list[Solution]:
    """Return the solutions whose verdict is believed, and which nothing speaks against since."""
    taint = Taint(bank) if bank else None

    def doubt(solution: Solution) -> str:
        if not is_checked(solution.source, judges):
            return "not verified"
        tainted = taint and solution.source.kind == "episode" and taint.reason(solution.source)
        return "tainted" if tainted else ""

    return _without(found, doubt, left_out)


def _usable(
    checked: Sequence[Solution], held_out: HeldOut, left_out: Counter[str], *, bare: bool
) -> tuple[list[Solution], list[Solution]]:
    """Return the right and the wrong solutions that may be learned from; `bare` ones are an answer alone."""
    fit = _without(checked, unfit, left_out)
    leaks = held_out.leaks(fit)
    left_out.update(leaks.values())
    clear = [one for place, one in enumerate(fit) if place not in leaks]
    doubtful = judged_both_ways(clear)
    clear = _without(clear, lambda one: "judged both ways" if one.said in doubtful else "", left_out)
    right = [one for one in clear if one.right]
    if not bare:
        right = _without(right, lambda one: "answer alone" if is_bare(one.text) else "", left_out)
    return right, [one for one in clear if not one.right]


def _without(solutions: Iterable[Solution], why: Callable[[Solution], str], left_out: Counter[str]) -> list[Solution]:
    kept = list[Solution]()
    for solution in solutions:
        if reason := why(solution):
            left_out[reason] += 1
        else:
            kept.append(solution)
    return kept


def _files(rows: Sequence[Row], preferences: Sequence[Row], back: set[str]) -> Mapping[str, Sequence[Row]]:
    """Return what stands in each file, in an order that says nothing."""
    return {
        name: sorted((row for row in every if (row.task in back) is for_validation), key=lambda row: row.id)
        for name, every, for_validation in (
            (TRAIN, rows, False),
            (VALIDATION, rows, True),
            (PREFERENCES, preferences, False),
            (VALIDATION_PREFERENCES, preferences, True),
        )
    }


def _of_math_solver(task: str) -> Sequence[Any]:
    """Return what the bundled solver sends."""
    return solve_prompt({"task": task})


def _asked(prompt: Prompt) -> Callable[[str], Messages]:
    def asked(task: str) -> Messages:
        return [{"role": message.role, "content": message.text} for message in to_messages(prompt(task))]

    return asked


def _said(solution: Solution) -> Messages:
    return [{"role": "assistant", "content": solution.text}]


def _example(asked: Callable[[str], Messages], one: Solution, weighty: set[str]) -> Row:
    content = {"prompt": asked(one.task), "completion": _said(one)}
    return Row(content, [one], MISSED_FIRST if one.key in weighty else 1)


def _preference(asked: Callable[[str], Messages], right: Solution, wrong: Solution) -> Row:
    content = {"prompt": asked(right.task), "chosen": _said(right), "rejected": _said(wrong)}
    return Row(content, [right, wrong])
