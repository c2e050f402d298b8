"""What an answer can be."""

from __future__ import annotations

from dataclasses import dataclass

from reasoningbank_langgraph.math_answers.nodes import Node


@dataclass(frozen=True)
class Words:
    """An answer in words, or one that the grammar cannot read."""

    text: str
    is_prose: bool
    """Whether upper and lower case are the same: words are, variables are not."""


@dataclass(frozen=True)
class Amount:
    """A number or expression, with or without a unit."""

    node: Node
    unit: str = ""


@dataclass(frozen=True)
class Listing:
    """Several answers in any order; `braces` when written as a set, where repeats do not count."""

    items: tuple[Form, ...]
    braces: bool = False


@dataclass(frozen=True)
class Row:
    """Answers in order between brackets: a point, a vector or an interval."""

    opening: str
    items: tuple[Form, ...]
    closing: str
    variable: str = ""
    """The variable, when the interval was written as an inequality."""


@dataclass(frozen=True)
class Union:
    """Sets joined by `or`."""

    parts: tuple[Form, ...]


@dataclass(frozen=True)
class Matrix:
    """Rows of entries between equal brackets."""

    rows: tuple[tuple[Form, ...], ...]


@dataclass(frozen=True)
class Assignment:
    """`x = ...` with the variable alone on one side."""

    name: str
    value: Form


@dataclass(frozen=True)
class Relation:
    """An equation (`=`, `!=`) or inequality (`<`, `<=`) that is no assignment and no interval."""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Ratio:
    """`3:4` or `1:2:3`."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Clock:
    """A time of day with its half of the day, `10:15am`."""

    text: str


@dataclass(frozen=True)
class Numeral:
    """Digits with the base they are written in."""

    digits: str
    base: int


@dataclass(frozen=True)
class Choice:
    """The letter of a choice with what it says, `(B) 12`."""

    letter: str
    value: Form


Form = Words | Amount | Listing | Row | Union | Matrix | Assignment | Relation | Ratio | Clock | Numeral | Choice
