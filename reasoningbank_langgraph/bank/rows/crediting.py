"""What is known of the worth of each lesson: a row for each, with what every group of attempts said of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph.store.base import GetOp, Item, PutOp

from reasoningbank_langgraph.bank.branches import Branch, visibility
from reasoningbank_langgraph.bank.item_values import Namespace, micros, name_of
from reasoningbank_langgraph.bank.operations import Ops, part_of_row, rows_where
from reasoningbank_langgraph.bank.rows.ledger import draft
from reasoningbank_langgraph.namespaces import CREDIT, beside
from reasoningbank_langgraph.policies import Credit, GroupCredit
from reasoningbank_langgraph.records import Utility, utc_now

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank.snapshots import Past

GROUPS = 300
"""Groups that count for a lesson, the newest: what it did long ago, perhaps to another model, is outvoted in time."""


class DatedCredit(NamedTuple):
    """What a group of attempts said of the lessons that it was shown, and when."""

    time: datetime
    ids: tuple[str, ...]
    """Ids of the lessons."""
    credit: Credit


class Credited(NamedTuple):
    """What a group adds."""

    puts: Sequence[PutOp] = ()
    harmful: Sequence[str] = ()
    """Ids of lessons that are shown and now known to do harm."""


def count_credit(namespace: Namespace, group: GroupCredit | None) -> Ops[Credited]:
    """Count what a group says of its lessons, unless it was counted before; forgotten lessons get nothing."""
    if group is None:
        return Credited()
    place, added = beside(namespace, CREDIT), _entry(group)
    found = yield [GetOp(where, name) for name in group.ids for where in (namespace, place)]
    puts, harmful = list[PutOp](), list[str]()
    for name, lesson, row in zip(group.ids, found[::2], found[1::2], strict=True):
        known = row.value["groups"] if row else []
        if lesson is None or any(one["digest"] == added["digest"] for one in known):
            continue
        groups = [*known, added][-GROUPS:]
        puts.append(PutOp(place, name, {"groups": groups, **name_of(place)}, index=False))
        puts += _drafts(namespace, name, *(_since_last_change(lesson, several) for several in (known, groups)))
        if lesson.value["status"] == "active" and _since_last_change(lesson, groups).is_harmful:
            harmful.append(name)
    return Credited(puts, harmful)


def _drafts(namespace: Namespace, name: str, before: Credit, after: Credit) -> list[PutOp]:
    """Return what the ledger says of a lesson that is now known to help or to do harm, and was not."""
    effect = "does harm" if after.is_harmful and not before.is_harmful else "helps"
    if effect == "helps" and (before.is_helpful or not after.is_helpful):
        return []
    was, now = (utility_of(credit).to_json() for credit in (before, after))
    reason = f"an always-valid test on its pairs of attempts says that it {effect}"
    return draft(namespace, "credited", [name], before=was, after=now, reason=reason, actor="credit")


def credits_of(namespace: Namespace, ids: Sequence[str], branch: Branch, past: Past | None) -> Ops[dict[str, Credit]]:
    """Return what is known of lessons, as far as a branch may know it and it was known at a moment."""
    if not ids:
        return {}
    place = beside(namespace, CREDIT)
    rows = yield [GetOp(place, name) for name in ids]
    return (yield from visible_credits(namespace, [row for row in rows if row], branch, past))


def visible_credits(
    namespace: Namespace, rows: Iterable[Item], branch: Branch, past: Past | None
) -> Ops[dict[str, Credit]]:
    """Return the same from rows that were read."""
    seen: dict[str, list[Credit]] = {}
    for name, group in (yield from _visible_groups(namespace, rows, branch, past)):
        seen.setdefault(name, []).append(Credit(*group["credit"]))
    return {name: Credit.total(several) for name, several in seen.items()}


def history(namespace: Namespace, past: Past | None) -> Ops[list[DatedCredit]]:
    """Return what each group said, oldest first; what it said of several lessons is there once."""
    rows = yield from rows_where(beside(namespace, CREDIT), {})
    branch = past.branch if past else Branch()
    said: dict[tuple[str, Credit], list[tuple[int, str]]] = {}
    for name, group in (yield from _visible_groups(namespace, rows, branch, past)):
        said.setdefault((group["digest"], Credit(*group["credit"])), []).append((group["since"], name))
    return sorted(
        DatedCredit(
            datetime.fromtimestamp(min(several)[0] / 1_000_000, UTC), tuple(name for _, name in several), credit
        )
        for (_, credit), several in said.items()
    )


def _visible_groups(
    namespace: Namespace, rows: Iterable[Item], branch: Branch, past: Past | None
) -> Ops[list[tuple[str, Mapping[str, Any]]]]:
    """Return what a branch may know of what groups said, each with the lesson of which they said it."""
    groups = [
        (row.key, part_of_row(namespace, one["known_as"], _then(one, past) if past else one))
        for row in rows
        for one in row.value["groups"]
        if past is None or one["since"] <= past.at
    ]
    is_visible = yield from visibility(namespace, branch, [group for _, group in groups])
    return [(name, group.value) for name, group in groups if is_visible(group)]


def _then(group: Mapping[str, Any], past: Past) -> Mapping[str, Any]:
    """Return what a group said at a moment, before its verdict was overturned. Old rows do not tell when that was."""
    later = sum(time > past.at for time in group.get("turned", ()))
    return {**group, "credit": group["earlier"][-later]} if later else group


def turned_credit(namespace: Namespace, digest: str, shown: Collection[str], *, right: bool) -> Ops[list[PutOp]]:
    """Return what corrects the credit that came of an attempt, now that its verdict is overturned.

    What it said before stays beside it. Of a group of several attempts it cannot be told which pairs change, so the
    group counts no more.

    Args:
        namespace: the bank.
        digest: the attempt's.
        shown: ids of what the attempt was shown.
        right: whether it is now known to have succeeded.
    """
    place = beside(namespace, CREDIT)
    puts = list[PutOp]()
    for row in (yield from rows_where(place, {})):
        groups = [
            _turned(one, with_it=row.key in shown, right=right) if one["digest"] == digest else one
            for one in row.value["groups"]
        ]
        if groups != row.value["groups"]:
            puts.append(PutOp(place, row.key, {**row.value, "groups": groups}, index=False))
    return puts


def _turned(group: Mapping[str, Any], *, with_it: bool, right: bool) -> dict[str, Any]:
    earlier, credit = group.get("earlier", ()), Credit(*group["credit"])
    turned = Credit()
    if earlier:
        turned = Credit(*earlier[-1])
    elif credit.pairs == 1 and credit.ties:
        turned = Credit(credit.shown, int(with_it == right), int(with_it != right))
    elif credit.pairs == 1:
        turned = Credit(credit.shown, ties=1)
    since = {"earlier": [*earlier, group["credit"]], "turned": [*group.get("turned", ()), micros(utc_now())]}
    return {**group, "credit": list(turned), **since}


def utility_of(credit: Credit) -> Utility:
    """Return a credit as the record that an item carries."""
    used, helped, hurt, ties = credit
    return Utility(used=used, helped=helped, hurt=hurt, ties=ties)


def _entry(group: GroupCredit) -> dict[str, Any]:
    source = group.provenance
    return {
        "digest": source.attempt_digest,
        "credit": list(group.credit),
        "known_as": group.known_as,
        "thread_id": source.thread_id or "",
        "since": micros(utc_now()),
        "provenance": source.model_dump(mode="json", include={"line", "origin", "after"}),
    }


def _since_last_change(lesson: Item, groups: Iterable[Mapping[str, Any]]) -> Credit:
    """Return the credit since the lesson was last set aside or taken back: what was decided on is not used again."""
    changed = micros(datetime.fromisoformat(lesson.value["updated_at"]))
    return Credit.total(Credit(*one["credit"]) for one in groups if one["since"] > changed)
