"""Putting lessons that were made anew in the place of the old ones of their experience, and taking them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from reasoningbank_langgraph.bank.item_values import Match, Namespace, micros, put, to_episode, to_item, without_secrets
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.bank.rows.ledger import ACTIVE, draft, draft_of_rows
from reasoningbank_langgraph.bank.upkeep.forgetting import LESSON_FORGOTTEN, rewritten, with_status
from reasoningbank_langgraph.extraction import Judged, judged_again
from reasoningbank_langgraph.namespaces import EPISODES, beside
from reasoningbank_langgraph.records import Episode, MemoryItem, utc_now

if TYPE_CHECKING:
    from langgraph.store.base import SearchItem

Rows = Sequence["SearchItem"]


class Experience(NamedTuple):
    """An experience whose lessons are to be made anew."""

    episodes: list[Episode]
    group: list[Judged]
    """The same as attempts; empty if the lessons of the run are in the bank and only have to come into use again."""
    old: int
    """Lessons that go out of use."""


class Plan(NamedTuple):
    """What a run of `redistil` finds in a bank."""

    todo: list[Experience]
    done: int
    """Experiences with lessons of the run."""
    out_of_use: int
    """Experiences of which a lesson was taken out of use or forgotten: new ones could say the same again."""


class Replaced(NamedTuple):
    """What became of one experience."""

    added: int = 0
    superseded: int = 0
    kept: str | None = None
    """Why it keeps its lessons."""
    failure: str | None = None


class Undone(NamedTuple):
    """What `MemoryBank.undo_redistil` did."""

    restored: int
    """Old lessons that are in use again."""
    retired: int
    """Lessons of the run that went out of use."""


def plan(namespace: Namespace, run: str) -> Ops[Plan]:
    """Return the experiences with episodes, oldest first, by what a run has to do about them."""
    rows = yield from rows_where(namespace, {})
    episodes = _by_experience((yield from rows_where(beside(namespace, EPISODES), {})))
    lessons, groups = {row.key: to_item(row) for row in rows}, _by_experience(rows)
    todo, done, out_of_use = list[Experience](), 0, 0
    for name, evidence in episodes.items():
        group = groups.get(name, [])
        standing = _Standing.of(run, group)
        if standing.is_done:
            done += 1
        elif not standing.made and _stays(group, evidence):
            out_of_use += 1
        else:
            kept = [to_episode(row) for row in evidence]
            attempts = [] if standing.made else [judged_again(episode, lessons) for episode in kept]
            todo.append(Experience(kept, attempts, len(standing.old)))
    return Plan(todo, done, out_of_use)


def replace(
    namespace: Namespace, match: Match, run: str, experience: Experience, items: Sequence[MemoryItem]
) -> Ops[Replaced]:
    """Write new lessons and take the old ones out of use, in one batch; what the bank has is not written again."""
    where = {"experience_id": experience.episodes[0].experience_id}
    rows = yield from rows_where(namespace, where)
    evidence = yield from rows_where(beside(namespace, EPISODES), where)
    standing, episodes = _Standing.of(run, rows), {episode.id for episode in experience.episodes}
    if not episodes <= {row.key for row in evidence} or not (items or standing.made):
        return Replaced(kept="forgotten")
    if not standing.made and _stays(rows, evidence):
        return Replaced(kept="out_of_use")
    if standing.is_done:
        return Replaced()
    moment, old = utc_now(), [row.key for row in standing.old]
    known = {
        "since": micros(moment),
        "learned": min(row.value.get("learned", row.value["since"]) for row in [*rows, *evidence]),
        "known_as": [row.key for row in [*rows, *evidence]],
    }
    fresh = [] if standing.made else [in_place(item, standing.old) for item in items]
    puts = [put(item, namespace, match, carries_task_vector=item is fresh[0], **known) for item in fresh]
    changed = {row.key: with_status(row.value, "superseded", moment) for row in standing.old}
    changed |= {row.key: {**with_status(row.value, "active", moment), "supersedes": old} for row in standing.returning}
    changed |= {row.key: {**row.value, "supersedes": [*_supersedes(row), *old]} for row in _active(standing.made)}
    reason = f"made anew, run {run}"
    drafts = [
        *draft(namespace, "redistilled", [op.key for op in puts], after=ACTIVE, reason=reason),
        *draft_of_rows(namespace, "redistilled", standing.returning, after=ACTIVE, reason=reason),
        *draft_of_rows(namespace, "superseded", standing.old, after={"status": "superseded"}, reason=reason),
    ]
    yield [*puts, *rewritten(namespace, {row.key: row.value for row in rows}, changed), *drafts]
    return Replaced(len(puts), len(old))


def _stays(lessons: Rows, episodes: Rows) -> bool:
    """Say whether somebody took a lesson of an experience out of use or forgot it, or none is in use for any reason."""
    replaced = _replaced(lessons, lessons)
    taken_out = [
        row
        for row in lessons
        if row.value["status"] == "quarantined"
        or (row.value["status"] == "superseded" and row.key not in replaced and not row.value.get("redistil_run"))
    ]
    forgotten = any(LESSON_FORGOTTEN in row.value for row in episodes)
    return bool(taken_out) or forgotten or (bool(lessons) and not _active(lessons))


def in_place(item: MemoryItem, old: Rows) -> MemoryItem:
    """Return a new lesson that takes the place of old ones: of their tags, and valid no longer than they are."""
    before = [to_item(row) for row in old]
    horizons = [one.valid_until for one in before if one.valid_until]
    changes: dict[str, Any] = {
        "supersedes": tuple(one.id for one in before),
        "valid_until": min(horizons, default=None),
    }
    if before:
        changes |= {"tags": before[0].tags, "scope": before[0].scope, "difficulty": before[0].difficulty}
    return without_secrets(item).model_copy(update=changes)


def undo(namespace: Namespace, run: str) -> Ops[Undone]:
    """Take the lessons of a run out of use and bring back those whose place they took, one experience after another.

    Where another run has taken their place since, nothing changes.
    """
    restored = retired = 0
    for rows in _by_experience((yield from rows_where(namespace, {}))).values():
        made = [row for row in rows if row.value.get("redistil_run") == run]
        active = _active(rows)
        leaving = _active(made)
        if not made or (active and not leaving) or _replaced(rows, active) & {row.key for row in made}:
            continue
        before = {key for row in made for key in _supersedes(row)}
        back = [row for row in rows if row.key in before and row.value["status"] == "superseded"]
        moment = utc_now()
        changed = {row.key: with_status(row.value, "superseded", moment) for row in leaving}
        changed |= {row.key: with_status(row.value, "active", moment) for row in back}
        if changed:
            reason = f"undo of run {run}"
            drafts = [
                *draft_of_rows(namespace, "undone", leaving, after={"status": "superseded"}, reason=reason),
                *draft_of_rows(namespace, "undone", back, after=ACTIVE, reason=reason),
            ]
            yield [*rewritten(namespace, {row.key: row.value for row in rows}, changed), *drafts]
        restored, retired = restored + len(back), retired + len(leaving)
    return Undone(restored, retired)


class _Standing(NamedTuple):
    """How the lessons of an experience stand to a run."""

    made: Rows
    """Those the run made."""
    returning: Rows
    """Those of them that come back into use: the run was undone."""
    old: Rows
    """Those in use that go out of use."""

    @classmethod
    def of(cls, run: str, rows: Rows) -> Self:
        made = [row for row in rows if row.value.get("redistil_run") == run]
        active = _active(rows)
        out = [row for row in made if row.value["status"] == "superseded"]
        later = _replaced(rows, active) & {row.key for row in made}
        if made and (later or not (out or _active(made))):
            return cls(made, [], [])
        return cls(made, out, [row for row in active if row not in made])

    @property
    def is_done(self) -> bool:
        return bool(self.made) and not self.returning and not self.old


def _active(rows: Rows) -> list[SearchItem]:
    return [row for row in rows if row.value["status"] == "active"]


def _supersedes(row: SearchItem) -> list[str]:
    return list(row.value.get("supersedes", ()))


def _replaced(rows: Rows, active: Rows) -> set[str]:
    """Return the keys of the lessons whose place active ones took, directly or one after another."""
    links = {row.key: _supersedes(row) for row in rows}
    found, ahead = set[str](), [key for row in active for key in _supersedes(row)]
    while ahead:
        key = ahead.pop()
        if key not in found:
            found.add(key)
            ahead += links.get(key, ())
    return found


def _by_experience(rows: Rows) -> dict[str, list[SearchItem]]:
    groups: dict[str, list[SearchItem]] = {}
    for row in rows:
        groups.setdefault(row.value["experience_id"], []).append(row)
    return groups
