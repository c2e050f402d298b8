"""The problems that an adapter is tried on: those of a file that it does not know from its data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from reasoningbank_langgraph.errors import TrialError, TuneError
from reasoningbank_langgraph.math_solver.problems import Problem, read_problems
from reasoningbank_langgraph.records import task_key
from reasoningbank_langgraph.train.card import Card
from reasoningbank_langgraph.train.harvest.held_out import HeldOut, Told
from reasoningbank_langgraph.train.rows import read_rows


class Validation(NamedTuple):
    """What is asked, and what is not."""

    problems: dict[str, Problem]
    """By the key of the task."""
    left_out: dict[str, int]
    """Problems of the file that are not asked, by reason."""
    known: set[str]
    """Keys of the tasks that the data gives away."""
    unchecked: str
    """Why only equal texts were looked for; "" where near copies were too."""


def clear_problems(path: Path, card: Card) -> Validation:
    """Return the problems of a file that the data of an adapter does not give away.

    The card holds the keys of the tasks, by which equal texts are found. Near copies and answers are looked for in the
    data itself, as a harvest keeps clear of an evaluation file: so the data has to be where it was, and unchanged.

    Args:
        path: JSONL with `problem` and `answer`.
        card: of the adapter.

    Raises:
        ProblemFileError: the file cannot be read.
        TrialError: a problem has no answer, or none is left.
    """
    every = answered_problems(path)
    told, unchecked = _told(card)
    leaks, known = HeldOut(every).given_away(told), set(card.tasks)
    known |= {task_key(every[place].text) for place in leaks}
    left_out, problems = Counter[str](), dict[str, Problem]()
    for place, problem in enumerate(every):
        key = task_key(problem.text)
        reason = leaks.get(place) or ("same task" if key in known else "twice" if key in problems else "")
        if reason:
            left_out[reason] += 1
        else:
            problems[key] = problem
    if not problems:
        raise TrialError(f"{card.name} knows every problem of {path} from its data: name a file of others")
    return Validation(problems, dict(left_out), known, unchecked)


def answered_problems(path: Path) -> list[Problem]:
    """Return the problems of a file.

    Raises:
        ProblemFileError: the file cannot be read.
        TrialError: a problem has no answer.
    """
    every = read_problems(path)
    if unanswered := next((problem.id for problem in every if problem.answer is None), None):
        raise TrialError(f"problem {unanswered!r} of {path} has no answer: a trial grades by known answers")
    return every


def _told(card: Card) -> tuple[list[Told], str]:
    """Return the tasks and solutions in the data of an adapter; none and the reason where it is not to be had."""
    if not card.data:
        return [], "its card does not name its data"
    try:
        rows = read_rows(Path(card.data))
    except TuneError as error:
        return [], f"its data {card.data} cannot be read ({str(error)[:200]})"
    if rows.sha256 != card.data_sha256:
        return [], f"its data {card.data} has changed since"
    return list(dict.fromkeys(rows.told)), ""
