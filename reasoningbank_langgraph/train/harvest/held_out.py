"""Problems of evaluation files, and what would give them away.

A task is left out if it is one of them or nearly one (the same sentences with other numbers and names), or if its
solution states the answer of one and the task has the same numbers, two or more, or all of three or more. Most answers
are small numbers, so an answer by itself says nothing, unless it is a telling one: a number of five significant digits,
or a text of six letters.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from reasoningbank_langgraph.experiments.leaks import near_duplicates, states_answer
from reasoningbank_langgraph.experiments.leaks.digits import numbers_in_digits
from reasoningbank_langgraph.math_answers.compare import exact_values
from reasoningbank_langgraph.math_answers.spelling import in_ascii, ungrouped
from reasoningbank_langgraph.math_solver.problems import Problem, read_problems
from reasoningbank_langgraph.records import Record, normalise_task, task_key
from reasoningbank_langgraph.train.harvest.solutions import Solution

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_SENTENCE = 40
"""Characters of a problem that is looked for inside other texts too: "2 + 2" would be found everywhere."""
_TELLING_DIGITS, _TELLING_LETTERS = 5, 6


Told = tuple[str, str]
"""A task and a solution of it."""


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
        return self.leaks_of([(solution.task, solution.text) for solution in solutions])

    def leaks_of(self, told: Sequence[Told]) -> dict[int, str]:
        """Return the same of tasks and what is said of each."""
        first = (next(found, None) for found in self._found(told))
        return {place: leak[1] for place, leak in enumerate(first) if leak}

    def given_away(self, told: Sequence[Told]) -> dict[int, str]:
        """Return the places of the problems that any of these gives away, and why."""
        leaks: dict[int, str] = {}
        for found in self._found(told):
            for place, reason in found:
                leaks.setdefault(place, reason)
        return leaks

    def _found(self, told: Sequence[Told]) -> Iterator[Iterator[tuple[int, str]]]:
        """Yield for each of these the places of the problems that it gives away, with the reason."""
        near = self._near({task_key(task): task for task, _ in told})
        for task, text in told:
            yield self._given_by(task, text, near[task_key(task)])

    def _near(self, tasks: Mapping[str, str]) -> Mapping[str, Sequence[int]]:
        learned = [Problem(name, text) for name, text in tasks.items()]
        near = defaultdict[str, list[int]](list)
        for pair in near_duplicates(learned, self._problems, self._embeddings):
            near[pair.train_id].append(int(pair.test_id))
        return near

    def _given_by(self, task: str, text: str, near: Sequence[int]) -> Iterator[tuple[int, str]]:
        own, both, numbers = normalise_task(task), normalise_task(f"{task}\n{text}"), _numbers(task)
        for place, one in enumerate(self._known):
            if own == one.text or (len(one.text) >= _SENTENCE and one.text in both):
                yield place, "same task"
        yield from ((place, "near copy") for place in near)
        for place, one in enumerate(self._known):
            if (one.is_telling or one.is_known_by(numbers)) and states_answer(text, one.answer):
                yield place, "answer"


def _read(problem: Problem) -> _Problem:
    answer = (problem.answer or "").strip()
    return _Problem(normalise_task(problem.text), answer, _numbers(problem.text), _is_telling(answer))


def _numbers(text: str) -> frozenset[Fraction]:
    return frozenset(numbers_in_digits(ungrouped(in_ascii(text))))


def _is_telling(answer: str) -> bool:
    if exact_values(answer):
        return len("".join(filter(str.isdigit, answer)).strip("0")) >= _TELLING_DIGITS
    return sum(map(str.isalpha, answer)) >= _TELLING_LETTERS
