"""What an expression is made of."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

_MAX_EXPONENT = 400
_ROUNDED_DIGITS = 15
"""A decimal this long is a printed float, so its last digits are noise."""


class UnreadableError(Exception):
    """The text is outside the grammar; it is compared letter by letter instead."""


class Node(NamedTuple):
    """One operation, number, constant or symbol.

    `op` is `num`, `sym`, `const`, `add`, `mul`, `div`, `pow` or the name of a function; `name` names a symbol or
    constant and marks a number written with so many decimals that it must be a rounded one (`rounded`).
    """

    op: str
    args: tuple[Node, ...] = ()
    name: str = ""
    number: Fraction = Fraction(0)


def number(value: Fraction | int, *, rounded: bool = False) -> Node:
    """Return the node of a rational number."""
    return Node("num", name="rounded" if rounded else "", number=Fraction(value))


def decimal(text: str) -> Node:
    r"""Read a decimal, `3.2e5`, or a repeating decimal such as `0.1\overline{6}`."""
    if "\\" in text:
        return number(_repeating(text))
    digits = sum(map(str.isdigit, text))
    if abs(int(text.lower().partition("e")[2] or "0")) > _MAX_EXPONENT:
        raise UnreadableError
    return number(Fraction(text), rounded="." in text and digits >= _ROUNDED_DIGITS)


def _repeating(text: str) -> Fraction:
    head, _, tail = text.partition("\\")
    period = "".join(filter(str.isdigit, tail))
    whole, _, fixed = head.partition(".")
    start = Fraction(int(whole + fixed or "0"), 10 ** len(fixed))
    return start + Fraction(int(period), (10 ** len(period) - 1) * 10 ** len(fixed))


def symbol(name: str) -> Node:
    """Return the node of a variable."""
    return Node("sym", name=name)


def constant(name: str) -> Node:
    """Return the node of `pi`, `e`, `i` or `oo`."""
    return Node("const", name=name)


def apply(op: str, *args: Node) -> Node:
    """Return the node of an operation."""
    return Node(op, args)


def negative(node: Node) -> Node:
    """Return the node of minus `node`."""
    return number(-node.number, rounded=bool(node.name)) if node.op == "num" else Node("mul", (number(-1), node))


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything below it."""
    yield node
    for arg in node.args:
        yield from walk(arg)


def encode(node: Node) -> list[Any]:
    """Turn a node into lists that JSON can carry."""
    if node.op == "num":
        return ["num", node.number.numerator, node.number.denominator]
    if node.op in ("sym", "const"):
        return [node.op, node.name]
    return [node.op, *map(encode, node.args)]
