"""The leak audit, recomputed from the rows alone and by other means than the guard's, which it checks."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from reasoningbank_langgraph.errors import InvalidRecordError
from reasoningbank_langgraph.experiments.leaks.answer_forms import holds_answer
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.experiments.summary import Leak, LeakAudit, NearDuplicate
from reasoningbank_langgraph.records import normalise_task
from reasoningbank_langgraph.text import parse_rendered

_SAMPLE, _OTHERS = 200, 10
"""Rows, and other problems for each, whose answers are looked for to tell a leak from chance."""


def audit_leaks(rows: Sequence[ResultRow], duplicates: Sequence[NearDuplicate], arms: Sequence[str]) -> LeakAudit:
    """Look through what was shown in some arms.

    Args:
        rows: of all arms; those of the learning arm tell what a source was about.
        duplicates: pairs of problems that are nearly the same.
        arms: the arms that are compared.
    """
    shown = [row for row in rows if row.memory and row.arm in arms]
    items = [memory_items(row.memory) for row in shown]
    gold = [sum(holds_answer(item, row.reference) for item in texts) for row, texts in zip(shown, items, strict=True)]
    self_retrieved = list(_self_retrieved(shown, {row.id: normalise_task(row.problem) for row in rows}))
    with_gold = [row for row, count in zip(shown, gold, strict=True) if count]
    dropped = [row for row in rows if row.dropped and row.arm in arms]
    learning = _of_learning_arms([row for row in rows if row.arm in arms])
    near_rows = list(_near_rows(learning, duplicates))
    near = dict.fromkeys(pair for _, pairs in near_rows for pair in pairs)
    solved_near = {row.id for row, _ in near_rows}
    return LeakAudit(
        rows=len(shown),
        items=sum(map(len, items)),
        self_retrieved=tuple(map(_leak, self_retrieved)),
        with_gold=tuple(map(_leak, with_gold)),
        gold_items=sum(gold),
        gold_by_chance=_by_chance(shown, items),
        dropped=sum(len(row.dropped) for row in dropped),
        dropped_rows=len(dropped),
        near_duplicates=tuple(near),
        near_rows=len(near_rows),
        learning_rows=len(learning),
        flagged=tuple(sorted({row.id for row in (*self_retrieved, *with_gold)} | solved_near)),
    )


def memory_items(memory: str) -> list[str]:
    """Return the texts of the items in a memory; one that is not a block of notes counts as a single item."""
    try:
        items = parse_rendered(memory)
    except InvalidRecordError:
        return [memory]
    return [" ".join(item.get(name, "") for name in ("title", "description", "content")) for item in items]


def _self_retrieved(rows: Sequence[ResultRow], texts: dict[str, str]) -> Iterator[ResultRow]:
    for row in rows:
        own = normalise_task(row.problem)
        if any(source == row.id or texts.get(source) == own for source in row.sources):
            yield row


def _of_learning_arms(rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Return the rows of the arms that have a bank."""
    arms = {row.arm for row in rows if row.memory or row.learned or row.bank}
    return [row for row in rows if row.arm in arms]


def _near_rows(
    rows: Sequence[ResultRow], duplicates: Sequence[NearDuplicate]
) -> Iterator[tuple[ResultRow, list[NearDuplicate]]]:
    """Yield the rows whose problem has a near copy that was learned from before, with the pairs.

    In a stream the pairs are of the problems themselves: one counts for the row that came later.
    """
    pairs: dict[str, list[NearDuplicate]] = defaultdict(list)
    for pair in duplicates:
        pairs[pair.test_id].append(pair)
        pairs[pair.train_id].append(pair)
    places = {row.key: row.position for row in rows}
    for row in rows:
        before = [pair for pair in pairs[row.id] if _was_learned(pair, row, places)]
        if before:
            yield row, before


def _was_learned(pair: NearDuplicate, row: ResultRow, places: Mapping[tuple[str, int, str], int]) -> bool:
    """All of a frozen bank was, and its tasks may have the ids of other test problems."""
    if row.bank_digest:
        return pair.test_id == row.id
    other = pair.train_id if row.id == pair.test_id else pair.test_id
    return places.get((row.arm, row.seed, other), -1) < row.position


def _by_chance(rows: Sequence[ResultRow], items: Sequence[Sequence[str]]) -> float:
    """Estimate how many items would hold the answer of some other problem, from a sample with a fixed seed."""
    draw = random.Random(0)  # noqa: S311 - no secret
    answers = list({row.id: row.reference for row in rows}.values())
    sampled = draw.sample(list(zip(rows, items, strict=True)), min(_SAMPLE, len(rows)))
    expected = 0.0
    for row, texts in sampled:
        others = [answer for answer in draw.sample(answers, min(_OTHERS, len(answers))) if answer != row.reference]
        hits = sum(holds_answer(item, answer) for answer in others for item in texts)
        expected += hits / max(len(others), 1)
    return expected * len(rows) / max(len(sampled), 1)


def _leak(row: ResultRow) -> Leak:
    return Leak(arm=row.arm, seed=row.seed, id=row.id)
