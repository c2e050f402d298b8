"""Problems that a model of 135 million parameters solves now and then."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from reasoningbank_langgraph.math_solver.problems import Problem

_NAMES = ("Amara", "Bao", "Chiara", "Deniz", "Emeka", "Farah", "Goran", "Hana", "Ines", "Jonas")
_THINGS = ("stickers", "beads", "shells", "stamps", "coins", "buttons")
_TextAndAnswer = tuple[str, int]


def _sum(draw: Random) -> _TextAndAnswer:
    a, b = draw.randint(11, 59), draw.randint(11, 39)
    return f"What is {a} + {b}?", a + b


def _double(draw: Random) -> _TextAndAnswer:
    a = draw.randint(6, 45)
    return f"What is {a} doubled?", 2 * a


def _product(draw: Random) -> _TextAndAnswer:
    a, b = draw.randint(3, 9), draw.randint(3, 9)
    return f"What is {a} times {b}?", a * b


def _half(draw: Random) -> _TextAndAnswer:
    a = draw.randint(4, 45)
    return f"What is half of {2 * a}?", a


def _finding(draw: Random) -> _TextAndAnswer:
    name, thing, a, b = draw.choice(_NAMES), draw.choice(_THINGS), draw.randint(3, 19), draw.randint(3, 9)
    return f"{name} has {a} {thing} and finds {b} more. How many {thing} does {name} have now?", a + b


def _giving(draw: Random) -> _TextAndAnswer:
    (name, friend), thing, a, b = draw.sample(_NAMES, 2), draw.choice(_THINGS), draw.randint(9, 19), draw.randint(2, 8)
    return f"{name} has {a} {thing} and gives {b} of them to {friend}. How many {thing} are left?", a - b


def _together(draw: Random) -> _TextAndAnswer:
    (name, friend), thing, a, b = draw.sample(_NAMES, 2), draw.choice(_THINGS), draw.randint(3, 30), draw.randint(3, 30)
    return f"{name} has {a} {thing} and {friend} has {b}. How many {thing} do they have together?", a + b


_KINDS: tuple[Callable[[Random], _TextAndAnswer], ...] = (_sum, _finding, _double, _giving, _product, _together, _half)


def draw_problems(count: int, seed: str) -> list[Problem]:
    """Return problems of all kinds in turn, the same for the same seed, no two alike."""
    draw = Random(seed)  # noqa: S311 - numbers for exercises
    problems: dict[str, Problem] = {}
    while len(problems) < count:
        text, answer = _KINDS[len(problems) % len(_KINDS)](draw)
        problems.setdefault(text, Problem(f"{seed}-{len(problems) + 1}", text, str(answer)))
    return list(problems.values())
