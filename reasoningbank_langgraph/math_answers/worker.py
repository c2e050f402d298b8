"""The process that compares expressions with roots, functions and symbols.

It is started by path and imports nothing of this package, so it is small and quick to start. A request is a line of
JSON, `[question, left, right, rounded]` with expressions as nested lists; the reply is `true`, `false` or `null`.

Two expressions are equal when they agree at several random points, at a precision that exceeds the size of every
intermediate value, and when a difference that is left over shrinks as the precision grows. The points are drawn from
a digest of the request, so the same question has the same reply and no one can aim at them.
"""

from __future__ import annotations

import hashlib
import json
import random
import signal
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath

MAX_MAGNITUDE = 6_000
"""Bits: a value, or an exponent in front of it, may be at most 2 to the power of this."""
MEMORY_BYTES = 1 << 30
SECONDS = 4
POINTS = 5
_TRIES = 12
_SPARE_BITS = 220
_MAX_FACTORIAL = 3_000
_MAX_CHOSEN = 100
_MAX_GAMMA_BITS = 1_000

context = mpmath.MPContext()
Expression = list[Any]
Values = dict[str, Fraction]


class TooLargeError(ArithmeticError):
    """A value is too large to compute with, or not finite."""


class Evaluator:
    """Computes expressions at one point with one precision, and remembers the largest magnitude on the way."""

    def __init__(self, values: Values, bits: int) -> None:
        self.bits = bits
        self.values = values
        self.magnitude = 0

    def value(self, expression: Expression) -> Any:
        """Compute an expression, and leave the precision set for what is done with it.

        Raises:
            ArithmeticError: It has no value here, or one that is too large.
            ValueError: It is outside the domain of a function.
        """
        context.prec = self.bits
        return self._value(expression)

    def _value(self, expression: Expression) -> Any:
        op, *args = expression
        if op == "num":
            return self._checked(context.mpf(args[0]) / args[1])
        if op == "sym":
            point = self.values[args[0]]
            return context.mpf(point.numerator) / point.denominator
        if op == "const":
            return self._constant(args[0])
        return self._checked(self._operation(op, [self._value(arg) for arg in args]))

    def _constant(self, name: str) -> Any:
        known = {"pi": +context.pi, "e": +context.e, "i": context.mpc(0, 1)}
        if name not in known:
            raise TooLargeError
        return known[name]

    def _checked(self, value: Any) -> Any:
        if not context.isfinite(value):
            raise TooLargeError
        if value:
            size = abs(int(context.mag(value)))
            if size > MAX_MAGNITUDE:
                raise TooLargeError
            self.magnitude = max(self.magnitude, size)
        return value

    def _operation(self, op: str, args: list[Any]) -> Any:
        if op == "add":
            return context.fsum(args)
        if op == "mul":
            return context.fprod(args)
        special: dict[str, Callable[..., Any]] = {
            "div": lambda above, below: above / below,
            "pow": self._power,
            "root": self._root,
            "log": lambda value, base: context.log(value) / context.log(base),
            "exp": lambda value: self._power(context.e, value),
            "abs": abs,
            "factorial": self._factorial,
            "binomial": self._binomial,
        }
        return special[op](*args) if op in special else self._function(op, args[0])

    def _function(self, op: str, value: Any) -> Any:
        if op in ("sinh", "cosh", "tanh"):
            self._power(context.e, value)
        names = {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}
        return getattr(context, names.get(op, op))(value)

    def _power(self, base: Any, exponent: Any) -> Any:
        growth = abs(exponent) * (abs(context.mag(base)) + 1 if base else 1)
        if growth > MAX_MAGNITUDE:
            raise TooLargeError
        return context.power(base, exponent)

    def _root(self, value: Any, degree: Any) -> Any:
        """The real root where there is one, also of a negative number."""
        odd = context.isint(degree) and int(degree) % 2 == 1
        if odd and isinstance(value, context.mpf) and value < 0:
            return -self._power(-value, 1 / degree)
        return context.sqrt(value) if degree == 2 else self._power(value, 1 / degree)

    def _factorial(self, value: Any) -> Any:
        if abs(value) > _MAX_FACTORIAL or (not context.isint(value) and self.bits > _MAX_GAMMA_BITS):
            raise TooLargeError
        return context.factorial(value)

    def _binomial(self, above: Any, below: Any) -> Any:
        if not context.isint(below) or not 0 <= below <= _MAX_CHOSEN:
            raise TooLargeError
        chosen = range(int(below))
        return context.fprod((above - index) / (index + 1) for index in chosen)


def is_equal(left: Expression, right: Expression, seed: str, *, rounded: bool) -> bool | None:
    """Say whether two expressions agree everywhere, or None when that cannot be told."""
    agreed = 0
    for values in _points([left, right], seed):
        verdict = _equal_at(left, right, values, rounded=rounded)
        if verdict is False:
            return False
        agreed += verdict is True
        if agreed == POINTS or (verdict and not values):
            return True
    return None


def is_multiple(left: Expression, right: Expression, seed: str, *, positive: bool) -> bool | None:
    """Say whether one expression is a constant times the other, as the two sides of equal equations are."""
    ratios: list[Any] = []
    bits = 0
    for values in _points([left, right], seed):
        try:
            bits = max(bits, _precision([left, right], values))
            evaluator = Evaluator(values, bits)
            ratios.append(evaluator.value(left) / evaluator.value(right))
        except (ArithmeticError, ValueError):
            continue
        first, current = ratios[0], ratios[-1]
        tolerance = context.ldexp(1, -_SPARE_BITS // 2)
        if not first or abs(first - current) > tolerance * abs(first):
            return False
        if positive and not (isinstance(current, context.mpf) and current > 0):
            return False
        if len(ratios) == POINTS:
            return True
    return None


def _points(expressions: list[Expression], seed: str) -> Iterator[Values]:
    names = sorted({name for expression in expressions for name in _symbols(expression)})
    if not names:
        yield {}
        return
    draw = random.Random(hashlib.sha256(seed.encode()).digest())  # noqa: S311  points, not secrets
    for attempt in range(_TRIES):
        signs = (1,) if attempt == 0 else (-1,) if attempt == 1 else (1, -1)
        yield {name: Fraction(draw.choice(signs) * draw.randrange(1, 3_000_000), 999_983) for name in names}


def _symbols(expression: Expression) -> Iterator[str]:
    if expression[0] == "sym":
        yield expression[1]
    for arg in expression[1:]:
        if isinstance(arg, list):
            yield from _symbols(arg)


def _precision(expressions: list[Expression], values: Values) -> int:
    """Bits that hold the largest and the smallest intermediate value side by side."""
    probe = Evaluator(values, 100)
    for expression in expressions:
        probe.value(expression)
    return _SPARE_BITS + 2 * probe.magnitude


def _equal_at(left: Expression, right: Expression, values: Values, *, rounded: bool) -> bool | None:
    try:
        bits = _precision([left, right], values)
        coarse, fine = Evaluator(values, bits), Evaluator(values, 2 * bits)
        rough = coarse.value(left) - coarse.value(right)
        left_value, right_value = fine.value(left), fine.value(right)
    except (ArithmeticError, ValueError):
        return None
    gap = left_value - right_value
    if rounded and not values and abs(gap) < context.mpf("1e-12") * abs(left_value):
        return True
    return _vanishes(rough, gap, bits)


def _vanishes(rough: Any, gap: Any, bits: int) -> bool:
    """A true zero shrinks with the precision; any other difference stays what it is."""
    if not gap:
        return True
    if abs(rough - gap) <= abs(gap) / 100_000:
        return False
    scale = context.ldexp(1, -bits // 3)
    return bool(abs(gap) <= scale * max(abs(rough), scale))


def answer(line: str) -> bool | None:
    """Answer one request."""
    question, left, right, rounded = json.loads(line)
    if question == "equal":
        return is_equal(left, right, line, rounded=rounded)
    return is_multiple(left, right, line, positive=question == "positive")


def _limit_resources() -> None:
    """Cap memory, and outlive neither an interrupt nor, on the alarm, a parent that is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def main() -> None:
    """Answer requests until the input ends."""
    _limit_resources()
    _send("ready")
    for line in sys.stdin:
        if sys.platform != "win32":
            signal.alarm(SECONDS)
        try:
            reply = answer(line)
        except (MemoryError, RecursionError):
            reply = None
        if sys.platform != "win32":
            signal.alarm(0)
        _send(reply)


def _send(reply: bool | str | None) -> None:
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
