"""From a judged attempt to a few general lessons (paper section 3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.dialogue import Dialogue, Request, Speaker
from reasoningbank_langgraph.errors import InvalidRecordError, ModelError
from reasoningbank_langgraph.messages import content_text
from reasoningbank_langgraph.parsing import parse_items
from reasoningbank_langgraph.records import ITEMS_PER_ATTEMPT, Attempt, MemoryItem, Verdict, normalise_task
from reasoningbank_langgraph.text import redact_secrets
from reasoningbank_langgraph.trajectory import answer_block, task_block, trajectory_block

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableConfig

ITEMS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "minItems": 1,
            "maxItems": ITEMS_PER_ATTEMPT,
            "items": {
                "type": "object",
                "properties": {
                    "title": {"type": "string", "minLength": 3, "maxLength": 120},
                    "description": {"type": "string", "minLength": 3, "maxLength": 300},
                    "content": {"type": "string", "minLength": 3, "maxLength": 800},
                },
                "required": ["title", "description", "content"],
            },
        }
    },
    "required": ["items"],
}
PROMPTS = prompts.prompt_hash(prompts.EXTRACT_SUCCESS, prompts.EXTRACT_FAILURE, prompts.EXTRACT_USER)


class Judged(NamedTuple):
    """An attempt and the verdict on it."""

    attempt: Attempt
    verdict: Verdict


class Distilled(NamedTuple):
    """What came out of an extraction."""

    items: list[dict[str, str]]
    """Lessons with `title, description, content`."""
    reason: str | None = None
    """Why there are none: `indeterminate, unparsed, refused, truncated, empty, error`; None where it went well."""
    truncated: bool = False
    dropped: Mapping[str, int] = MappingProxyType({})
    """Lessons left out, counted by why: `over_cap, copied, invalid`."""
    redacted: Mapping[str, int] = MappingProxyType({})
    """Secrets taken out of the lessons, counted by kind."""
    raw: str | None = None
    """The reply, or the error, where no lesson came out of it."""


class LessonExtractor(Runnable[Judged, Distilled]):
    """Asks a model for at most three lessons; success and failure each have their prompt.

    An indeterminate verdict is not even shown to the model: only a verdict that ran and parsed may mint lessons.

    Args:
        model: the chat model that distils.
        max_tokens: cap on the tokens of one reply.
        time_limit: seconds one call may take.
        max_chars: budget for the trajectory shown, in characters.
    """

    def __init__(
        self, model: BaseChatModel, *, max_tokens: int = 700, time_limit: float = 120.0, max_chars: int = 12_000
    ) -> None:
        self.speaker = Speaker(model, "extract", time_limit=time_limit)
        self.max_tokens, self.max_chars = max_tokens, max_chars

    def invoke(self, input: Judged, config: RunnableConfig | None = None, **kwargs: Any) -> Distilled:
        """Distil lessons; never raises for what a model does or fails to do."""
        if input.verdict.status == "indeterminate":
            return Distilled([], "indeterminate")
        try:
            return self.speaker.run(self._dialogue(input), config)
        except ModelError as error:
            return Distilled([], "error", raw=str(error))

    async def ainvoke(self, input: Judged, config: RunnableConfig | None = None, **kwargs: Any) -> Distilled:
        """Async form of `invoke`."""
        if input.verdict.status == "indeterminate":
            return Distilled([], "indeterminate")
        try:
            return await self.speaker.arun(self._dialogue(input), config)
        except ModelError as error:
            return Distilled([], "error", raw=str(error))

    def _dialogue(self, judged: Judged) -> Dialogue[Distilled]:
        attempt, verdict = judged
        success = verdict.status == "success"
        system = prompts.EXTRACT_SUCCESS if success else prompts.EXTRACT_FAILURE
        question = prompts.EXTRACT_USER.format(
            task=task_block(attempt),
            trajectory=trajectory_block(attempt, self.max_chars),
            answer=answer_block(attempt),
            status=verdict.status,
            rationale=redact_secrets(verdict.rationale).text or "(no reason given)",
        )
        asked = [SystemMessage(system.format(max_items=ITEMS_PER_ATTEMPT)), HumanMessage(question)]
        reply = yield Request(asked, ITEMS_SCHEMA, self.max_tokens)
        parsed = parse_items(reply)
        if not parsed.items and parsed.reason in ("unparsed", "truncated", "empty"):
            repair = HumanMessage(prompts.REPAIR_USER.format(reason=parsed.reason))
            reply = yield Request([*asked, repair], ITEMS_SCHEMA, self.max_tokens)
            parsed = parse_items(reply)
        return _accept(attempt, parsed.items, parsed.reason, parsed.truncated, reply)


def _accept(
    attempt: Attempt, items: Sequence[dict[str, str]], reason: str | None, truncated: bool, reply: AIMessage
) -> Distilled:
    """Keep what the bank may hold: within the caps, not copied from the lessons the attempt was shown."""
    dropped: Counter[str] = Counter()
    redacted: Counter[str] = Counter()
    kept: list[dict[str, str]] = []
    shown = {text for memory in attempt.memories for text in _fingerprints(memory.item.title, memory.item.content)}
    for item in items:
        clean = {name: redact_secrets(item[name]) for name in ("title", "description", "content")}
        lesson = {name: found.text for name, found in clean.items()}
        problem = _problem(lesson, shown, kept)
        if problem:
            dropped[problem] += 1
            continue
        for found in clean.values():
            redacted.update(found.found)
        kept.append(lesson)
    raw = None if kept else content_text(reply.content)[:20_000]
    return Distilled(kept, reason if not kept else None, truncated, dict(dropped), dict(redacted), raw)


def _problem(lesson: dict[str, str], shown: set[str], kept: Sequence[dict[str, str]]) -> str | None:
    if len(kept) == ITEMS_PER_ATTEMPT:
        return "over_cap"
    known = {text for other in kept for text in _fingerprints(other["title"], other["content"])}
    if set(_fingerprints(lesson["title"], lesson["content"])) & (shown | known):
        return "copied"
    try:
        MemoryItem(**lesson, outcome="success", task="any")
    except InvalidRecordError:
        return "invalid"
    return None


def _fingerprints(title: str, content: str) -> Iterable[str]:
    """Two lessons are copies when their content, or their title and the start of their content, agree."""
    folded = normalise_task(content)
    return (folded, f"{normalise_task(title)}|{folded[:60]}")
