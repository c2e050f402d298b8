"""A model for a fleet without a model: it knows the answers, errs on every third task, and has lessons to tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.testing import ScriptedChatModel

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

SECONDS = 0.05
"""How long a call takes: long enough for a worker to be killed in the middle of it."""
HABITS = ["Write the units down", "Draw a picture", "Estimate first", "Name the unknown", "Read the question twice"]
CHECKS = ["undo the last step", "try a smaller case", "add the parts up", "ask what is left over", "compare the sizes"]
TIMES = ["before the sums", "after the sums", "at every line", "when two ways are open"]
LESSONS = list(product(TIMES, HABITS, CHECKS))


def scripted_model(problems: Sequence[Problem], worker: str) -> ScriptedChatModel:
    """Return a model that solves these problems and distils a lesson of its own from each.

    Args:
        problems: what it will be asked.
        worker: stands in the lessons, so that they tell who distilled them.
    """
    places = {_plain(problem.text): place for place, problem in enumerate(problems)}

    def reply(messages: list[BaseMessage]) -> str:
        question = _plain(messages[-1].text)
        if question in places:
            return solution(problems[places[question]], right=places[question] % 3 != 2)
        place = next(place for text, place in places.items() if text in question)
        return lessons(place, worker)

    return ScriptedChatModel(reply, delay=SECONDS)


def solution(problem: Problem, *, right: bool) -> str:
    """Return a solution in the form the math solver asks for."""
    return f"So the answer is $\\boxed{{{problem.answer if right else '-1'}}}$"


def lessons(place: int, worker: str) -> str:
    """Return the lessons of the task at this place; no two tasks have the same."""
    when, habit, check = LESSONS[place % len(LESSONS)]
    texts = [
        (f"{habit}, then {check} {when}", "Where the terms are easily mixed up"),
        (f"Do not {check} {when} unless you {habit.lower()}", "Where a slip would go unseen"),
    ]
    items = [{"title": title, "description": use, "content": f"{title}: noted by {worker}"} for title, use in texts]
    return json.dumps({"items": items})


def _plain(text: str) -> str:
    return "".join(text.split())
