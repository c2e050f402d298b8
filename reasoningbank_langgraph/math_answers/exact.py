"""Rational values of expressions, in plain integers and without a bound that an input could pass."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from reasoningbank_langgraph.math_answers.nodes import Node

MAX_BITS = 32_768
_MAX_FACTORIAL = 2_100
_MAX_ROOT = 64
_MAX_ROOT_BITS = 2_048


class UndefinedError(ArithmeticError):
    """The expression has no value, such as 1/0."""


class NotRationalError(ArithmeticError):
    """The expression has symbols, roots or functions, or its value is too large to write down."""


def rational(node: Node) -> Fraction:
    """Return the exact value.

    Raises:
        UndefinedError: There is none.
        NotRationalError: It is not rational, or too large.
    """
    if node.op == "num":
        return node.number
    operation = _OPERATIONS.get(node.op)
    if operation is None:
        raise NotRationalError
    value = operation(*map(rational, node.args))
    if _bits(value) > MAX_BITS:
        raise NotRationalError
    return value


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _add(*values: Fraction) -> Fraction:
    return sum(values, Fraction(0))


def _divide(above: Fraction, below: Fraction) -> Fraction:
    if not below:
        raise UndefinedError
    return above / below


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if not base and exponent <= 0:
        raise UndefinedError
    if exponent.denominator != 1:
        if base < 0:
            raise NotRationalError
        return _power(_root(base, Fraction(exponent.denominator)), Fraction(exponent.numerator))
    if base not in (0, 1, -1) and (abs(exponent) > MAX_BITS or _bits(base) * abs(exponent) > MAX_BITS):
        raise NotRationalError
    return base ** int(exponent % 2 if base == -1 else exponent)


def _root(value: Fraction, degree: Fraction) -> Fraction:
    """The real root of a number that has a rational one; odd roots of negative numbers are negative."""
    if degree.denominator != 1 or not 0 < degree <= _MAX_ROOT:
        raise NotRationalError
    if value < 0:
        if degree % 2 == 0:
            raise NotRationalError
        return -_root(-value, degree)
    return Fraction(_integer_root(value.numerator, int(degree)), _integer_root(value.denominator, int(degree)))


def _integer_root(value: int, degree: int) -> int:
    if degree == 2 and math.isqrt(value) ** 2 == value:
        return math.isqrt(value)
    if degree == 2 or value.bit_length() > _MAX_ROOT_BITS:
        raise NotRationalError
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
    if low**degree != value:
        raise NotRationalError
    return low


def _factorial(value: Fraction) -> Fraction:
    if value.denominator != 1 or value < 0:
        raise UndefinedError
    if value > _MAX_FACTORIAL:
        raise NotRationalError
    return Fraction(math.factorial(int(value)))


def _binomial(above: Fraction, below: Fraction) -> Fraction:
    if above.denominator != 1 or below.denominator != 1 or above < 0 or below < 0 or above > MAX_BITS:
        raise NotRationalError
    return Fraction(math.comb(int(above), int(below)))


_OPERATIONS: dict[str, Callable[..., Fraction]] = {
    "add": _add,
    "mul": lambda *values: math.prod(values, start=Fraction(1)),
    "div": _divide,
    "pow": _power,
    "root": _root,
    "factorial": _factorial,
    "binomial": _binomial,
    "abs": abs,
    "floor": lambda value: Fraction(math.floor(value)),
    "ceil": lambda value: Fraction(math.ceil(value)),
}
