"""The bundled problems are what their generator writes, and their answers hold when checked another way."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reasoningbank_langgraph.math_answers import equivalent
from tests.conftest import check_each

EXAMPLE = Path(__file__).parents[2] / "examples" / "math_solver"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (EXAMPLE / "problems.jsonl").read_text(encoding="utf-8").split("\n") if line
]


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    import make_problems

    return make_problems


def test_the_generator_writes_the_same_problems_again(generator: ModuleType) -> None:
    assert generator.problems() == ROWS


def test_problems_are_many_distinct_and_graded() -> None:
    assert len(ROWS) >= 60
    assert len({row["id"] for row in ROWS}) == len({row["problem"] for row in ROWS}) == len(ROWS)
    assert all(set(row) == {"id", "problem", "answer", "level", "subject"} for row in ROWS)
    assert {row["level"] for row in ROWS} == {1, 2, 3, 4, 5}
    assert len({row["subject"] for row in ROWS}) >= 10


def test_the_first_twenty_are_easy() -> None:
    assert {row["level"] for row in ROWS[:20]} == {1}
    assert [row["level"] for row in ROWS] == sorted(row["level"] for row in ROWS)


def test_every_kind_comes_with_several_answers() -> None:
    answers: dict[str, set[str]] = {}
    for row in ROWS:
        answers.setdefault(kind_of(row), set()).add(row["answer"])
    assert all(len(found) >= 3 for found in answers.values())


@check_each(ROWS, name=lambda row: row["id"])
def test_the_answer_check_accepts_the_answer_and_rejects_another(row: dict[str, Any]) -> None:
    assert equivalent(row["answer"], rf"\boxed{{{row['answer']}}}")
    assert not equivalent(row["answer"], f"{row['answer']} + 1")


@check_each(ROWS, name=lambda row: row["id"])
def test_the_answer_holds_in_its_problem(row: dict[str, Any]) -> None:
    numbers = list(map(int, re.findall(r"-?\d+", row["problem"])))
    assert HOLDS[kind_of(row)](numbers, row["answer"], row["problem"])


def kind_of(row: dict[str, Any]) -> str:
    return row["id"].rpartition("-")[0]


def exact(answer: str) -> Fraction:
    return Fraction(re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", r"\1/\2", answer))


def polynomial(text: str) -> list[int]:
    """Coefficients of the quadratic in a text, highest first, read term by term."""
    found = re.search(r"\$([^$]*x\^2[^$=]*)", text)
    assert found
    terms = {"x^2": 0, "x": 0, "": 0}
    for sign, size, symbol in re.findall(r"([-+]?)(\d*)(x\^2|x|)", found[1].replace(" ", "")):
        if size or symbol:
            terms[symbol] += int(sign + (size or "1"))
    return list(terms.values())


def sharing(numbers: list[int], answer: str, text: str) -> bool:
    total, apart, friends = numbers
    return int(answer) * friends + apart == total


def change(numbers: list[int], answer: str, text: str) -> bool:
    count, price, note = numbers
    return int(answer) + sum(price for _ in range(count)) == note


def part_of(numbers: list[int], answer: str, text: str) -> bool:
    whole, above, below = numbers
    return Fraction(int(answer), whole) + Fraction(above, below) == 1


def ratio(numbers: list[int], answer: str, text: str) -> bool:
    total, small, large = numbers
    return Fraction(total - int(answer), int(answer)) == Fraction(small, large)


def sequence(numbers: list[int], answer: str, text: str) -> bool:
    *shown, place = numbers
    return next(itertools.islice(itertools.count(shown[0], shown[1] - shown[0]), place - 1, None)) == int(answer)


def fraction_sum(numbers: list[int], answer: str, text: str) -> bool:
    a, b, c, d = numbers
    minus = "} - \\frac" in text
    return (exact(answer) - Fraction(a, b)) == (-1 if minus else 1) * Fraction(c, d)


def rectangle(numbers: list[int], answer: str, text: str) -> bool:
    around, longer = numbers
    return any(w * (w + longer) == int(answer) for w in range(1, around) if 2 * (w + w + longer) == around)


def linear(numbers: list[int], answer: str, text: str) -> bool:
    a, b, c, d = numbers
    return a * exact(answer) + b == c * exact(answer) + d


def tickets(numbers: list[int], answer: str, text: str) -> bool:
    people, money, dear, cheap = numbers
    return [n for n in range(people + 1) if n * dear + (people - n) * cheap == money] == [int(answer)]


def remainder(numbers: list[int], answer: str, text: str) -> bool:
    base, exponent, modulus = numbers
    value = 1
    for _ in range(exponent):
        value = value * base % modulus
    return value == int(answer)


def together(numbers: list[int], answer: str, text: str) -> bool:
    a, b = numbers
    return exact(answer) / a + exact(answer) / b == 1


def average(numbers: list[int], answer: str, text: str) -> bool:
    scores, mean = numbers[:4], Fraction(numbers[4], *numbers[5:6])
    return sum(mean - score for score in scores) + mean == int(answer)


def quadratic(numbers: list[int], answer: str, text: str) -> bool:
    a, b, c = polynomial(text)
    roots = list(map(int, answer.split(",")))
    return len(set(roots)) == 2 and all(a * x * x + b * x + c == 0 for x in roots)


def factor(numbers: list[int], answer: str, text: str) -> bool:
    lead, b, c = polynomial(text)
    pairs = itertools.product(range(-99, 100), repeat=2)
    return {lead + p + q for p, q in pairs if p * q == c and lead * q + p == b} == {int(answer)}


def committee(numbers: list[int], answer: str, text: str) -> bool:
    many, more, a, b = numbers
    ways = [sum(1 for _ in itertools.combinations(range(n), k)) for n, k in ((many, a), (more, b))]
    return ways[0] * ways[1] == int(answer)


def balls(numbers: list[int], answer: str, text: str) -> bool:
    colours = "r" * numbers[0] + "g" * numbers[1]
    pairs = list(itertools.permutations(colours, 2))
    return Fraction(sum(one == two for one, two in pairs), len(pairs)) == exact(answer)


def triangle(numbers: list[int], answer: str, text: str) -> bool:
    leg, hypotenuse = numbers
    return any(leg * other == 2 * int(answer) for other in range(1, hypotenuse) if leg**2 + other**2 == hypotenuse**2)


def ring(numbers: list[int], answer: str, text: str) -> bool:
    inner, outer = numbers
    return answer == rf"{(outer - inner) * (outer + inner)}\pi"


def root_squares(numbers: list[int], answer: str, text: str) -> bool:
    _, b, c = polynomial(text)
    roots = [(-b + sign * (b * b - 4 * c) ** 0.5) / 2 for sign in (1, -1)]
    return abs(sum(root * root for root in roots) - int(answer)) < 1e-9


def congruences(numbers: list[int], answer: str, text: str) -> bool:
    r, m, s, n = numbers
    return min(x for x in range(1, m * n + 1) if x % m == r and x % n == s) == int(answer)


def growth(numbers: list[int], answer: str, text: str) -> bool:
    start, up, down = numbers
    grown = start + Fraction(start, 100) * up
    return grown - grown / 100 * down == exact(answer)


Check = Callable[[list[int], str, str], bool]
HOLDS: dict[str, Check] = {
    "total": lambda n, answer, _: int(answer) - n[0] - n[1] == n[2],
    "leftover": lambda n, answer, _: int(answer) + n[1] == n[0] + n[2],
    "groups": lambda n, answer, _: divmod(int(answer) - n[2], n[0]) == (n[1], 0),
    "sharing": sharing,
    "change": change,
    "part-of": part_of,
    "discount": lambda n, answer, _: n[0] - int(answer) == Fraction(n[0] * n[1], 100),
    "ratio": ratio,
    "journey": lambda n, answer, _: int(answer) - n[0] * n[1] == n[2] * n[3],
    "sequence": sequence,
    "fraction-sum": fraction_sum,
    "rectangle": rectangle,
    "linear": linear,
    "tickets": tickets,
    "remainder": remainder,
    "together": together,
    "average": average,
    "quadratic": quadratic,
    "factor": factor,
    "committee": committee,
    "balls": balls,
    "triangle": triangle,
    "ring": ring,
    "root-squares": root_squares,
    "congruences": congruences,
    "growth": growth,
}
