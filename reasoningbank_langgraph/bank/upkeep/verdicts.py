"""A verdict that comes after the attempt: what changes in the bank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID, uuid5

from langgraph.store.base import PutOp

from reasoningbank_langgraph.bank.adding import Experience, WeighedResult, add
from reasoningbank_langgraph.bank.item_values import (
    DISPROVED,
    LATER,
    OVERTURNED,
    Match,
    Namespace,
    put,
    put_episode,
    put_pending,
    to_episode,
    to_pending,
    without_secrets,
)
from reasoningbank_langgraph.bank.operations import Ops
from reasoningbank_langgraph.bank.rows.crediting import turned_credit
from reasoningbank_langgraph.bank.rows.ledger import ACTIVE, draft, draft_of_rows
from reasoningbank_langgraph.bank.rows.pending import drop
from reasoningbank_langgraph.bank.upkeep.distillations import in_place
from reasoningbank_langgraph.bank.upkeep.forgetting import rewritten, with_status
from reasoningbank_langgraph.bank.upkeep.known_attempts import Known, find
from reasoningbank_langgraph.extraction import Extraction, Origin
from reasoningbank_langgraph.extraction.contrast import CONTRAST_HASH, make_group_items
from reasoningbank_langgraph.extraction.extractor import PROMPT_HASH
from reasoningbank_langgraph.extraction.metadata import Metadata, labelled
from reasoningbank_langgraph.extraction.results import IDS
from reasoningbank_langgraph.extraction.waiting import episodes_of, judged_group, overturned
from reasoningbank_langgraph.namespaces import EPISODES, PENDING, beside
from reasoningbank_langgraph.policies import Policy, Trial
from reasoningbank_langgraph.records import Episode, FailureKind, MemoryItem, PendingAttempt, Verdict, utc_now

if TYPE_CHECKING:
    from langgraph.store.base import SearchItem


class ResolveResult(WeighedResult):
    """What `MemoryBank.resolve` did; the other fields are those of any write."""

    superseded: Sequence[str] = ()
    """Ids of lessons that went out of use, because a verdict was overturned."""
    failure: str | None = None
    """Why nothing was distilled: the model's failure. The verdict is kept and the attempt goes on waiting."""
    failure_kind: FailureKind | None = None
    """What kind of failure it was."""


class Lessons(NamedTuple):
    """What a model made of an attempt, and how its lessons are taken."""

    distilled: Extraction
    model: str
    """Its name."""
    match: Match
    policy: Policy
    metadata: Metadata | None


def settle(
    namespace: Namespace, attempt_id: str, verdict: Verdict, lessons: Lessons, *, overturns: bool
) -> Ops[ResolveResult]:
    """Write what follows from a verdict, in one batch; nothing if it brings nothing new.

    If the model could not be reached, the attempt is first written with the verdict, to go on waiting.

    Args:
        namespace: the bank.
        attempt_id: the attempt.
        verdict: what is now known of it.
        lessons: what a model made of it.
        overturns: whether it takes the place of another verdict.
    """
    known = yield from find(namespace, attempt_id)
    if not overturns and known.contradicts(verdict):
        return ResolveResult([row.key for row in known.active], 0)
    if known.is_settled(verdict):
        if known.pending and verdict.status != "indeterminate":
            yield drop(namespace, [attempt_id])
        return ResolveResult([row.key for row in known.active], 0)
    learned = _learned(known, verdict, lessons)
    if learned.waiting is None and known.status is None and not known.returning(verdict):
        return ResolveResult([row.key for row in known.active], 0)
    if learned.fails and learned.waiting:
        yield [_go_on_waiting(namespace, known, learned.waiting)]
    if known.lessons or known.status not in (None, verdict.status):
        result = _result((yield from _overturn(namespace, lessons.match, known, verdict, learned)), lessons.distilled)
        result.superseded = [row.key for row in known.active]
        return result
    goes_on = learned.waiting if learned.fails else None
    told = draft(namespace, "resolved", [known.id], after={"outcome": verdict.status}, reason=_reason(verdict))
    left = Experience(
        learned.items,
        learned.episodes,
        _trial(known, verdict),
        policy=lessons.policy,
        pending=goes_on,
        marks=_marks(known),
        told=told,
        usage=to_pending(known.pending).usage if known.pending else {},
    )
    return _result((yield from add(namespace, lessons.match, left, len(learned.items))), lessons.distilled)


def _result(written: WeighedResult, distilled: Extraction) -> ResolveResult:
    result = ResolveResult(*written)
    result.switched, result.quarantined, result.treated = written.switched, written.quarantined, written.treated
    if distilled.reason == "error":
        result.failure, result.failure_kind = distilled.raw or "", distilled.failure
    return result


class _Learned(NamedTuple):
    """What a verdict and a model made of an attempt."""

    items: Sequence[MemoryItem] = ()
    episodes: Sequence[Episode] = ()
    waiting: PendingAttempt | None = None
    """The attempt with its verdict."""
    fails: bool = False
    """Whether the model could not be reached: then the attempt goes on waiting for its lessons."""


def _learned(known: Known, verdict: Verdict, lessons: Lessons) -> _Learned:
    waiting = known.waiting(verdict)
    if waiting is None:
        return _Learned()
    group = judged_group(waiting, {})
    prompt_hash = CONTRAST_HASH if len(group) > 1 else PROMPT_HASH
    source = {"judge": verdict.judge, "model": lessons.model, "prompt_hash": prompt_hash}
    again = known.lessons or known.status not in (None, verdict.status)
    root = _root(waiting.experience_id)
    origin = Origin(uuid5(root, verdict.status) if again else root, waiting.provenance.model_copy(update=source))
    made = {"experience_id": waiting.experience_id}
    items = [
        labelled(item.model_copy(update=made), lessons.metadata)
        for item in make_group_items(group, lessons.distilled, origin)
    ]
    episodes = [one.model_copy(update=made) for one in episodes_of(waiting, group, origin)]
    return _Learned(items, episodes if waiting.keeps_episodes else [], waiting, lessons.distilled.reason == "error")


def _root(experience_id: str) -> UUID:
    """Return what the ids of its lessons are made from: the same as in the run itself."""
    try:
        return UUID(experience_id)
    except ValueError:
        return uuid5(IDS, experience_id)


def _go_on_waiting(namespace: Namespace, known: Known, waiting: PendingAttempt) -> PutOp:
    op = put_pending(waiting, beside(namespace, PENDING))
    since = {"since": known.pending.value["since"]} if known.pending else {}
    return op._replace(value={**(op.value or {}), **since})


def _trial(known: Known, verdict: Verdict) -> Trial | None:
    """Return the trial of a guard with what came of it."""
    trial = to_pending(known.pending).trial if known.pending else None
    return Trial(**{**trial, "right": verdict.status == "success"}) if trial else None


def _marks(known: Known) -> dict[str, Any]:
    """Return what tells a thread's branches apart: the attempt was made before it is learned from."""
    return {"learned": known.pending.value["since"], "known_as": [known.id]} if known.pending else {}


def _overturn(
    namespace: Namespace, match: Match, known: Known, verdict: Verdict, learned: _Learned
) -> Ops[WeighedResult]:
    """Take lessons of another verdict out of use and put others in their place, or bring back those of an equal one."""
    moment, old, returning = utc_now(), known.active, known.returning(verdict)
    names = [row.key for row in old]
    changed = {
        row.key: {**with_status(row.value, "superseded", moment), OVERTURNED: known.status or row.value["outcome"]}
        for row in old
    }
    for row in returning:
        value = with_status(row.value, "active", moment)
        value["supersedes"] = value["supersedes"] if value.get("sources") else names
        changed[row.key] = {name: kept for name, kept in value.items() if name != OVERTURNED}
    changed |= _noted(known, verdict)
    replaced = old or [row for row in known.lessons if OVERTURNED in row.value]
    fresh = [] if returning else [without_secrets(in_place(item, replaced)) for item in learned.items]
    marks = {**_marks_of_rows(known), LATER: verdict.status}
    puts = [put(item, namespace, match, carries_task_vector=item is fresh[0], **marks) for item in fresh]
    credit = yield from _turned(namespace, known, verdict)
    ops = [
        *puts,
        *rewritten(namespace, {row.key: row.value for row in known.lessons}, changed),
        *_episodes(namespace, known, verdict, learned),
        *credit,
        *(drop(namespace, [known.id]) if known.pending and not learned.fails else []),
        *_told(namespace, known, verdict, returning, [item.id for item in fresh]),
    ]
    if ops:
        yield ops
    return WeighedResult([*(item.id for item in fresh), *(row.key for row in returning)], len(fresh))


def _noted(known: Known, verdict: Verdict) -> dict[str, dict[str, Any]]:
    """Return the lessons that something else took out of use, with a note that no undo may bring them back.

    A verdict that agrees with theirs takes the note away.
    """
    if known.status in (None, verdict.status):
        return {}
    out = [row for row in known.lessons if row.value["status"] != "active" and OVERTURNED not in row.value]
    changed = {row.key: {**row.value, DISPROVED: row.value.get(DISPROVED, known.status)} for row in out}
    return {
        key: {name: kept for name, kept in value.items() if name != DISPROVED or kept != verdict.status}
        for key, value in changed.items()
    }


def _told(
    namespace: Namespace, known: Known, verdict: Verdict, returning: Sequence[SearchItem], added: Sequence[str]
) -> list[PutOp]:
    """Return what the ledger says of a verdict that was overturned, and of its lessons."""
    drafts, reason = list[PutOp](), _reason(verdict)
    if known.status != verdict.status:
        before = {"outcome": known.status} if known.status else None
        drafts += draft(
            namespace, "resolved", [known.id], before=before, after={"outcome": verdict.status}, reason=reason
        )
    drafts += draft_of_rows(namespace, "superseded", known.active, after={"status": "superseded"}, reason=reason)
    drafts += draft_of_rows(namespace, "released", returning, after=ACTIVE, reason=reason)
    return [*drafts, *draft(namespace, "added", added, after=ACTIVE, reason=reason)]


def _reason(verdict: Verdict) -> str:
    return f"judged a {verdict.status} by {verdict.judge or 'somebody'}"


def _marks_of_rows(known: Known) -> dict[str, Any]:
    rows = [*known.lessons, *known.episodes, *([known.pending] if known.pending else [])]
    learned = min(row.value.get("learned", row.value["since"]) for row in rows)
    return {"learned": learned, "known_as": list(dict.fromkeys([known.id, *(row.key for row in rows)]))}


def _turned(namespace: Namespace, known: Known, verdict: Verdict) -> Ops[list[PutOp]]:
    """Return what corrects the credit of lessons that the attempt was compared for."""
    if known.episode is None or known.status == verdict.status:
        return []
    value = known.episode.value
    right = verdict.status == "success"
    return (yield from turned_credit(namespace, value["attempt_digest"], value["shown"], right=right))


def _episodes(namespace: Namespace, known: Known, verdict: Verdict, learned: _Learned) -> list[PutOp]:
    """Return what writes the episodes that are lacking, and the attempt's own with the new verdict."""
    place, stored = beside(namespace, EPISODES), {row.key for row in known.episodes}
    lacking = [one for one in learned.episodes if one.id not in stored] if known.pending else []
    puts = [put_episode(without_secrets(one), place) for one in lacking]
    if known.episode is None or known.status == verdict.status:
        return puts
    anew = overturned(to_episode(known.episode), verdict)
    stays = ("since", "learned", "known_as")
    same = {name: known.episode.value[name] for name in stays if name in known.episode.value}
    return [*puts, put_episode(without_secrets(anew), place, **same)]
