"""Writing the lessons and the episodes of one experience: all together or none, and once."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph.store.base import GetOp, PutOp

from reasoningbank_langgraph.bank.item_values import (
    Match,
    Namespace,
    content_key,
    is_of_verdict,
    put,
    put_episode,
    to_item,
    without_secrets,
)
from reasoningbank_langgraph.bank.minting.deciding import LeftOut, Mint, Treated, left_out, mint
from reasoningbank_langgraph.bank.minting.evicting import make_room
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.bank.rows.crediting import count_credit
from reasoningbank_langgraph.bank.rows.guarding import Counted, count
from reasoningbank_langgraph.bank.rows.ledger import ACTIVE, draft, draft_of_rows
from reasoningbank_langgraph.bank.rows.pending import end_waiting, let_wait
from reasoningbank_langgraph.bank.upkeep.forgetting import change_of_status, rewritten
from reasoningbank_langgraph.errors import InvalidRecordError, TooManyItemsError
from reasoningbank_langgraph.namespaces import EPISODES, beside
from reasoningbank_langgraph.policies import GroupCredit, Policy
from reasoningbank_langgraph.records import Episode, MemoryItem, PendingAttempt

if TYPE_CHECKING:
    from langgraph.store.base import Item, SearchItem

    from reasoningbank_langgraph.policies import GuardStatus, Trial
    from reasoningbank_langgraph.records.usage import Usage

logger = logging.getLogger(__name__)
_HARM = "an always-valid test on its pairs of attempts says that it does harm"


class WriteResult(NamedTuple):
    """What `MemoryBank.add` did."""

    ids: list[str]
    """Ids under which the lessons of this attempt are in the bank."""
    added: int
    """Rows written by this call: 0 when the attempt was in the bank already."""


class WeighedResult(WriteResult):
    """The same, and what the evidence and the policy led to."""

    switched: GuardStatus | None = None
    """What the guard knows now, if it switched memory on or off."""
    quarantined: Sequence[str] = ()
    """Ids of lessons that are now known to do harm, and were taken out of sight."""
    treated: Sequence[Treated] = ()
    """What this call did with lessons by its policy, but for adding them."""


class Experience(NamedTuple):
    """What one experience left; the fields are arguments of `MemoryBank.add`."""

    items: Sequence[MemoryItem]
    episodes: Sequence[Episode] = ()
    trial: Trial | None = None
    credit: GroupCredit | None = None
    policy: Policy = Policy(copies="append")
    written: frozenset[str] = frozenset()
    pending: PendingAttempt | None = None
    """The attempt, if something of it is still to be learned."""
    marks: Mapping[str, Any] = MappingProxyType({})
    """Further fields of the rows of lessons and episodes."""
    told: Sequence[PutOp] = ()
    """What the ledger says beside what it says of every write."""
    usage: Usage = MappingProxyType({})
    """What it used, which the ledger says when the bank first keeps something of it."""

    @property
    def records(self) -> list[Episode | MemoryItem | PendingAttempt]:
        """All that is written."""
        return [*self.episodes, *self.items, *([self.pending] if self.pending else [])]


def add(namespace: Namespace, match: Match, left: Experience, cap: int) -> Ops[WeighedResult]:
    """Write what one experience left, unless its attempt is in the bank already; remove rows of an earlier call."""
    if len(left.items) > cap:
        raise TooManyItemsError(len(left.items), cap)
    if len({record.experience_id for record in left.records}) > 1:
        raise InvalidRecordError("add() takes the records of one experience: call it once for each")
    trial = yield from count(namespace, left.trial)
    credit = yield from count_credit(namespace, left.credit or _credit_of_pair(left, trial))
    evidence = [*left.told, *trial.puts, *credit.puts]
    if credit.harmful:
        evidence += (yield from change_of_status(namespace, credit.harmful, "quarantined", _HARM, "credit"))[1]
    if left.pending:
        evidence += yield from let_wait(namespace, left.pending)
    else:
        evidence += yield from end_waiting(namespace, [*left.episodes, *left.items])
    result = yield from _add_records(namespace, match, left, evidence, credit.harmful)
    result.switched, result.quarantined = trial.switched, credit.harmful
    return result


def _credit_of_pair(left: Experience, trial: Counted) -> GroupCredit | None:
    """Return what a task that was solved both ways, in two tests of the guard, says of the lessons it was shown."""
    kept: list[Episode | MemoryItem] = [*left.episodes, *left.items]
    if not trial.ids or not kept:
        return None
    source = kept[0].provenance
    return GroupCredit(ids=tuple(trial.ids), credit=trial.credit, known_as=kept[0].id, provenance=source)


def _add_records(
    namespace: Namespace, match: Match, left: Experience, evidence: Sequence[PutOp], harmful: Sequence[str]
) -> Ops[WeighedResult]:
    """Write lessons and episodes and, in the same batch, what the experience says of the memory it was shown.

    Where its lessons were made anew since, or it was judged anew, no lesson is left to write: those are of the same
    attempt. Nor is one where it comes with another verdict than it has.
    """
    episodes, found = yield from _new_episodes(namespace, left)
    overturned = any(row.value.get("earlier") for _, row in found)
    others = [(row.value, episode.outcome) for episode, row in found if row.value["outcome"] != episode.outcome]
    if others and not overturned:
        _warn_of_other_outcome(*others[0])
        yield from _write(evidence)
        return WeighedResult([row.key for row in (yield from _same_attempt(namespace, left))], 0)
    if left.episodes and not episodes:
        left = left._replace(usage={})
    names, reason = [op.key for op in episodes], _reason(left)
    kept = [*episodes, *draft(namespace, "added", names, after=ACTIVE, reason=reason, usage=left.usage)]
    if not left.items:
        yield from _write([*kept, *evidence])
        return WeighedResult([], 0)
    left = left._replace(items=[without_secrets(item) for item in left.items])
    experience, digest = left.items[0].experience_id, left.items[0].provenance.attempt_digest
    same_attempt = yield from _same_attempt(namespace, left)
    before = LeftOut() if left.policy.only_appends else (yield from left_out(namespace, digest or experience))
    stored = {row.key: to_item(row) for row in same_attempt if row.value["experience_id"] == experience}
    known = [row.key for row in same_attempt]
    if (known and not stored) or before.experience_id not in ("", experience):
        if same_attempt:
            _warn_of_other_outcome(same_attempt[0].value, left.items[0].outcome)
        yield from _write(evidence)
        return WeighedResult(known, 0)
    made_anew = any(item.redistil_run for item in stored.values())
    if made_anew or overturned or any(map(is_of_verdict, same_attempt)):
        yield from _write([*kept, *evidence])
        return WeighedResult(known, 0)
    old = [row for row in same_attempt if row.key in stored]
    return (yield from _take(namespace, match, left, old, before, [*episodes, *evidence], harmful))


def _take(
    namespace: Namespace,
    match: Match,
    left: Experience,
    old: Sequence[SearchItem],
    before: LeftOut,
    beside_them: Sequence[PutOp],
    harmful: Sequence[str],
) -> Ops[WeighedResult]:
    """Write those lessons of an attempt that the policy takes, and all that belongs to them, in one batch."""
    stored = {row.key: to_item(row) for row in old}
    minted = yield from mint(Mint(namespace, match, left.policy, left.written), _fresh(left.items, stored), before)
    kept = [item.id for item in left.items if content_key(item) not in minted.out]
    changed = {
        item.id: put(item, namespace, match, carries_task_vector=item.id == kept[0], **left.marks).value
        for item in minted.items
    }
    changed |= dict.fromkeys(stored.keys() - set(kept))
    puts = rewritten(namespace, {row.key: row.value for row in old}, changed)
    coming = len(kept) if minted.items else 0
    room, evicted = yield from make_room(namespace, left.policy.capacity, coming, {*stored, *harmful})
    told = [op for op in puts if op.key in changed.keys() - minted.linked]
    told += [op for op in beside_them if op.namespace == beside(namespace, EPISODES)]
    drafts = _drafts(namespace, left, told, old)
    yield from _write([*puts, *beside_them, *minted.puts, *room, *drafts])
    result = WeighedResult(kept, len(minted.items))
    result.treated = [*minted.treated, *evicted]
    return result


def _drafts(namespace: Namespace, left: Experience, puts: Sequence[PutOp], stored: Sequence[SearchItem]) -> list[PutOp]:
    """Return what the ledger says of a write: what is new, and what a retry that distilled anew wrote over or removed.

    Args:
        namespace: the bank.
        left: what the experience left.
        puts: what is written.
        stored: what the bank has of the experience.
    """
    names, reason = {row.key for row in stored}, _reason(left)
    over = {op.key for op in puts if op.value}
    gone = {op.key for op in puts if not op.value}
    new = [op.key for op in puts if op.key not in names]
    again = "the attempt was distilled again"
    return [
        *draft(namespace, "added", new, after=ACTIVE, reason=reason, usage={} if stored else left.usage),
        *draft_of_rows(namespace, "replaced", (row for row in stored if row.key in over), after=ACTIVE, reason=again),
        *draft_of_rows(namespace, "replaced", (row for row in stored if row.key in gone), reason=again),
    ]


def _reason(left: Experience) -> str:
    """Return what an experience was learned from, in words."""
    records: list[MemoryItem | Episode] = [*left.items, *left.episodes]
    outcomes = ", ".join(sorted({record.outcome for record in records}))
    judges = ", ".join(sorted({record.provenance.judge for record in records} - {""}))
    return f"learned from {outcomes}" + (f", judged by {judges}" if judges else "")


def _new_episodes(namespace: Namespace, left: Experience) -> Ops[tuple[list[PutOp], list[tuple[Episode, Item]]]]:
    """Return what writes the episodes that the bank lacks, and the others, each with its row."""
    place = beside(namespace, EPISODES)
    rows = (yield [GetOp(place, episode.id) for episode in left.episodes]) if left.episodes else []
    pairs = list(zip(left.episodes, rows, strict=True))
    puts = [put_episode(without_secrets(episode), place, **left.marks) for episode, row in pairs if row is None]
    return puts, [(episode, row) for episode, row in pairs if row]


def _same_attempt(namespace: Namespace, left: Experience) -> Ops[list[SearchItem]]:
    """Return the lessons that the bank has of an attempt."""
    records: list[MemoryItem | Episode] = [*left.items, *left.episodes]
    first = records[0]
    digest = first.provenance.attempt_digest
    identity = {"attempt_digest": digest} if digest else {"experience_id": first.experience_id}
    return (yield from rows_where(namespace, identity))


def _write(ops: Sequence[PutOp]) -> Ops[None]:
    if ops:
        yield ops


def _warn_of_other_outcome(stored: Mapping[str, Any], outcome: str) -> None:
    if stored["outcome"] != outcome:
        logger.warning(
            "an attempt came again as %s and stays in the bank as %s: to learn it anew, forget(experience_id=%r) first",
            outcome,
            stored["outcome"],
            stored["experience_id"],
        )


def _fresh(items: Sequence[MemoryItem], stored: Mapping[str, MemoryItem]) -> list[MemoryItem]:
    """Return the items that the store lacks or holds with a different text; the others keep their counts and times."""
    texts = {item_id: (item.title, item.description, item.content) for item_id, item in stored.items()}
    return [item for item in items if texts.get(item.id) != (item.title, item.description, item.content)]
