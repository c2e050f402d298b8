"""Whether a lesson or an example states the answer of a problem, or is nearly the problem itself."""

from __future__ import annotations

import re
from itertools import chain, pairwise

from reasoningbank_langgraph.experiments.leaks.digits import numbers_in_digits
from reasoningbank_langgraph.experiments.leaks.near_copies import text_similarity
from reasoningbank_langgraph.experiments.leaks.number_words import spelled_numbers, words_before
from reasoningbank_langgraph.experiments.leaks.rule import is_announced
from reasoningbank_langgraph.experiments.summary import NEAR_TEXT
from reasoningbank_langgraph.math_answers.compare import exact_values
from reasoningbank_langgraph.math_answers.spelling import in_ascii, ungrouped
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.records import Episode, MemoryItem

_LIST_MARK = re.compile(r"(?:^|(?<=[:;.!?]))[ \t]*\(?(\d{1,2})[.)](?=[ \t]+\S)", re.MULTILINE)


def gives_away(record: MemoryItem | Episode, problem: Problem) -> bool:
    """Say whether a lesson or an example states the problem's answer or is nearly the problem itself."""
    return tells_answer(record, problem) or any(
        text_similarity(text, problem.text) > NEAR_TEXT for text in texts_of(record)
    )


def tells_answer(record: MemoryItem | Episode, problem: Problem) -> bool:
    """Say whether a lesson or an example states the problem's answer."""
    return states_answer("\n".join(texts_of(record)), problem.answer or "")


def texts_of(record: MemoryItem | Episode) -> tuple[str, ...]:
    """Return what is shown of a lesson, or of an attempt that is an example."""
    if isinstance(record, Episode):
        return (record.task, record.solution)
    return (record.title, record.description, record.content)


def states_answer(text: str, answer: str) -> bool:
    """Say whether a text holds a number of the value of the answer, or an answer that is no number as it is written."""
    text, stripped = _without_list_marks(ungrouped(in_ascii(text))), answer.strip()
    values = {abs(value) for value in exact_values(stripped)}
    if values:
        return not values.isdisjoint(chain(numbers_in_digits(text), spelled_numbers(text)))
    return bool(stripped) and re.search(rf"(?<![\w.,]){re.escape(in_ascii(stripped))}(?!\w|[.,]\d)", text) is not None


def _without_list_marks(text: str) -> str:
    """Take out the numbers of lists, which count on, and a 1 that begins one; "It is: 12. Check it" has none."""
    marks = list(_LIST_MARK.finditer(text))
    listed = {mark.start() for pair in pairwise(marks) if int(pair[1][1]) == int(pair[0][1]) + 1 for mark in pair}
    listed |= {
        mark.start() for mark in marks if int(mark[1]) == 1 and not is_announced(words_before(text, mark.start()))
    }
    return _LIST_MARK.sub(lambda mark: " " if mark.start() in listed else mark[0], text)
