"""Taking lessons out of use by rule, and taking the last pruning back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph.store.base import PutOp

from reasoningbank_langgraph.bank.access import StoreAccess
from reasoningbank_langgraph.bank.item_values import DISPROVED, Namespace, find, lesson_text, matched_text, micros
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.bank.rows.ledger import ACTIVE, draft_of_rows
from reasoningbank_langgraph.bank.upkeep.forgetting import rewritten, with_status
from reasoningbank_langgraph.namespaces import CREDIT, beside
from reasoningbank_langgraph.policies.pruning import Leaving, PruneRules, Standing, last_uses
from reasoningbank_langgraph.records import MemoryItem, utc_now

if TYPE_CHECKING:
    from langgraph.store.base import SearchItem, SearchOp

NEAREST = 50
"""Lessons that one is compared with: the nearest. Of more near copies than this, some may pass as new."""
_FEW = 8
"""Lessons that one is compared with first: of so many near ones, one is older, but for one lesson in eight."""
_AT_ONCE = 100
_BATCH = 1_000


class Pruned(NamedTuple):
    """What `MemoryBank.prune` did; in a dry run, what it would do."""

    leaving: Mapping[str, str]
    """Why each of these lessons goes out of use, by id."""
    left: int
    """Lessons that stay in use."""
    dry_run: bool


class Pruning(StoreAccess):
    """Part of `MemoryBank`: what takes lessons out of use by rule."""

    def prune(
        self,
        *,
        expired: bool = False,
        min_utility: float | None = None,
        unused_days: float | None = None,
        min_value: float | None = None,
        capacity: int | None = None,
        dry_run: bool = True,
    ) -> Pruned:
        """Take lessons out of use by one rule or several. First only say which and why: that is the default.

        They become `quarantined`: no search returns them, nothing is deleted, `undo_prune` brings them back, and each
        is in the ledger with the rule.

        Args:
            expired: those past their `valid_until`, which no search returns anyway.
            min_utility: those whose utility is below it, -1..1, as pairs of attempts tell; without pairs it is 0.
            unused_days: those that no attempt was shown in these days, as far as episodes, lessons and credit tell: an
                attempt that left nothing in the bank is not known. A new lesson has as many days from when it came.
            min_value: those whose `verifier_score` x novelty is below it, 0..1. Novelty is 1 - the similarity to the
                most similar older lesson of the same outcome; it embeds each lesson once, and one in eight again.
            capacity: how many may stay; of the rest, those of the lowest utility go, then of the lowest value, then
                those that were used the longest ago.
            dry_run: whether to write nothing.

        Raises:
            ValueError: no rule is given, or a number makes no sense.
            PastBankError: this bank came from `as_of()` and is read-only.
        """
        self._require_present()
        rules = PruneRules(expired, min_utility, unused_days, min_value, capacity)
        chosen, count = self._read(self._choose(rules))
        done = chosen if dry_run else self._write(_set_aside(self.namespace, chosen))
        return _pruned(done, count, dry_run=dry_run)

    async def aprune(
        self,
        *,
        expired: bool = False,
        min_utility: float | None = None,
        unused_days: float | None = None,
        min_value: float | None = None,
        capacity: int | None = None,
        dry_run: bool = True,
    ) -> Pruned:
        """Async form of `prune`."""
        self._require_present()
        rules = PruneRules(expired, min_utility, unused_days, min_value, capacity)
        chosen, count = await self._aread(self._choose(rules))
        done = chosen if dry_run else await self._awrite(_set_aside(self.namespace, chosen))
        return _pruned(done, count, dry_run=dry_run)

    def undo_prune(self) -> list[str]:
        """Bring back the lessons of the last pruning that is not undone, and return their ids.

        Those whose status changed since stay as they are. Called again, it undoes the pruning before.
        """
        return self._write(_undo(self.namespace))

    async def aundo_prune(self) -> list[str]:
        """Async form of `undo_prune`."""
        return await self._awrite(_undo(self.namespace))

    def _choose(self, rules: PruneRules) -> Ops[tuple[dict[str, Leaving], int]]:
        """Return the lessons that are to leave, and how many are in use."""
        items = yield from self._items()
        active = [item for item in items if item.status == "active"]
        uses = yield from self._uses(items)
        novelty = (yield from _novelties(self.namespace, active)) if rules.needs_novelty else {}
        lessons = [
            Standing(item, max(item.created_at, uses.get(item.id, item.created_at)), novelty.get(item.id, 1.0))
            for item in active
        ]
        return rules.choose(lessons, utc_now()), len(active)

    def _uses(self, items: Sequence[MemoryItem]) -> Ops[dict[str, datetime]]:
        """Return when each lesson was last shown to an attempt that left something."""
        episodes = yield from self._episodes()
        credit = yield from rows_where(beside(self.namespace, CREDIT), {})
        compared = [
            ([row.key], datetime.fromtimestamp(group["since"] / 1_000_000, UTC))
            for row in credit
            for group in row.value["groups"]
        ]
        learned = [(item.provenance.memory_ids_used, item.created_at) for item in items]
        return last_uses([*learned, *((episode.shown, episode.created_at) for episode in episodes), *compared])


def _pruned(chosen: Mapping[str, Leaving], count: int, *, dry_run: bool) -> Pruned:
    return Pruned({name: str(leaving) for name, leaving in chosen.items()}, count - len(chosen), dry_run)


def _novelties(namespace: Namespace, active: Sequence[MemoryItem]) -> Ops[dict[str, float]]:
    """Return the novelty of each lesson; of a store that does not score, none."""
    born = {item.id: (item.created_at, item.id) for item in active}
    found: dict[str, float] = {}
    for limit in (_FEW, NEAREST):
        left = [item for item in active if item.id not in found]
        for start in range(0, len(left), _AT_ONCE):
            some = left[start : start + _AT_ONCE]
            for item, hits in zip(some, (yield [_alike(namespace, item, limit) for item in some]), strict=True):
                older = [hit.score or 0.0 for hit in hits if hit.key in born and born[hit.key] < born[item.id]]
                if older or len(hits) < limit or limit == NEAREST:
                    found[item.id] = 1.0 - max(older, default=0.0)
    return found


def _alike(namespace: Namespace, item: MemoryItem, limit: int) -> SearchOp:
    """Return the search for lessons in use that are like this one."""
    where = {"status": "active", "outcome": item.outcome}
    return find(namespace, where, matched_text(lesson_text(item)), limit)


def _set_aside(namespace: Namespace, chosen: Mapping[str, Leaving]) -> Ops[dict[str, Leaving]]:
    """Take those of the lessons that are still in use out of it; return them.

    A row keeps when it was pruned, which is also when it was retired unless its status changed since.
    """
    rows, moment = (yield from rows_where(namespace, {})), utc_now()
    going = {row.key for row in rows if row.key in chosen and row.value["status"] == "active"}
    for group in _by_experience(rows, going):
        leaving = [row for row in group if row.key in going]
        changed = {
            row.key: {**with_status(row.value, "quarantined", moment), "pruned": micros(moment)} for row in leaving
        }
        drafts = list[PutOp]()
        for rule in dict.fromkeys(chosen[row.key].rule for row in leaving):
            of_rule = [row for row in leaving if chosen[row.key].rule == rule]
            drafts += draft_of_rows(namespace, "pruned", of_rule, after={"status": "quarantined"}, reason=rule)
        yield [*rewritten(namespace, {row.key: row.value for row in group}, changed), *drafts]
    return {name: leaving for name, leaving in chosen.items() if name in going}


def _undo(namespace: Namespace) -> Ops[list[str]]:
    rows, moment = (yield from rows_where(namespace, {})), utc_now()
    pruned = [row for row in rows if _is_pruned(row.value)]
    last = max((row.value["pruned"] for row in pruned), default=0)
    back = {row.key for row in pruned if row.value["pruned"] == last}
    for group in _by_experience(rows, back):
        returning = [row for row in group if row.key in back]
        changed = {row.key: with_status(row.value, "active", moment) for row in returning}
        drafts = draft_of_rows(namespace, "undone", returning, after=ACTIVE, reason="undo of a pruning")
        yield [*rewritten(namespace, {row.key: row.value for row in group}, changed), *drafts]
    return [row.key for row in rows if row.key in back]


def _is_pruned(value: Mapping[str, Any]) -> bool:
    """Say whether a lesson is out of use by a pruning alone: not set aside since, nor its verdict overturned."""
    by_pruning = value["status"] == "quarantined" and value.get("pruned") == value["retired"]
    return by_pruning and DISPROVED not in value


def _by_experience(rows: Sequence[SearchItem], chosen: set[str]) -> Iterator[list[SearchItem]]:
    """Yield the rows of experiences with a chosen one, whole experiences together, so many as one batch may hold."""
    groups: dict[str, list[SearchItem]] = {}
    for row in rows:
        groups.setdefault(row.value["experience_id"], []).append(row)
    batch: list[SearchItem] = []
    for group in groups.values():
        if not any(row.key in chosen for row in group):
            continue
        batch += group
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
