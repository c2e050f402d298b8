"""Problems from a JSONL file: one object a line with `problem`, and `id`, `answer` and `attempt` where known.

The files of GSM8K (`question`, and `answer` that ends with `#### 18`) and MATH (`problem`, and `solution` with the
answer in a box) are read as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from reasoningbank_langgraph.errors import ProblemFileError
from reasoningbank_langgraph.files import open_file
from reasoningbank_langgraph.math_answers import extract_answer
from reasoningbank_langgraph.messages import well_formed
from reasoningbank_langgraph.records import has_visible_text, task_key


class Problem(NamedTuple):
    """One problem to solve."""

    id: str
    text: str
    answer: str | None = None
    """The right one."""
    attempt: str | None = None
    """What somebody answered."""


def one_problem(text: str) -> Problem:
    """Return a problem given as text, named by its content."""
    return Problem(task_key(text)[:8], text)


def read_problems(path: Path, limit: int | None = None) -> list[Problem]:
    """Return the problems of a file, the first `limit` of them.

    Raises:
        ProblemFileError: the file cannot be read, holds no problem, or a line is no problem; the line is named.
    """
    try:
        with open_file(path) as file:
            lines = file.read().split(b"\n")
    except OSError as error:
        raise ProblemFileError(path, None, error.strerror or str(error)) from error
    problems = list(_parsed(path, lines))[:limit]
    if not problems:
        raise ProblemFileError(path, None, "holds no problem")
    if len({problem.id for problem in problems}) < len(problems):
        raise ProblemFileError(
            path, None, "uses an id twice: ids name the threads that are resumed, so each has to be unique"
        )
    return problems


def _parsed(path: Path, lines: list[bytes]) -> Iterator[Problem]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ProblemFileError(path, number, f"is not JSON ({error})") from error
        text = (row.get("problem") or row.get("question")) if isinstance(row, dict) else None
        if not isinstance(text, str) or not has_visible_text(text):
            raise ProblemFileError(path, number, "needs a text in 'problem'")
        if isinstance(row.get("answer"), (dict, list, bool)):
            raise ProblemFileError(path, number, "needs a text or a number in 'answer'")
        attempt, own_id = row.get("attempt"), row.get("id")
        name = f"line-{number}-{task_key(text)[:8]}" if own_id in (None, "") else well_formed(str(own_id))
        yield Problem(name, well_formed(text), _answer(row) or None, None if attempt is None else str(attempt))


def _answer(row: Mapping[str, Any]) -> str | None:
    """Return the answer: as it stands there, behind the mark of GSM8K, or in the box of MATH's solution."""
    answer, solution = row.get("answer"), row.get("solution")
    if answer is None:
        return extract_answer(str(solution)).text if solution is not None else None
    return str(answer).rpartition("####")[2].strip() if "question" in row else str(answer)
