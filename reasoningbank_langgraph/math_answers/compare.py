"""Whether an answer is the known one, within a time limit.

Why not math-verify: on the 387 labelled pairs of `tests/data/math_answer_pairs.jsonl`, math-verify 0.9.0 is right on
295, calls 31 equal that are not (17 meters and 17 miles, 1/7 and 0.142857) and 61 different that are equal; this module
is right on all of them. A wrong yes would teach a lesson from a failed attempt. The pairs were written for this module,
and some follow its policy, such as exact numbers and units that have to agree.

    python tests/benchmarks/math_answers.py
"""

from __future__ import annotations

import time
from contextlib import suppress
from fractions import Fraction

from reasoningbank_langgraph.math_answers import symbolic
from reasoningbank_langgraph.math_answers.exact import Exact, NotRationalError, UndefinedError
from reasoningbank_langgraph.math_answers.forms import Amount, Assignment, Choice
from reasoningbank_langgraph.math_answers.matching import Matcher
from reasoningbank_langgraph.math_answers.nodes import Node, walk
from reasoningbank_langgraph.math_answers.reading import readings
from reasoningbank_langgraph.math_answers.spelling import tidy

MAX_LENGTH = 1_000
"""Characters; longer answers are compared letter by letter."""
SECONDS = 1.5
_MOST_SIDES = 8


def equivalent(gold: str, prediction: str) -> bool:
    r"""Say whether an answer is the known one, written in whatever way.

    Numbers, fractions, mixed numbers, repeating decimals, units, lists, sets, points, intervals, matrices, ratios and
    words are compared exactly and need no other package. Roots, functions and variables need the extra `math`;
    without it such expressions are equal only when they are written alike, which is stricter, never laxer.

    A unit may be missing on one side and must agree otherwise; `25` is 25 % and so is `0.25`, but 25 is not 0.25; an
    exact number is not equal to its rounding, save that a decimal of 15 or more digits has a tolerance of 1e-12;
    degrees are not radians; digits with a base are not digits without one. A choice with a value, `(B) 12`, is B and
    is 12, but not `(C) 12`; "12, not 15" is 12. Blank text equals nothing.

    Args:
        gold: The known answer, in LaTeX or plain text.
        prediction: The answer under test, for example from `extract_answer`.

    Returns:
        True when both say the same. Never raises, takes less than 2 s, and runs no code of the input.
    """
    if not gold.strip() or not prediction.strip():
        return False
    if max(len(gold), len(prediction)) > MAX_LENGTH:
        return gold.strip() == prediction.strip()
    try:
        return _equivalent(gold, prediction)
    except (RecursionError, MemoryError):
        return gold.strip() == prediction.strip()


def _equivalent(gold: str, prediction: str) -> bool:
    gold, prediction = tidy(gold), tidy(prediction)
    if not gold or not prediction:
        return False
    values = _Values(time.monotonic() + SECONDS)
    matcher = Matcher(values)
    answers = readings(prediction if "=" in gold else _result(prediction))
    return any(matcher.match(form, answer) for form in readings(gold) for answer in answers)


def _result(answer: str) -> str:
    """Return the last side of a sum that is worked out rightly, as `7` of `3 + 4 = 7`; other answers as they are."""
    sides = answer.split("=", _MOST_SIDES)
    values = [exact_values(side) for side in sides] if len(sides) > 1 else []
    return sides[-1] if values and all(len(found) == 1 and found == values[0] for found in values) else answer


def exact_values(answer: str) -> set[Fraction]:
    r"""Return the numbers an answer may stand for, 25 and 1/4 for `25\%`; none where it is no rational number."""
    try:
        forms = readings(tidy(answer)) if len(answer) <= MAX_LENGTH else []
    except (RecursionError, MemoryError):
        return set()
    values: set[Fraction] = set()
    for form in forms:
        amount = form.value if isinstance(form, Assignment | Choice) else form
        if isinstance(amount, Amount):
            with suppress(UndefinedError, NotRationalError, RecursionError):
                value = Exact().value(amount.node)
                values |= {value, value / 100} if amount.unit == "%" else {value}
    return values


class _Values:
    """What expressions are worth, computed once each, with bounded work and until the deadline only."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._exact = Exact()
        self._results: dict[Node, Fraction | ArithmeticError] = {}

    def same(self, left: Node, right: Node) -> bool:
        """Whether two expressions have the same value."""
        one, other = self._value(left), self._value(right)
        if isinstance(one, UndefinedError) or isinstance(other, UndefinedError):
            return False
        rounded = _is_rounded(left) or _is_rounded(right)
        if isinstance(one, Fraction) and isinstance(other, Fraction):
            return one == other or (rounded and self._exact.are_close(one, other))
        if left == right:
            return True
        if time.monotonic() > self._deadline:
            return False
        return symbolic.ask_worker("equal", left, right, deadline=self._deadline, rounded=rounded) is True

    def same_relation(self, op: str, left: Node, right: Node) -> bool:
        """Whether `left op 0` says the same as `right op 0`."""
        if left == right:
            return True
        question = "multiple" if op in ("=", "!=") else "positive"
        return symbolic.ask_worker(question, left, right, deadline=self._deadline) is True

    def is_at_least_one(self, node: Node) -> bool:
        """Whether an expression has an exact value of 1 or more, whatever its sign."""
        value = self._value(node)
        return isinstance(value, Fraction) and abs(value) >= 1

    def _value(self, node: Node) -> Fraction | ArithmeticError:
        if node not in self._results:
            try:
                self._results[node] = self._exact.value(node)
            except (UndefinedError, NotRationalError) as problem:
                self._results[node] = problem
        return self._results[node]


def _is_rounded(node: Node) -> bool:
    return any(part.op == "num" and part.name == "rounded" for part in walk(node))
