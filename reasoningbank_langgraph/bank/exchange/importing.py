"""Adding what a file holds to a bank: all of it or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from reasoningbank_langgraph.bank.collector import collector_paused
from reasoningbank_langgraph.bank.exchange.jsonl import Exported, Numbered, NumberedEpisode
from reasoningbank_langgraph.bank.item_values import (
    Match,
    Namespace,
    delete,
    put,
    put_episode,
    to_episode,
    to_item,
    without_secrets,
)
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.bank.rows.ledger import draft
from reasoningbank_langgraph.bank.upkeep.merges import add_sources
from reasoningbank_langgraph.errors import ImportFileError
from reasoningbank_langgraph.namespaces import EPISODES, beside
from reasoningbank_langgraph.policies import ChangeKind
from reasoningbank_langgraph.records import ITEMS_PER_GROUP, Episode, MemoryItem

if TYPE_CHECKING:
    from langgraph.store.base import PutOp

BATCH = 2_400
"""Items written at once. With their vectors they stay below what a ChromaStore writes in one transaction."""


class Imported(NamedTuple):
    """What `MemoryBank.import_jsonl` did."""

    added: int
    skipped: int
    """Items that were in the bank already."""


def import_file(namespace: Namespace, match: Match, path: Path, exported: Exported) -> Ops[Imported]:
    """Write what the bank lacks; write nothing if a record is wrong or the store fails."""
    numbered = exported.items
    experiences = _by_experience(path, numbered)
    rows = yield from rows_where(namespace, {})
    with collector_paused():
        stored = {row.key: to_item(row) for row in rows}
    by_digest = {item.provenance.attempt_digest: item.experience_id for item in stored.values()}
    fresh = [_fresh(path, members, stored) for members in experiences.values() if not _is_replay(members, by_digest)]
    known_experiences = {item.experience_id for item in stored.values() if item.status == "active"}
    names = _names(exported)
    place = beside(namespace, EPISODES)
    kept = yield from rows_where(place, {})
    episodes = _fresh_episodes(path, exported.episodes, {row.key: to_episode(row) for row in kept})
    with collector_paused():
        groups = [_puts(namespace, match, items, known_experiences, names) for items in fresh]
    add_sources([op for group in groups for op in group], rows)
    added = sum(map(len, groups))
    written: list[PutOp] = []
    for batch in _batches([*groups, *([put_episode(episode, place)] for episode in episodes)]):
        try:
            yield [*batch, *_drafts(namespace, "imported", batch, f"from {path.name}")]
        except Exception:
            failed = _drafts(namespace, "undone", written, "the import failed")
            yield [*(delete(op.key, op.namespace) for op in [*written, *batch]), *failed]
            raise
        written += batch
    return Imported(added, len(numbered) - added)


def _puts(
    namespace: Namespace,
    match: Match,
    items: Sequence[MemoryItem],
    known_experiences: Collection[str],
    names: Mapping[str, list[str]],
) -> list[PutOp]:
    """Return the operations that write one experience; its first item in use carries the task's vector if none does.

    Items that were made anew, or under a later verdict, are also known by what else there is of their experience.
    """
    carrier = next((item for item in items if item.status == "active"), items[0]) if items else None
    return [
        put(
            item,
            namespace,
            match,
            carries_task_vector=item is carrier and item.experience_id not in known_experiences,
            **({"known_as": names[item.experience_id]} if item.redistil_run or item.later_verdict else {}),
        )
        for item in items
    ]


def _drafts(namespace: Namespace, kind: ChangeKind, puts: Sequence[PutOp], reason: str) -> list[PutOp]:
    """Return what the ledger says of records that come into the bank, or go again."""
    by_status: dict[str, list[str]] = {}
    for op in puts:
        by_status.setdefault((op.value or {}).get("status", "active"), []).append(op.key)
    drafts: list[PutOp] = []
    for status, ids in by_status.items():
        before, after = (None, {"status": status}) if kind == "imported" else ({"status": status}, None)
        drafts += draft(namespace, kind, ids, before=before, after=after, reason=reason)
    return drafts


def _names(exported: Exported) -> dict[str, list[str]]:
    """Return the ids of the lessons and episodes of each experience."""
    names: dict[str, list[str]] = {}
    records: list[MemoryItem | Episode] = [item for _, item in exported.items]
    for record in [*records, *(episode for _, episode in exported.episodes)]:
        names.setdefault(record.experience_id, []).append(record.id)
    return names


def _batches(experiences: Sequence[list[PutOp]]) -> Iterator[list[PutOp]]:
    batch: list[PutOp] = []
    for puts in experiences:
        if len(batch) + len(puts) > BATCH:
            yield batch
            batch = []
        batch += puts
    if batch:
        yield batch


def _by_experience(path: Path, numbered: Sequence[Numbered]) -> dict[str, list[Numbered]]:
    lines: dict[str, int] = {}
    experiences: dict[str, list[Numbered]] = {}
    in_use: Counter[str] = Counter()
    for number, item in numbered:
        if item.id in lines:
            raise ImportFileError(path, number, f"the id {item.id!r} is on line {lines[item.id]} as well")
        lines[item.id] = number
        members = experiences.setdefault(item.experience_id, [])
        members.append((number, without_secrets(item)))
        in_use[item.experience_id] += item.status == "active"
        if in_use[item.experience_id] > ITEMS_PER_GROUP:
            raise ImportFileError(
                path, number, f"experience {item.experience_id!r} has more than {ITEMS_PER_GROUP} items in use"
            )
    return experiences


def _is_replay(members: Sequence[Numbered], by_digest: Mapping[str, str]) -> bool:
    """Say whether the same attempt is in the bank as another experience."""
    item = members[0][1]
    digest = item.provenance.attempt_digest
    return bool(digest) and by_digest.get(digest, item.experience_id) != item.experience_id


def _fresh(path: Path, members: Sequence[Numbered], stored: Mapping[str, MemoryItem]) -> list[MemoryItem]:
    fresh = []
    for number, item in members:
        present = stored.get(item.id)
        if present is None:
            fresh.append(item)
        elif _text(present) != _text(item) != _text(without_secrets(present)):
            raise ImportFileError(path, number, f"the bank has an item with the id {item.id!r} and another text")
    return fresh


def _fresh_episodes(path: Path, numbered: Sequence[NumberedEpisode], stored: Mapping[str, Episode]) -> list[Episode]:
    """Return the episodes that the bank lacks, each once."""
    fresh: dict[str, Episode] = {}
    for number, episode in numbered:
        clean = without_secrets(episode)
        present = stored.get(episode.id) or fresh.setdefault(episode.id, clean)
        if (present.task, present.solution) != (clean.task, clean.solution):
            raise ImportFileError(path, number, f"another episode has the id {episode.id!r} and another text")
    return list(fresh.values())


def _text(item: MemoryItem) -> tuple[str, ...]:
    return (item.title, item.description, item.content, item.task, item.outcome)
