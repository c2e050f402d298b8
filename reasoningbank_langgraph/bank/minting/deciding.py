"""What becomes of the lessons of an attempt, decided once and written down with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from langgraph.store.base import GetOp, PutOp

from reasoningbank_langgraph.bank.item_values import (
    Match,
    Namespace,
    content_key,
    find,
    micros,
    name_of,
    task_key_without_secrets,
)
from reasoningbank_langgraph.bank.minting.neighbours import neighbours_of
from reasoningbank_langgraph.bank.operations import Ops
from reasoningbank_langgraph.bank.rows.ledger import ACTIVE, draft
from reasoningbank_langgraph.errors import UnmeasuredEmbedderError
from reasoningbank_langgraph.namespaces import LEFT_OUT, beside
from reasoningbank_langgraph.policies import Effect, Policy
from reasoningbank_langgraph.records import utc_now

if TYPE_CHECKING:
    from langgraph.store.base import Item

    from reasoningbank_langgraph.records import MemoryItem

_HOUR = timedelta(hours=1)
_WHY: Mapping[Effect, str] = {
    "skipped": "the policy left it out for {}",
    "run_cap": "its run had added as many lessons as it may",
    "hour_cap": "the hour had brought as many lessons as it may",
}


class Treated(NamedTuple):
    """What a policy did with one lesson."""

    item_id: str
    effect: Effect
    to: str | None = None
    """Id of the lesson it is linked to, or that stands in its place."""


class LeftOut(NamedTuple):
    """Lessons of an attempt that a policy left out, by their `content_key`: what was decided stays decided."""

    experience_id: str = ""
    treated: Mapping[str, Treated] = MappingProxyType({})

    @classmethod
    def of(cls, row: Item | None) -> Self:
        """Read the row of an attempt."""
        if row is None:
            return cls()
        return cls(row.value["experience_id"], {key: Treated(*rest) for key, *rest in row.value["left_out"]})


class Mint(NamedTuple):
    """What decides on new lessons, and where."""

    namespace: Namespace
    match: Match
    policy: Policy
    written: frozenset[str]
    """Ids that the branch of the attempt has written."""


class Minted(NamedTuple):
    """What a policy takes of the lessons of an attempt."""

    items: Sequence[MemoryItem]
    """Those to be written, with their links."""
    out: Collection[str]
    """Those of the attempt that are left out, now or earlier, by their `content_key`."""
    puts: Sequence[PutOp]
    """What else is written with them: what was left out, and what the ledger says of it and of links."""
    treated: Sequence[Treated]
    """What was done now but adding."""

    @property
    def linked(self) -> set[str]:
        """Ids of those with a link."""
        return {one.item_id for one in self.treated if one.effect == "linked"}


def left_out(namespace: Namespace, attempt: str) -> Ops[LeftOut]:
    """Return what was decided about an attempt, named by its digest or its experience."""
    (row,) = yield [GetOp(beside(namespace, LEFT_OUT), attempt)]
    return LeftOut.of(row)


def mint(place: Mint, items: Sequence[MemoryItem], before: LeftOut) -> Ops[Minted]:
    """Return what is to be written of new lessons of one attempt, which are not in the bank yet.

    Args:
        place: what decides, and where.
        items: the lessons; those left out before stay out.
        before: what was decided about this attempt earlier.
    """
    open_items = [item for item in items if content_key(item) not in before.treated]
    taken, treated = yield from _decided(place, open_items)
    room, cap = yield from _room(place, taken)
    treated |= {item.id: Treated(item.id, cap) for item in taken[room:]}
    added = {item.id for item in taken[:room]}
    new = {content_key(item): treated[item.id] for item in open_items if item.id not in added}
    out = {**before.treated, **new}
    puts = [_record(place.namespace, items[0], out)] if new else []
    drafts = [put for one in treated.values() for put in _draft(place.namespace, one)]
    return Minted(taken[:room], out, [*puts, *drafts], list(treated.values()))


def _draft(namespace: Namespace, treated: Treated) -> list[PutOp]:
    """Return what the ledger says of a lesson that was left out or linked."""
    if treated.effect == "linked":
        after = {**ACTIVE, "near": treated.to}
        return draft(
            namespace, "linked", [treated.item_id], after=after, reason=f"says nearly the same as {treated.to}"
        )
    return draft(namespace, "skipped", [treated.item_id], reason=_WHY[treated.effect].format(treated.to))


def _decided(place: Mint, items: Sequence[MemoryItem]) -> Ops[tuple[list[MemoryItem], dict[str, Treated]]]:
    """Return the lessons that are taken, and by id what became of those that are not simply added."""
    policy = place.policy
    if policy.copies == "append":
        return list(items), {}
    similar = policy.copies != "skip" and place.match != "task"
    near = yield from neighbours_of(place.namespace, items, place.written, similar=similar)
    if policy.copies == "link" and policy.similarity is None and any(one.similarity for some in near for one in some):
        raise UnmeasuredEmbedderError("of this store, which it does not name")
    taken: list[MemoryItem] = []
    treated: dict[str, Treated] = {}
    for item, neighbours in zip(items, near, strict=True):
        decision = policy.decide(item, neighbours)
        if decision.action == "skip":
            treated[item.id] = Treated(item.id, "skipped", decision.to)
        elif decision.action == "link":
            root = next(one.item.near or one.item.id for one in neighbours if one.item.id == decision.to)
            treated[item.id] = Treated(item.id, "linked", root)
            taken.append(item.model_copy(update={"near": root}))
        else:
            taken.append(item)
    return taken, treated


def _room(place: Mint, items: Sequence[MemoryItem]) -> Ops[tuple[int, Effect]]:
    """Return how many of these may still be added, and which cap says so.

    The hour is that before the lessons were distilled, so a later try of the same write sees the same one.
    """
    if not items:
        return 0, "hour_cap"
    policy, first, count = place.policy, items[0], len(items)
    since = micros(min(item.created_at for item in items) - _HOUR)
    others = {"experience_id": {"$ne": first.experience_id}}
    caps: list[tuple[int | None, Effect, Mapping[str, Any] | None]] = [
        (policy.per_run, "run_cap", {"run_id": run} if (run := first.provenance.run_id) else None),
        (policy.per_hour, "hour_cap", {"since": {"$gte": since}}),
    ]
    room: tuple[int, Effect] = count, "hour_cap"
    for most, effect, where in caps:
        if most is not None:
            past = max(0, most - count)  # rows beyond this many take the room of one of these each
            found = (yield [find(place.namespace, {**others, **where}, None, count, past)])[0] if where else ()
            room = min(room, (max(0, most - past - len(found)), effect))
    return room


def _record(namespace: Namespace, item: MemoryItem, treated: Mapping[str, Treated]) -> PutOp:
    place, source = beside(namespace, LEFT_OUT), item.provenance
    value = {
        "experience_id": item.experience_id,
        "thread_id": source.thread_id or "",
        "run_id": source.run_id or "",
        "attempt_digest": source.attempt_digest,
        "task_key": task_key_without_secrets(item.task),
        "since": micros(utc_now()),
        "left_out": [[key, *one] for key, one in treated.items()],
        **name_of(place),
    }
    return PutOp(place, source.attempt_digest or item.experience_id, value, index=False)
