"""Writes problems.jsonl: 84 problems of 26 kinds, from sums to congruences, the easy ones first.

    python examples/math_solver/make_problems.py

Every kind comes several times with other numbers and words, so that a lesson learnt on one can help on the next.
Problems are drawn from fixed seeds; answers are integers, exact fractions or multiples of pi, never rounded.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import easy_kinds
import hard_kinds
from problem_kinds import Kind

TARGET = Path(__file__).with_name("problems.jsonl")
KINDS = easy_kinds.KINDS + hard_kinds.KINDS
COPIES = {1: 4}
"""How often a kind comes, by level; 3 times unless said here."""

Row = dict[str, str | int]


def problems() -> list[Row]:
    """Draw every problem, by level; within a level the kinds alternate."""
    by_kind = {kind.name: _copies(kind) for kind in KINDS}
    rows: list[Row] = []
    for level in range(1, 6):
        for copy in range(COPIES.get(level, 3)):
            rows.extend(by_kind[kind.name][copy] for kind in KINDS if kind.level == level)
    return rows


def _copies(kind: Kind) -> list[Row]:
    """Draw the problems of one kind, no two with the same answer."""
    rows: list[Row] = []
    draw = Random(kind.name)  # noqa: S311  numbers for exercises
    while len(rows) < COPIES.get(kind.level, 3):
        text, answer = kind.write(draw)
        if answer not in {row["answer"] for row in rows}:
            name = f"{kind.name}-{len(rows) + 1}"
            rows.append({"id": name, "problem": text, "answer": answer, "level": kind.level, "subject": kind.subject})
    return rows


if __name__ == "__main__":
    lines = [json.dumps(row) + "\n" for row in problems()]
    TARGET.write_text("".join(lines), encoding="utf-8")
    print(f"{len(lines)} problems in {TARGET.name}")
