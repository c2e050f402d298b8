"""Whether two forms say the same. The first is the known answer, the second the one under test."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from reasoningbank_langgraph.math_answers import nodes
from reasoningbank_langgraph.math_answers.forms import (
    Amount,
    Assignment,
    Choice,
    Form,
    Listing,
    Matrix,
    Ratio,
    Relation,
    Row,
    Union,
    Words,
)
from reasoningbank_langgraph.math_answers.nodes import Node

_BLANK = re.compile(r"(?<!\d) | (?!\d)")
"""A blank that means nothing; between digits it does: `2 1/3` is not `21/3`."""


class Values(Protocol):
    """What expressions are worth."""

    def same(self, left: Node, right: Node) -> bool: ...  # noqa: D102
    def same_relation(self, op: str, left: Node, right: Node) -> bool: ...  # noqa: D102
    def is_at_least_one(self, node: Node) -> bool: ...  # noqa: D102


class Matcher:
    """Compares forms part by part, each pair of parts once: sets within sets would double the work at every level."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._results: dict[tuple[Form, Form], bool] = {}

    def match(self, gold: Form, answer: Form) -> bool:
        """Say whether `answer` is `gold` in another form."""
        pair = (gold, answer)
        if pair not in self._results:
            self._results[pair] = self._match(gold, answer)
        return self._results[pair]

    def _match(self, gold: Form, answer: Form) -> bool:
        if type(gold) is not type(answer):
            return self._across(gold, answer)
        compare: dict[type, Callable[..., bool]] = {
            Words: _words,
            Amount: self._amounts,
            Listing: self._listings,
            Row: self._rows,
            Union: lambda left, right: self._unordered(left.parts, right.parts),
            Matrix: self._matrices,
            Assignment: self._assignments,
            Relation: self._relations,
            Ratio: self._ratios,
            Choice: lambda left, right: left.letter == right.letter and self.match(left.value, right.value),
        }
        return compare[type(gold)](gold, answer) if type(gold) in compare else gold == answer

    def _across(self, gold: Form, answer: Form) -> bool:
        """Compare forms of two kinds, in either order."""
        for left, right in ((gold, answer), (answer, gold)):
            if isinstance(left, Choice):
                named = isinstance(right, Words) and _words(Words(left.letter, is_prose=True), right)
                return named or self.match(left.value, right)
            if isinstance(left, Assignment):
                if isinstance(right, Relation):
                    return self._against_equation(left, right)
                return not isinstance(right, Words) and self.match(left.value, right)
            if isinstance(left, Listing) and left.braces and len(left.items) == 1:
                return self.match(left.items[0], right)
            if isinstance(left, Ratio) and isinstance(right, Amount):
                return self._ratio_value(left, right)
        return False

    def _amounts(self, gold: Amount, answer: Amount) -> bool:
        if gold.unit == answer.unit:
            return self._values.same(gold.node, answer.node)
        if gold.unit and answer.unit:
            return False
        if "%" in (gold.unit, answer.unit):
            return self._percent(gold, answer)
        return self._values.same(gold.node, answer.node)

    def _percent(self, gold: Amount, answer: Amount) -> bool:
        """`25` for 25 %, as a question for a percentage has it, or 0.25; a fraction of 1 is never taken for 1 %."""
        signed, plain = (gold, answer) if gold.unit else (answer, gold)
        if self._values.same(nodes.apply("div", signed.node, nodes.number(100)), plain.node):
            return True
        return self._values.is_at_least_one(plain.node) and self._values.same(signed.node, plain.node)

    def _listings(self, gold: Listing, answer: Listing) -> bool:
        named = [isinstance(item, Assignment) for item in (*gold.items, *answer.items)]
        if any(named) and not all(named):
            return False
        if gold.braces or answer.braces:
            return self._covers(gold.items, answer.items) and self._covers(answer.items, gold.items)
        return self._unordered(gold.items, answer.items)

    def _covers(self, items: Sequence[Form], others: Sequence[Form]) -> bool:
        """Whether each item is among the others; the one at the same place is tried first."""
        return all(
            any(self.match(item, other) for other in (*others[place:], *others[:place]))
            for place, item in enumerate(items)
        )

    def _unordered(self, gold: Sequence[Form], answer: Sequence[Form]) -> bool:
        if len(gold) != len(answer):
            return False
        left = list(answer)
        for item in gold:
            place = next((index for index, other in enumerate(left) if self.match(item, other)), None)
            if place is None:
                return False
            del left[place]
        return True

    def _rows(self, gold: Row, answer: Row) -> bool:
        if (gold.opening, gold.closing) != (answer.opening, answer.closing):
            return False
        if gold.variable and answer.variable and gold.variable != answer.variable:
            return False
        return self._ordered(gold.items, answer.items)

    def _ordered(self, gold: Sequence[Form], answer: Sequence[Form]) -> bool:
        return len(gold) == len(answer) and all(map(self.match, gold, answer))

    def _matrices(self, gold: Matrix, answer: Matrix) -> bool:
        return len(gold.rows) == len(answer.rows) and all(map(self._ordered, gold.rows, answer.rows))

    def _relations(self, gold: Relation, answer: Relation) -> bool:
        return gold.op == answer.op and self._values.same_relation(gold.op, _difference(gold), _difference(answer))

    def _assignments(self, gold: Assignment, answer: Assignment) -> bool:
        if gold.name == answer.name:
            return self.match(gold.value, answer.value)
        equation = _as_equation(answer)
        return equation is not None and self._against_equation(gold, equation)

    def _against_equation(self, gold: Assignment, answer: Relation) -> bool:
        """`y = 2x` is `2x - y = 0`; but an equation in one unknown has not been solved."""
        own = _as_equation(gold)
        return own is not None and self._relations(own, answer)

    def _ratios(self, gold: Ratio, answer: Ratio) -> bool:
        if len(gold.parts) != len(answer.parts):
            return False
        (first, *rest), (other, *others) = gold.parts, answer.parts
        return all(
            self._values.same(nodes.apply("mul", first, right), nodes.apply("mul", left, other))
            for left, right in zip(rest, others, strict=True)
        ) and self._values.same(nodes.apply("div", rest[0], first), nodes.apply("div", others[0], other))

    def _ratio_value(self, ratio: Ratio, amount: Amount) -> bool:
        if len(ratio.parts) != 2 or amount.unit or amount.node.op != "div":
            return False
        return self._values.same(nodes.apply("div", *ratio.parts), amount.node)


def _words(gold: Words, answer: Words) -> bool:
    if gold.is_prose or answer.is_prose:
        return bool(gold.text) and gold.text.casefold() == answer.text.casefold()
    return bool(gold.text) and _BLANK.sub("", gold.text) == _BLANK.sub("", answer.text)


def _as_equation(assignment: Assignment) -> Relation | None:
    """An assignment of an expression with variables as an equation."""
    value = assignment.value
    if not isinstance(value, Amount) or value.unit or all(node.op != "sym" for node in nodes.walk(value.node)):
        return None
    return Relation("=", nodes.symbol(assignment.name), value.node)


def _difference(relation: Relation) -> Node:
    return nodes.apply("add", relation.left, nodes.negative(relation.right))
