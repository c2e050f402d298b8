"""Lessons made anew from the episodes of one experience, with ids that are the same in every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID, uuid5

from reasoningbank_langgraph.chat.models import ModelLike
from reasoningbank_langgraph.extraction.acceptance import Extraction
from reasoningbank_langgraph.extraction.contrast import CONTRAST_HASH, GroupExtractor, make_group_items
from reasoningbank_langgraph.extraction.extractor import PROMPT_HASH, Judged
from reasoningbank_langgraph.extraction.results import IDS, Origin
from reasoningbank_langgraph.extraction.waiting import verdict_on
from reasoningbank_langgraph.records import Attempt, Episode, MemoryItem, RetrievedMemory


class Redistiller(GroupExtractor):
    """Distils kept episodes as the attempts were distilled when they were made.

    Args:
        model: the chat model that distils.
        time_limit: seconds one call may take.
        weak: whether the model is a weak one, by default decided by its parameters.
    """

    def __init__(self, model: ModelLike, *, time_limit: float = 120.0, weak: bool | None = None) -> None:
        super().__init__(model, time_limit=time_limit, weak=weak)
        prompts = f"{PROMPT_HASH}|{CONTRAST_HASH}"
        self.run = str(uuid5(IDS, f"redistil|{self.caller.model_name}|{prompts}"))

    def make_items(
        self, episodes: Sequence[Episode], group: Sequence[Judged], distilled: Extraction
    ) -> list[MemoryItem]:
        """Return the lessons as items of the experience that the episodes belong to, and of the same origin."""
        first = episodes[0]
        source = {"model": self.caller.model_name, "prompt_hash": CONTRAST_HASH if len(group) > 1 else PROMPT_HASH}
        names = "|".join(sorted(episode.id for episode in episodes))
        origin = Origin(uuid5(UUID(self.run), names), first.provenance.model_copy(update=source))
        made = {"experience_id": first.experience_id, "redistil_run": self.run}
        return [item.model_copy(update=made) for item in make_group_items(group, distilled, origin)]


def judged_again(episode: Episode, lessons: Mapping[str, MemoryItem]) -> Judged:
    """Return the attempt of an episode and the verdict on it, to be distilled like any other.

    Args:
        episode: what was kept of the attempt.
        lessons: those of the bank by id; the attempt may have been shown some of them, which it must not bring back.
    """
    shown = [RetrievedMemory(item=lessons[name]) for name in episode.shown if name in lessons]
    attempt = Attempt(
        task=episode.task,
        task_id=episode.task_id,
        messages=episode.messages,
        answer=episode.answer or None,
        memories=shown,
    )
    return Judged(attempt, verdict_on(episode))
