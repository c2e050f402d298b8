"""What an attempt leaves for the bank: its lessons as items, and its episode. All ids are made, none is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from reasoningbank_langgraph.extraction.extractor import Judged
from reasoningbank_langgraph.records import Attempt, Episode, MemoryItem, Provenance
from reasoningbank_langgraph.text import redact_secrets, without_memories
from reasoningbank_langgraph.text.fencing import cut

IDS = UUID("6f1f2b0e-6f0a-5a53-9a51-0d6c9a2f7a10")
"""Root of all ids of this package: equal inputs give equal ids on every machine."""


class Origin(NamedTuple):
    """Where the records of one experience come from."""

    experience: UUID
    provenance: Provenance


def episode_id(digest: str) -> str:
    """Return the id of the episode of an attempt with this digest."""
    return str(uuid5(IDS, f"episode|{digest}"))


def make_items(judged: Judged, lessons: Sequence[dict[str, Any]], origin: Origin) -> list[MemoryItem]:
    """Return lessons of an attempt as items."""
    attempt, verdict = judged
    return [
        MemoryItem(
            id=str(uuid5(origin.experience, str(ordinal))),
            **lesson,
            outcome="success" if verdict.status == "success" else "failure",
            task=attempt.task,
            task_id=attempt.task_id,
            experience_id=str(origin.experience),
            verifier_score=verdict.confidence,
            provenance=origin.provenance,
        )
        for ordinal, lesson in enumerate(lessons)
    ]


def make_episode(judged: Judged, origin: Origin) -> Episode | None:
    """Return what is kept of the attempt itself, without secrets and without the lessons it was shown.

    An attempt whose verdict is indeterminate is no evidence: of it nothing is kept.
    """
    attempt, verdict = judged
    if verdict.status == "indeterminate":
        return None
    texts = {
        "task": attempt.task,
        "solution": without_memories(_solution(attempt), attempt.memories),
        "answer": attempt.answer or "",
        "rationale": verdict.rationale,
    }
    clean: dict[str, Any] = {
        field: cut(redact_secrets(text).text, Episode.caps[field]) for field, text in texts.items()
    }
    return Episode(
        id=origin.provenance.episode_id,
        **clean,
        task_id=attempt.task_id,
        outcome=verdict.status,
        score=verdict.confidence,
        experience_id=str(origin.experience),
        provenance=origin.provenance,
    )


def _solution(attempt: Attempt) -> str:
    replies = (message.text for message in reversed(attempt.messages) if message.role == "assistant")
    return next((reply for reply in replies if reply.strip()), attempt.answer or "")
