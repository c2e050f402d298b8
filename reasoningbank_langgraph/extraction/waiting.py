"""An attempt as it waits in a bank, without secrets, and back: as an attempt that can be judged and distilled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reasoningbank_langgraph.extraction.cleaning import MESSAGE_CAP, clean_message, clean_text_of
from reasoningbank_langgraph.extraction.extractor import Judged
from reasoningbank_langgraph.extraction.results import Origin, episode_id, make_episodes
from reasoningbank_langgraph.messages import Message, length_as_json
from reasoningbank_langgraph.records import (
    TASK_CAP,
    Attempt,
    Episode,
    KeptAttempt,
    MemoryItem,
    PendingAttempt,
    RetrievedMemory,
    Verdict,
    WaitsFor,
)
from reasoningbank_langgraph.text import redact_secrets
from reasoningbank_langgraph.text.fencing import cut

_TRAJECTORY = 16_000


class Waiting(NamedTuple):
    """What a run knows of an attempt that waits, beside the attempt itself."""

    origin: Origin
    model: str
    """The model that solved, as its replies name it."""
    waits_for: WaitsFor
    trial: Mapping[str, Any] | None = None
    """What a guard decided for the task, unless it was counted."""


def make_pending(group: Sequence[Judged], waiting: Waiting) -> PendingAttempt:
    """Return a group of attempts as it waits: first the one whose answer was given."""
    task, reference = group[0].attempt.task, group[0].attempt.reference
    return PendingAttempt(
        id=episode_id(waiting.origin.provenance.attempt_digest),
        task=cut(redact_secrets(task).text, TASK_CAP),
        task_id=group[0].attempt.task_id,
        reference=None if reference is None else cut(clean_text_of(reference), MESSAGE_CAP),
        group=tuple(_kept(judged) for judged in group),
        waits_for=waiting.waits_for,
        model=waiting.model,
        trial=waiting.trial,
        experience_id=str(waiting.origin.experience),
        provenance=waiting.origin.provenance,
    )


def pending_episodes(episodes: Sequence[Episode], verdict: Verdict) -> PendingAttempt:
    """Return the attempts of an experience, of which only the episodes are left, with a new verdict on the first."""
    first = episodes[0]
    return PendingAttempt(
        id=first.id,
        task=first.task,
        task_id=first.task_id,
        group=tuple(_of_episode(episode, None if episode is not first else verdict) for episode in episodes),
        waits_for="model",
        model=first.model,
        experience_id=first.experience_id,
        provenance=first.provenance,
    )


def with_verdict(pending: PendingAttempt, verdict: Verdict) -> PendingAttempt:
    """Return the same with a verdict: only a model that distils is missing."""
    first = pending.group[0].model_copy(update={"verdict": _clean_verdict(verdict)})
    return pending.model_copy(update={"group": (first, *pending.group[1:]), "waits_for": "model"})


def overturned(episode: Episode, verdict: Verdict) -> Episode:
    """Return an episode with a verdict that overturns its own, which it keeps."""
    return _judged(episode, (*episode.earlier, verdict_on(episode), _clean_verdict(verdict)))


def before_overturned(episode: Episode, times: int) -> Episode:
    """Return an episode as it was before its verdict was overturned for the last so many times."""
    verdicts = (*episode.earlier, verdict_on(episode))
    return _judged(episode, verdicts[: max(1, len(verdicts) - times)])


def _judged(episode: Episode, verdicts: Sequence[Verdict]) -> Episode:
    """Return an episode with the last of these verdicts, which overturned the others."""
    *earlier, last = verdicts
    said = {"outcome": last.status, "score": last.confidence, "rationale": last.rationale, "earlier": tuple(earlier)}
    source = episode.provenance.model_copy(update={"judge": last.judge})
    return episode.model_copy(update={**said, "provenance": source})


def judged_group(pending: PendingAttempt, lessons: Mapping[str, MemoryItem]) -> list[Judged]:
    """Return those attempts that have a verdict to learn from, to be distilled like any others."""
    return [
        Judged(restored(pending, kept, lessons), kept.verdict)
        for kept in pending.group
        if kept.verdict is not None and kept.verdict.status != "indeterminate"
    ]


def restored(pending: PendingAttempt, kept: KeptAttempt, lessons: Mapping[str, MemoryItem]) -> Attempt:
    """Return one of the attempts.

    Args:
        pending: what waits.
        kept: the attempt.
        lessons: lessons of the bank by id; it may have been shown some of them, which it must not bring back.
    """
    return Attempt(
        task=pending.task,
        task_id=pending.task_id,
        messages=kept.messages,
        answer=kept.answer,
        reference=pending.reference,
        memories=[RetrievedMemory(item=lessons[name]) for name in kept.shown if name in lessons],
    )


def episodes_of(pending: PendingAttempt, group: Sequence[Judged], origin: Origin) -> list[Episode]:
    """Return what the bank keeps of these attempts once they are learned from."""
    shown = [kept.shown for kept in pending.group if kept.verdict and kept.verdict.status != "indeterminate"]
    episodes = make_episodes(group, origin, pending.model)
    return [
        episode.model_copy(update={"shown": names, "created_at": pending.created_at})
        for episode, names in zip(episodes, shown, strict=True)
    ]


def _kept(judged: Judged) -> KeptAttempt:
    attempt, verdict = judged
    decided = verdict.status != "indeterminate"
    return KeptAttempt(
        messages=_kept_messages(attempt),
        answer=None if attempt.answer is None else cut(clean_text_of(attempt.answer), MESSAGE_CAP),
        shown=attempt.shown,
        verdict=_clean_verdict(verdict) if decided else None,
    )


def _clean_verdict(verdict: Verdict) -> Verdict:
    return verdict.model_copy(update={"rationale": cut(clean_text_of(verdict.rationale), Episode.caps["rationale"])})


def _kept_messages(attempt: Attempt) -> tuple[Message, ...]:
    """Return the last messages of a trajectory, as many as there is room for."""
    room, kept = _TRAJECTORY, list[Message]()
    for message in reversed([one for one in attempt.messages if one.role != "system"]):
        clean = clean_message(message, attempt)
        room -= length_as_json([clean])
        if kept and room < 0:
            break
        kept.append(clean)
    return tuple(reversed(kept))


def _of_episode(episode: Episode, verdict: Verdict | None) -> KeptAttempt:
    said = _clean_verdict(verdict or verdict_on(episode))
    return KeptAttempt(messages=episode.messages, answer=episode.answer or None, shown=episode.shown, verdict=said)


def verdict_on(episode: Episode) -> Verdict:
    """Return the verdict that an episode was kept with."""
    return Verdict(
        status=episode.outcome, confidence=episode.score, rationale=episode.rationale, judge=episode.provenance.judge
    )
