"""Inequalities: an interval where one variable stands alone, else a relation of two sides."""

from __future__ import annotations

from reasoningbank_langgraph.math_answers import nodes
from reasoningbank_langgraph.math_answers.forms import Amount, Form, Relation, Row
from reasoningbank_langgraph.math_answers.nodes import Node, UnreadableError

_FLIPPED = {">": "<", ">=": "<="}
_INFINITY = nodes.constant("oo")


def inequality(sides: list[Node], ops: list[str]) -> Form:
    """Read `a < x <= b`, `x > a` or `2x + y < 3`.

    Args:
        sides: Two or three expressions.
        ops: What stands between them: `<`, `<=`, `>` or `>=`.

    Raises:
        UnreadableError: The signs do not all point one way, there are too many, or none of three sides is a variable.
    """
    if len(ops) > 2 or not ({*ops} <= {"<", "<="} or {*ops} <= {">", ">="}):
        raise UnreadableError
    if ops[0] in _FLIPPED:
        sides, ops = sides[::-1], [_FLIPPED[op] for op in reversed(ops)]
    interval = _interval(sides, ops)
    if interval is None and len(sides) != 2:
        raise UnreadableError
    return interval or Relation(ops[0], *sides)


def _interval(sides: list[Node], ops: list[str]) -> Form | None:
    """`a < x <= b` or `x > a` as an interval of x."""
    symbols = [side.op == "sym" for side in sides]
    free = [any(node.op == "sym" for node in nodes.walk(side)) for side in sides]
    if free.count(True) != 1 or symbols != free or (len(sides) == 3 and not symbols[1]):
        return None
    place = symbols.index(True)
    low = Amount(sides[place - 1] if place else nodes.negative(_INFINITY))
    high = Amount(sides[place + 1] if place + 1 < len(sides) else _INFINITY)
    opening = "[" if place and ops[place - 1] == "<=" else "("
    closing = "]" if place < len(ops) and ops[place] == "<=" else ")"
    return Row(opening, (low, high), closing, sides[place].name)
