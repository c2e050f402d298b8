"""What was changed in a bank: rows that are written in the batch that makes the change, and a marker for the last ones.

An operation puts a draft of each row into the batch that it tells of, and `completed` completes it there: a change and
its row are written together or not at all, and what changes nothing on a retry writes no row. The markers lie in a
namespace of their own, so that no write has to read the ledger. Each row has its own, so none is lost where several
write at once; now and then a writer removes those that it has read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from langgraph.store.base import PutOp

from reasoningbank_langgraph.bank.item_values import Namespace, delete, name_of
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.namespaces import HEADS, LEDGER, beside
from reasoningbank_langgraph.policies.ledger import Change, ChangeKind, State, digest, hash_of
from reasoningbank_langgraph.records import utc_now
from reasoningbank_langgraph.records.usage import Usage, total_usage
from reasoningbank_langgraph.text import redact_secrets
from reasoningbank_langgraph.text.fencing import cut

if TYPE_CHECKING:
    from langgraph.store.base import Item, Op

    from reasoningbank_langgraph.chat.tally import Tally

IDS = 500
"""Of one row."""
REASON_CAP = 500
ACTIVE: State = {"status": "active"}
_TICK = timedelta(microseconds=1)
_MARKERS = 16
"""From here on they are removed; to remove each at once would double the time that an attempt takes to write."""


def draft(
    namespace: Namespace,
    kind: ChangeKind,
    ids: Iterable[str],
    *,
    before: State | None = None,
    after: State | None = None,
    reason: str = "",
    actor: str = "",
    usage: Usage | None = None,
) -> list[PutOp]:
    """Return drafts of rows, to be put into the batch that makes the change; none if nothing changes.

    Args:
        namespace: the bank.
        kind: what happens.
        ids: lessons and episodes that it happens to.
        before: what is so of each of them now, never their text: plain JSON without fractions, which stores may round.
        after: what will be so.
        reason: why, in words; secrets are removed, and what exceeds 500 characters.
        actor: who does it, if it is not whoever uses the bank.
        usage: what was used for it.
    """
    told: dict[str, Any] = {"kind": kind, "before": before, "after": after, "actor": actor}
    told["reason"] = cut(redact_secrets(reason).text, REASON_CAP)
    place, every = beside(namespace, LEDGER), list(ids)
    parts = (
        {"ids": every[start : start + IDS], "usage": {} if start else usage or {}}
        for start in range(0, len(every), IDS)
    )
    return [PutOp(place, "", {**told, **part}, index=False) for part in parts]


def draft_of_rows(
    namespace: Namespace,
    kind: ChangeKind,
    rows: Iterable[Item],
    *,
    after: State | None = None,
    reason: str = "",
    actor: str = "",
) -> list[PutOp]:
    """Return the same for rows of the bank as they are now: one draft for each status."""
    ids: dict[str, list[str]] = {}
    for row in rows:
        ids.setdefault(row.value.get("status", "active"), []).append(row.key)
    return [
        put
        for status, some in ids.items()
        for put in draft(namespace, kind, some, before={"status": status}, after=after, reason=reason, actor=actor)
    ]


def completed(namespace: Namespace, actor: str, batch: Sequence[Op], tally: Tally) -> Ops[list[Any]]:
    """Carry out a batch of an operation, with the drafts in it completed; the first also says what the tally holds."""
    place = beside(namespace, LEDGER)
    drafts = [op for op in batch if isinstance(op, PutOp) and op.namespace == place]
    if not drafts:
        return (yield batch)
    heads = yield from rows_where(beside(namespace, HEADS), {})
    rest = [op for op in batch if not (isinstance(op, PutOp) and op.namespace == place)]
    values, used = [dict(op.value or {}) for op in drafts], tally.take()
    values[0]["usage"] = total_usage(values[0]["usage"], used)
    changes = _chained(values, heads, actor)
    rows = [PutOp(place, one.hash, {**one.to_json(), **name_of(place)}, index=False) for one in changes]
    try:
        return (yield [*rest, *rows, *_markers(beside(namespace, HEADS), changes, heads)])
    except BaseException:
        tally.put_back(used)
        raise


def _chained(drafts: Sequence[Mapping[str, Any]], heads: Sequence[Item], actor: str) -> list[Change]:
    """Return the rows of one batch, each of which names the one before, and the first all heads."""
    followed = {name for head in heads for name in head.value["previous"]}
    seen = tuple(sorted({head.key for head in heads} - followed))
    times = [datetime.fromisoformat(head.value["time"]) + _TICK for head in heads]
    moment, previous, changes = max([utc_now(), *times]), seen, list[Change]()
    for number, value in enumerate(drafts):
        fields = {**value, "actor": value["actor"] or actor}
        content = {field: part for field, part in fields.items() if field != "usage"}
        name = digest({**content, "seen": seen, "number": number})
        change = Change(**fields, id=name, time=moment + number * _TICK, previous=previous)
        changes.append(change.model_copy(update={"hash": hash_of(change.to_json())}))
        previous = (changes[-1].hash,)
    return changes


def _markers(place: Namespace, changes: Sequence[Change], heads: Sequence[Item]) -> list[PutOp]:
    """Return what marks the last of these rows, and removes the markers that were read if there are many."""
    last, seen = changes[-1], list(changes[0].previous)
    marker = PutOp(place, last.hash, {"time": last.time.isoformat(), "previous": seen, **name_of(place)}, index=False)
    return [marker, *(delete(head.key, place) for head in heads if len(heads) >= _MARKERS)]
