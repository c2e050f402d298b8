"""The problems on which two arms differ, to be read one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.experiments.summary import Comparison
from reasoningbank_langgraph.experiments.wording import main_comparison

MOST, FEW = 120, 12
"""Entries of the main comparison, and of each other one: the page stays small however long the run was."""
Rows = Mapping[tuple[str, int, str], ResultRow]
"""By arm, seed and problem."""


class Difference(NamedTuple):
    """A problem that one arm solved and the other did not."""

    kind: Literal["broken", "fixed"]
    before: ResultRow
    """Of the arm that is compared against."""
    after: ResultRow


class ListedComparison(NamedTuple):
    """A comparison with as many of its differences as the page shows, broken ones first."""

    comparison: Comparison
    differences: list[Difference]
    is_main: bool


def listed_comparisons(comparisons: Sequence[Comparison], rows: Rows) -> Iterator[ListedComparison]:
    """Yield the main comparison, then the others."""
    main = main_comparison(comparisons)
    for comparison in sorted(comparisons, key=lambda one: one is not main):
        most = MOST if comparison is main else FEW
        yield ListedComparison(comparison, _differences(comparison, rows, most), comparison is main)


def _differences(comparison: Comparison, rows: Rows, most: int) -> list[Difference]:
    """Half of them broken and half fixed, or more of one kind where there are fewer of the other."""
    broken = comparison.broken[: max(most // 2, most - len(comparison.fixed))]
    fixed = comparison.fixed[: most - len(broken)]
    return [
        Difference(
            "fixed" if place >= len(broken) else "broken",
            before=rows[comparison.against, name.seed, name.id],
            after=rows[comparison.arm, name.seed, name.id],
        )
        for place, name in enumerate((*broken, *fixed))
    ]
