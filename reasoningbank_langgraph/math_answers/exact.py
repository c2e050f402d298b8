"""Rational values of expressions, in plain integers and without a bound that an input could pass."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from reasoningbank_langgraph.math_answers.nodes import Node

MAX_BITS = 32_768
MAX_WORK = 1 << 36
"""Bit operations, by the schoolbook's count, for one comparison: a quarter of a second on a slow core."""
_WORK_OF_A_NODE = 1 << 19
_TOLERANCE = Fraction(1, 10**12)
_MAX_FACTORIAL = 2_100
_MAX_ROOT = 64
_MAX_ROOT_BITS = 2_048


class UndefinedError(ArithmeticError):
    """The expression has no value, such as 1/0."""


class NotRationalError(ArithmeticError):
    """The expression has symbols, roots or functions, or its value takes too much to compute or write down."""


class Exact:
    """Computes values until the work of all of them together reaches `MAX_WORK`; then every other one is too large."""

    def __init__(self) -> None:
        self._left = MAX_WORK

    def value(self, node: Node) -> Fraction:
        """Return the exact value.

        Raises:
            UndefinedError: There is none.
            NotRationalError: It is not rational, or too large.
        """
        if node.op == "num":
            return node.number
        operation = self._operations.get(node.op)
        if operation is None:
            raise NotRationalError
        self._spend(_WORK_OF_A_NODE)
        value = operation(self, *map(self.value, node.args))
        if _bits(value) > MAX_BITS:
            raise NotRationalError
        return value

    def are_close(self, one: Fraction, other: Fraction) -> bool:
        """Whether two values are the same but for the last digits of a printed float."""
        try:
            self._spend_on(one, other)
        except NotRationalError:
            return False
        return abs(one - other) < _TOLERANCE * abs(one)

    def _spend(self, work: int) -> None:
        self._left -= work
        if self._left < 0:
            raise NotRationalError

    def _spend_on(self, one: Fraction, other: Fraction) -> None:
        """Pay for a sum, product or quotient of two values: its common divisors are what takes time."""
        self._spend(_bits(one) * _bits(other))

    def _add(self, *values: Fraction) -> Fraction:
        return self._fold(lambda one, other: one + other, Fraction(0), values)

    def _multiply(self, *values: Fraction) -> Fraction:
        return self._fold(lambda one, other: one * other, Fraction(1), values)

    def _fold(
        self, join: Callable[[Fraction, Fraction], Fraction], result: Fraction, values: tuple[Fraction, ...]
    ) -> Fraction:
        for value in values:
            self._spend_on(result, value)
            result = join(result, value)
            if _bits(result) > MAX_BITS:
                raise NotRationalError
        return result

    def _divide(self, above: Fraction, below: Fraction) -> Fraction:
        if not below:
            raise UndefinedError
        self._spend_on(above, below)
        return above / below

    def _power(self, base: Fraction, exponent: Fraction) -> Fraction:
        if not base and exponent <= 0:
            raise UndefinedError
        if exponent.denominator != 1:
            if base < 0:
                raise NotRationalError
            return self._power(self._root(base, Fraction(exponent.denominator)), Fraction(exponent.numerator))
        if base in (0, 1, -1):
            return base ** int(exponent % 2 if base == -1 else exponent)
        bits = _bits(base) * abs(exponent)
        if abs(exponent) > MAX_BITS or bits > MAX_BITS:
            raise NotRationalError
        self._spend(int(bits) ** 2)
        return base ** int(exponent)

    def _root(self, value: Fraction, degree: Fraction) -> Fraction:
        """The real root of a number that has a rational one; odd roots of negative numbers are negative."""
        if degree.denominator != 1 or not 0 < degree <= _MAX_ROOT:
            raise NotRationalError
        if value < 0:
            if degree % 2 == 0:
                raise NotRationalError
            return -self._root(-value, degree)
        return Fraction(*(self._integer_root(part, int(degree)) for part in value.as_integer_ratio()))

    def _integer_root(self, value: int, degree: int) -> int:
        bits = value.bit_length()
        self._spend(bits**2 * (1 if degree == 2 else bits // degree + 1))
        if degree == 2 and math.isqrt(value) ** 2 == value:
            return math.isqrt(value)
        if degree == 2 or bits > _MAX_ROOT_BITS:
            raise NotRationalError
        low, high = 0, 1 << (bits // degree + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
        if low**degree != value:
            raise NotRationalError
        return low

    def _factorial(self, value: Fraction) -> Fraction:
        if value.denominator != 1 or value < 0:
            raise UndefinedError
        if value > _MAX_FACTORIAL:
            raise NotRationalError
        self._spend(128 * int(value) ** 2)
        return Fraction(math.factorial(int(value)))

    def _binomial(self, above: Fraction, below: Fraction) -> Fraction:
        if above.denominator != 1 or below.denominator != 1 or above < 0 or below < 0 or above > MAX_BITS:
            raise NotRationalError
        self._spend(16 * int(above * min(above, below)))
        return Fraction(math.comb(int(above), int(below)))

    _operations: ClassVar[dict[str, Callable[..., Fraction]]] = {
        "add": _add,
        "mul": _multiply,
        "div": _divide,
        "pow": _power,
        "root": _root,
        "factorial": _factorial,
        "binomial": _binomial,
        "abs": lambda _, value: abs(value),
        "floor": lambda _, value: Fraction(math.floor(value)),
        "ceil": lambda _, value: Fraction(math.ceil(value)),
    }


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())
