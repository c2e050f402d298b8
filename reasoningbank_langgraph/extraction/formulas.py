"""A short program as a lesson: what a weak model puts in vague words, it writes exactly in named quantities.

The program is read and never run: assignments of arithmetic over names and numbers, computed here with fractions. It
becomes a lesson only if it computes the right answer of the task that it was written for.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from reasoningbank_langgraph.extraction.literals import task_literals, task_numbers
from reasoningbank_langgraph.math_answers import extract_answer
from reasoningbank_langgraph.math_answers.compare import exact_values
from reasoningbank_langgraph.parsing import ParsedItems
from reasoningbank_langgraph.parsing.replies import read_reply
from reasoningbank_langgraph.records import Attempt

_LONGEST, _MOST_PARTS, _MOST_GIVENS, _MOST_STEPS, _BITS = 2_000, 600, 6, 4, 400
"""Characters of a program and nodes of its tree, quantities and steps of a lesson, and bits of a number on the way."""
_CODE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE)
_NAME = re.compile(r"(?=\w*[A-Za-z]{3})[A-Za-z][A-Za-z0-9_]{0,59}")
"""With a word in it: "a1" and "n" say nothing without their problem."""
_PARTS = re.compile(r"[A-Za-z]\w*|[\d.]+(?:e[+-]?\d+)?")
_UNITS = frozenset(map(Fraction, (7, 12, 24, 52, 60, 100, 365, 1000)))
"""Numbers that belong to no task: percentages, and the parts of hours, days, weeks and years."""
_SMALL = _UNITS | {Fraction(1), Fraction(2), Fraction(3)}
"""Those that a lesson may name: doubles and halves too."""
_OPERATIONS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


class Program(NamedTuple):
    """The assignments of a program, each name once, in their order."""

    values: dict[str, ast.expr]

    @property
    def target(self) -> str:
        """What it computes at last."""
        return list(self.values)[-1]

    def needed(self) -> list[str]:
        """Return the names that the last one is computed from, and itself, in their order."""
        wanted = {self.target}
        for name in reversed(self.values):
            wanted |= _names_in(self.values[name]) if name in wanted else set()
        return [name for name in self.values if name in wanted]

    def result(self) -> Fraction | None:
        """Return the value of the last name, None where there is none or the numbers grow too long."""
        known: dict[str, Fraction] = {}
        try:
            for name, value in self.values.items():
                known[name] = _value(value, known)
        except ArithmeticError:
            return None
        return known[self.target]


def parse_formula(reply: object, attempt: Attempt) -> ParsedItems:
    """Read a program that solves the task of an attempt as a lesson: what has to be known, and what to compute.

    A step that holds a number of the task, "half as many" say, is right only for tasks that say the same: so it is part
    of what has to be known.

    Returns:
        One item, or the reason `unparsed` for what is no such program, names too much, or computes another answer.
    """
    program = _read(read_reply(reply).text)
    if program is None or program.result() not in exact_values(_right_answer(attempt)):
        return ParsedItems([], "unparsed")
    needed = program.needed()
    givens = [name for name in needed if not _names_in(program.values[name])]
    steps = [name for name in needed if name not in givens]
    if not givens or not steps or len(givens) > _MOST_GIVENS or len(steps) > _MOST_STEPS:
        return ParsedItems([], "unparsed")
    said, told = _in_words(needed, task_literals(attempt)), task_numbers(attempt)
    lines = {name: f"{said[name]} = {_formula(program.values[name], said, told)}" for name in steps}
    asked, given = said[program.target], _listed([said[name] for name in givens])
    relations = [lines[name] for name in steps if _numbers_in(program.values[name]) - (_UNITS - told)]
    item = {
        "title": asked[0].upper() + asked[1:],
        "description": f"Use this when a problem asks for the {asked} and gives the {given}"
        + (f", and where {' and '.join(relations)}." if relations else "."),
        "content": f"Compute {', then '.join(lines.values())}.",
    }
    return ParsedItems([item])


def has_formula(attempt: Attempt) -> bool:
    """Say whether the right answer is a number, so that a program can be checked against it."""
    return bool(exact_values(_right_answer(attempt)))


def _right_answer(attempt: Attempt) -> str:
    text = attempt.reference or attempt.answer or ""
    return extract_answer(text).text or text


def _read(text: str) -> Program | None:
    code = found[1] if (found := _CODE.search(text)) else text
    if len(code) > _LONGEST or "\\" in code:  # an escape in a text would make the parser warn
        return None
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if len(list(ast.walk(tree))) > _MOST_PARTS:  # what follows goes as deep as a sum is long
        return None
    values: dict[str, ast.expr] = {}
    for line in tree.body:
        if isinstance(line, ast.Expr):
            continue  # print(total): what is computed is in the assignments
        target = line.targets[0] if isinstance(line, ast.Assign) and len(line.targets) == 1 else None
        if not isinstance(target, ast.Name) or not isinstance(line, ast.Assign) or target.id in values:
            return None
        if not _NAME.fullmatch(target.id) or not _is_arithmetic(line.value, values):
            return None
        values[target.id] = values[line.value.id] if isinstance(line.value, ast.Name) else line.value
    return Program(values) if values else None


def _is_arithmetic(value: ast.expr, known: Mapping[str, ast.expr]) -> bool:
    if isinstance(value, ast.BinOp):
        return (
            type(value.op) in _OPERATIONS and _is_arithmetic(value.left, known) and _is_arithmetic(value.right, known)
        )
    if isinstance(value, ast.Constant):
        return type(value.value) in (int, float)
    return isinstance(value, ast.Name) and value.id in known


def _names_in(value: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}


def _numbers_in(value: ast.expr) -> set[Fraction]:
    return {_number(part) for part in ast.walk(value) if isinstance(part, ast.Constant)}


def _value(value: ast.expr, known: Mapping[str, Fraction]) -> Fraction:
    if isinstance(value, ast.BinOp):
        found = _OPERATIONS[type(value.op)](_value(value.left, known), _value(value.right, known))
        if max(found.numerator.bit_length(), found.denominator.bit_length()) > _BITS:
            raise OverflowError
        return found
    return known[value.id] if isinstance(value, ast.Name) else _number(value)


def _number(value: ast.expr) -> Fraction:
    constant = value.value if isinstance(value, ast.Constant) else None
    try:
        return Fraction(str(constant))
    except ValueError as error:  # inf, from a literal such as 1e999
        raise ArithmeticError from error


def _formula(value: ast.expr, said: Mapping[str, str], told: frozenset[Fraction]) -> str:
    """Write an expression with its names in words; a number of the task becomes "a given number"."""

    def in_words(part: re.Match[str]) -> str:
        if part[0] in said:
            return said[part[0]]
        number = Fraction(part[0])
        return str(number) if number in _SMALL and number not in told else "a given number"

    return _PARTS.sub(in_words, ast.unparse(value))


def _in_words(names: list[str], literals: frozenset[str]) -> dict[str, str]:
    """Return each name as words without the names of the task; those that are then the same are counted."""
    bare = {name: _words(name, literals) or "amount" for name in names}
    several = Counter(bare.values())
    seen: Counter[str] = Counter()
    said = {}
    for name, words in bare.items():
        ordinal = _ORDINALS[seen[words]] if several[words] > 1 else ""
        seen[words] += 1
        said[name] = f"{ordinal} {words}".strip()
    return said


def _words(name: str, literals: frozenset[str]) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold().split("_")
    kept = (word for word in words if word and word.capitalize() not in literals and not word.isdigit())
    return " ".join("number of" if word == "num" else word for word in kept)


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
