"""Where a memory helps: on problems near to what was learned, on long solutions, or everywhere alike.

Problems are put in order of a number and cut into three parts of equal size; in each, an arm is compared with the arm
of as many attempts without memory. The number has to favour neither arm: the similarity of the nearest task that was
learned is known before the arms begin, and of the lengths of the replies the mean of both arms is taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from statistics import mean

from reasoningbank_langgraph.experiments.arms import Arm, unaided_name
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.experiments.stats import mean_difference
from reasoningbank_langgraph.experiments.summary import By, Tercile

LEAST = 9
"""Problems that are cut in three at least."""
Rows = Mapping[str, Sequence[ResultRow]]
"""By arm."""
Pair = tuple[ResultRow, ResultRow]
"""Of the arm and of the one it is compared with, for one problem and seed."""


def terciles(first: str, arms: Sequence[Arm], rows: Rows) -> Iterator[Tercile]:
    """Yield the parts of each arm with the ordinary bank, compared with its like without memory, else the first arm."""
    with_memory = [arm for arm in arms if arm.memory in ("retrieved", "examples")]
    ordinary = [arm for arm in with_memory if arm.bank is None and not arm.matts and not arm.solver and not arm.copies]
    for arm in ordinary:
        near = _nearest(row for other in ordinary if other.memory == arm.memory for row in rows[other.name])
        alone = unaided_name(arm)
        against = first if alone is None or alone not in rows else alone
        if against == arm.name or against not in rows:
            continue
        pairs = _pairs(rows[arm.name], rows[against])
        yield from _parts(arm.name, against, "similarity", pairs, partial(_similarity, near))
        yield from _parts(arm.name, against, "reply length", pairs, _length)


def _nearest(rows: Iterable[ResultRow]) -> dict[str, float]:
    """By problem: how similar the nearest of the tasks is that something was retrieved from."""
    near: dict[str, float] = {}
    for row in rows:
        if row.scores:
            near[row.id] = max(near.get(row.id, 0.0), *row.scores)
    return near


def _pairs(rows: Sequence[ResultRow], others: Sequence[ResultRow]) -> list[list[Pair]]:
    """The rows of both arms, problem by problem."""
    found = {(row.seed, row.id): row for row in others if row.error is None}
    pairs: dict[str, list[Pair]] = defaultdict(list)
    for row in rows:
        if row.error is None and (row.seed, row.id) in found:
            pairs[row.id].append((row, found[row.seed, row.id]))
    return list(pairs.values())


def _similarity(near: Mapping[str, float], pairs: Sequence[Pair]) -> float | None:
    return near.get(pairs[0][0].id)


def _length(pairs: Sequence[Pair]) -> float:
    return mean(row.reply_length for pair in pairs for row in pair)


def _parts(
    arm: str, against: str, by: By, pairs: Sequence[list[Pair]], number: Callable[[list[Pair]], float | None]
) -> Iterator[Tercile]:
    """Nothing where there are too few problems, or where the number is the same for all."""
    placed = [(place, both) for both in pairs if (place := number(both)) is not None]
    placed.sort(key=lambda entry: (entry[0], entry[1][0][0].id))
    if len(placed) < LEAST or placed[0][0] == placed[-1][0]:
        return
    cuts = [round(len(placed) * third / 3) for third in range(4)]
    for start, end in pairwise(cuts):
        part = placed[start:end]
        yield _tercile(arm, against, by, part[0][0], part[-1][0], [both for _, both in part])


def _tercile(arm: str, against: str, by: By, low: float, high: float, problems: Sequence[list[Pair]]) -> Tercile:
    after, before = ([mean(pair[side].right for pair in pairs) for pairs in problems] for side in range(2))
    lengths = [mean(pair[side].reply_length for pairs in problems for pair in pairs) for side in range(2)]
    return Tercile(
        arm=arm,
        against=against,
        by=by,
        low=low,
        high=high,
        problems=len(problems),
        accuracy=mean(after),
        accuracy_against=mean(before),
        reply_length=lengths[0],
        reply_length_against=lengths[1],
        difference=mean_difference([one - other for one, other in zip(after, before, strict=True)]),
    )
