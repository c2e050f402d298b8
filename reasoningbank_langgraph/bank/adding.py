"""Writing the lessons and the episodes of one experience: all together or none, and once."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph.store.base import GetOp, PutOp

from reasoningbank_langgraph.bank.guarding import count
from reasoningbank_langgraph.bank.item_values import (
    Match,
    Namespace,
    delete,
    put,
    put_episode,
    to_item,
    without_secrets,
)
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.errors import InvalidRecordError, TooManyItemsError
from reasoningbank_langgraph.namespaces import EPISODES, beside
from reasoningbank_langgraph.records import Episode, MemoryItem

if TYPE_CHECKING:
    from reasoningbank_langgraph.policies import GuardStatus, Trial

logger = logging.getLogger(__name__)


class WriteResult(NamedTuple):
    """What `MemoryBank.add` did."""

    ids: list[str]
    """Ids under which the lessons of this attempt are in the bank."""
    added: int
    """Rows written by this call: 0 when the attempt was in the bank already."""
    switched: GuardStatus | None = None
    """What the guard knows now, if this attempt made it switch memory on or off."""


class Experience(NamedTuple):
    """What one experience left; the fields are arguments of `MemoryBank.add`."""

    items: Sequence[MemoryItem]
    episodes: Sequence[Episode] = ()
    trial: Trial | None = None


def add(namespace: Namespace, match: Match, left: Experience, cap: int) -> Ops[WriteResult]:
    """Write what one experience left, unless its attempt is in the bank already; remove rows of an earlier call."""
    items, episodes, _ = left
    if len(items) > cap:
        raise TooManyItemsError(len(items), cap)
    if len({item.experience_id for item in items} | {episode.experience_id for episode in episodes}) > 1:
        raise InvalidRecordError("add() takes the records of one experience: call it once for each")
    trial = yield from count(namespace, left.trial)
    beside_lessons = [*(yield from _new_episodes(namespace, episodes)), *trial.puts]
    if not items:
        yield from _write(beside_lessons)
        return WriteResult([], 0, trial.switched)
    items = [without_secrets(item) for item in items]
    experience, digest = items[0].experience_id, items[0].provenance.attempt_digest
    identity = {"attempt_digest": digest} if digest else {"experience_id": experience}
    same_attempt = yield from rows_where(namespace, identity)
    stored = {row.key: to_item(row) for row in same_attempt if row.value["experience_id"] == experience}
    if same_attempt and not stored:
        _warn_of_other_outcome(same_attempt[0].value, items[0])
        yield from _write(trial.puts)
        return WriteResult([row.key for row in same_attempt], 0, trial.switched)
    fresh = _fresh(items, stored)
    puts = [put(item, namespace, match, carries_task_vector=item.id == items[0].id) for item in fresh]
    stale = [delete(name, namespace) for name in stored.keys() - {item.id for item in items}]
    yield from _write([*puts, *beside_lessons, *stale])
    return WriteResult([item.id for item in items], len(fresh), trial.switched)


def _new_episodes(namespace: Namespace, episodes: Sequence[Episode]) -> Ops[list[PutOp]]:
    """Return what writes the episodes that the bank lacks."""
    if not episodes:
        return []
    place = beside(namespace, EPISODES)
    found = yield [GetOp(place, episode.id) for episode in episodes]
    lacking = [episode for episode, row in zip(episodes, found, strict=True) if row is None]
    return [put_episode(without_secrets(episode), place) for episode in lacking]


def _write(ops: Sequence[PutOp]) -> Ops[None]:
    if ops:
        yield ops


def _warn_of_other_outcome(stored_row: Mapping[str, Any], item: MemoryItem) -> None:
    if stored_row["outcome"] != item.outcome:
        logger.warning(
            "an attempt came again as %s and stays in the bank as %s: to learn it anew, forget(experience_id=%r) first",
            item.outcome,
            stored_row["outcome"],
            stored_row["experience_id"],
        )


def _fresh(items: Sequence[MemoryItem], stored: Mapping[str, MemoryItem]) -> list[MemoryItem]:
    """Return the items that the store lacks or holds with a different text; the others keep their counts and times."""
    texts = {item_id: (item.title, item.description, item.content) for item_id, item in stored.items()}
    return [item for item in items if texts.get(item.id) != (item.title, item.description, item.content)]
