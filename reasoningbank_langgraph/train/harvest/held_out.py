"""Problems of evaluation files, and what would give them away.

A task is left out if it is one of them or nearly one (the same sentences with other numbers and names), or if its
solution states the answer of one and the task has the same numbers, two or more, or all of three or more. Most answers
are small numbers, so an answer by itself says nothing, unless it is a telling one: a number of five significant digits,
or a text of six letters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from reasoningbank_langgraph.experiments.leaks import near_duplicates, states_answer
from reasoningbank_langgraph.experiments.leaks.digits import numbers_in_digits
from reasoningbank_langgraph.math_answers.compare import exact_values
from reasoningbank_langgraph.math_answers.spelling import in_ascii, ungrouped
from reasoningbank_langgraph.math_solver.problems import Problem, read_problems
from reasoningbank_langgraph.records import Record, normalise_task
from reasoningbank_langgraph.train.harvest.solutions import Solution

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_SENTENCE = 40
"""Characters of a problem that is looked for inside other texts too: "2 + 2" would be found everywhere."""
_TELLING_DIGITS, _TELLING_LETTERS = 5, 6


class EvaluationFile(Record):
    """A file of problems that a harvest keeps clear of."""

    name: str
    sha256: str
    problems: int


class _Problem(NamedTuple):
    text: str
    answer: str
    numbers: frozenset[Fraction]
    is_telling: bool
    """Whether its answer gives it away by itself."""

    def is_known_by(self, numbers: frozenset[Fraction]) -> bool:
        """Say whether a task with these numbers may be the same in other words."""
        return self.numbers <= numbers and len(self.numbers) >= (2 if self.numbers == numbers else 3)


class HeldOut:
    """The problems of evaluation files.

    Args:
        problems: all of them.
        files: what they come from.
        embeddings: tell near copies by meaning too; None by text alone.
    """

    def __init__(
        self, problems: Sequence[Problem], files: Sequence[EvaluationFile] = (), embeddings: Embeddings | None = None
    ) -> None:
        self.files, self._embeddings = tuple(files), embeddings
        self._problems = [Problem(str(number), problem.text) for number, problem in enumerate(problems)]
        self._known = [_read(problem) for problem in problems]

    @classmethod
    def in_files(cls, paths: Sequence[Path], embeddings: Embeddings | None = None) -> Self:
        """Read evaluation files. Raises `ProblemFileError` where one cannot be read."""
        found = [(path, read_problems(path)) for path in paths]
        files = [
            EvaluationFile(name=path.name, sha256=hashlib.sha256(path.read_bytes()).hexdigest(), problems=len(problems))
            for path, problems in found
        ]
        return cls([problem for _, problems in found for problem in problems], files, embeddings)

    def leaks(self, solutions: Sequence[Solution]) -> dict[int, str]:
        """Return why solutions would give a problem away, by their place; those that would not are not there."""
        near = self._near({solution.key: solution.task for solution in solutions})
        reasons = ((place, self._reason(solution, near)) for place, solution in enumerate(solutions))
        return {place: reason for place, reason in reasons if reason}

    def _near(self, tasks: Mapping[str, str]) -> set[str]:
        learned = [Problem(name, text) for name, text in tasks.items()]
        return {pair.train_id for pair in near_duplicates(learned, self._problems, self._embeddings)}

    def _reason(self, solution: Solution, near: set[str]) -> str:
        task, both = normalise_task(solution.task), normalise_task(f"{solution.task}\n{solution.text}")
        if any(task == one.text or (len(one.text) >= _SENTENCE and one.text in both) for one in self._known):
            return "same task"
        if solution.key in near:
            return "near copy"
        numbers = _numbers(solution.task)
        asked = [one for one in self._known if one.is_telling or one.is_known_by(numbers)]
        return "answer" if any(states_answer(solution.text, one.answer) for one in asked) else ""


def _read(problem: Problem) -> _Problem:
    answer = (problem.answer or "").strip()
    return _Problem(normalise_task(problem.text), answer, _numbers(problem.text), _is_telling(answer))


def _numbers(text: str) -> frozenset[Fraction]:
    return frozenset(numbers_in_digits(ungrouped(in_ascii(text))))


def _is_telling(answer: str) -> bool:
    if exact_values(answer):
        return len("".join(filter(str.isdigit, answer)).strip("0")) >= _TELLING_DIGITS
    return sum(map(str.isalpha, answer)) >= _TELLING_LETTERS
