"""What an attempt leaves for the bank: lessons as items, and episodes. All ids are made, none is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from reasoningbank_langgraph.extraction.cleaning import clean_text_of
from reasoningbank_langgraph.extraction.extractor import Judged
from reasoningbank_langgraph.extraction.steps import calls_tools, tool_steps
from reasoningbank_langgraph.records import Attempt, Episode, MemoryItem, Provenance
from reasoningbank_langgraph.text import redact_secrets, without_memories
from reasoningbank_langgraph.text.fencing import cut

IDS = UUID("6f1f2b0e-6f0a-5a53-9a51-0d6c9a2f7a10")
"""Root of all ids of this package: equal inputs give equal ids on every machine."""


class Origin(NamedTuple):
    """Where the records of one experience come from."""

    experience: UUID
    provenance: Provenance


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


def make_episodes(group: Sequence[Judged], origin: Origin, model: str) -> list[Episode]:
    """Return what is kept of the attempts of one experience, without secrets and without the lessons they were shown.

    An attempt whose verdict is indeterminate is no evidence: of it nothing is kept.

    Args:
        group: the attempts with their verdicts.
        origin: where the records of the experience come from.
        model: the model that solved, as its replies name it.
    """
    return [
        _episode(judged, origin, model, ordinal)
        for ordinal, judged in enumerate(group)
        if judged.verdict.status != "indeterminate"
    ]


def _episode(judged: Judged, origin: Origin, model: str, ordinal: int) -> Episode:
    attempt, verdict = judged
    texts = {
        "solution": without_memories(_solution(attempt), attempt.memories),
        "answer": attempt.answer or "",
        "rationale": verdict.rationale,
    }
    whole = {"task": redact_secrets(attempt.task).text}
    whole |= {field: clean_text_of(text) for field, text in texts.items()}
    short: dict[str, Any] = {field: cut(text, Episode.caps[field]) for field, text in whole.items()}
    steps = tool_steps(attempt)
    return Episode(
        id=episode_id(origin.provenance.attempt_digest, ordinal),
        **short,
        steps=steps,
        cut=short["solution"] != whole["solution"] or (calls_tools(attempt) and not steps),
        task_id=attempt.task_id,
        outcome="success" if verdict.status == "success" else "failure",
        score=verdict.confidence,
        shown=attempt.shown,
        model=model,
        experience_id=str(origin.experience),
        provenance=origin.provenance.model_copy(update={"judge": verdict.judge}),
    )


def episode_id(digest: str, ordinal: int = 0) -> str:
    """Return the id of an episode, made from the digest of its experience: the same for a replay."""
    return str(uuid5(IDS, f"episode|{digest}|{ordinal}"))


def _solution(attempt: Attempt) -> str:
    replies = (message.text for message in reversed(attempt.messages) if message.role == "assistant")
    return next((reply for reply in replies if reply.strip()), attempt.answer or "")
