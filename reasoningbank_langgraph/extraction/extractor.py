"""From a judged attempt to a few general lessons (paper section 3.2)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.chat.context import is_small, room_in
from reasoningbank_langgraph.chat.dialogue import Dialogue, Request
from reasoningbank_langgraph.chat.model_caller import ModelCaller
from reasoningbank_langgraph.chat.models import ModelLike
from reasoningbank_langgraph.errors import InvalidRecordError, ModelError
from reasoningbank_langgraph.extraction.literals import named_literals, task_literals, without_details
from reasoningbank_langgraph.extraction.quotations import Quotations
from reasoningbank_langgraph.messages import content_text
from reasoningbank_langgraph.parsing import parse_items
from reasoningbank_langgraph.records import ITEMS_PER_ATTEMPT, Attempt, MemoryItem, Verdict, normalise_task
from reasoningbank_langgraph.text import clean_line, clean_text, redact_secrets
from reasoningbank_langgraph.text.trajectory import Room, answer_block, task_block, trajectory_block

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableConfig

_FIELDS = {"title": 80, "description": 200, "content": 400}
_SHORT_FIELDS = {"title": 60, "description": 120, "content": 300}
"""Characters of a lesson's fields that a model is asked for."""
_NONCE = re.compile(r"(?<!\s)\s*\b[0-9a-f]{16}\b", re.IGNORECASE)
"""The number in a fence line, which a small model may copy into a title."""
_SHORT_REPLY = 300
"""Tokens: one lesson at its longest."""
_QUOTED, _KEPT = 2_000, 20_000
"""Characters of a reply that are quoted back to the model, and kept with the run."""
PROMPTS = prompts.prompt_hash(
    prompts.EXTRACT_SYSTEM,
    prompts.EXTRACT_USER,
    prompts.EXTRACT_SHORT,
    prompts.EXTRACT_SUCCESS,
    prompts.EXTRACT_FAILURE,
)


_TEMPLATES = (
    prompts.EXTRACT_USER,
    prompts.EXTRACT_SHORT,
    prompts.EXTRACT_SUCCESS,
    prompts.EXTRACT_FAILURE,
    prompts.CONTRAST_USER,
    prompts.CONTRAST_SHORT,
)


class Judged(NamedTuple):
    """An attempt and the verdict on it."""

    attempt: Attempt
    verdict: Verdict


class Distilled(NamedTuple):
    """What came out of an extraction."""

    items: list[dict[str, Any]]
    """Lessons with `title, description, content`."""
    reason: str | None = None
    """Why there are none: `indeterminate, unparsed, refused, truncated, empty, dropped, error`; else None."""
    truncated: bool = False
    dropped: Mapping[str, int] = MappingProxyType({})
    """Lessons left out, counted by why: `over_cap, copied, task_details, invalid`."""
    redacted: Mapping[str, int] = MappingProxyType({})
    """Secrets taken out of the lessons, counted by kind."""
    raw: str | None = None
    """The reply, or the error, where no lesson came out of it."""
    details: tuple[str, ...] = ()
    """What lessons that were left out named of the task."""


class Asking(NamedTuple):
    """How a model is asked for lessons."""

    max_tokens: int
    """Cap on one reply."""
    room: Room
    small: bool
    """It gets a short prompt, and sees the attempt without the details of its task."""

    @classmethod
    def of(cls, model: BaseChatModel, max_tokens: int) -> Asking:
        """Return what suits a model, by the size of its context."""
        small = is_small(model)
        cap = min(max_tokens, _SHORT_REPLY) if small else max_tokens
        return cls(cap, room_in(model, cap), small)


class LessonExtractor(Runnable[Judged, Distilled]):
    """Asks a model for at most three lessons; success and failure each have their prompt.

    A model with a context of no more than 8,192 tokens (see `models.context_tokens`) gets a shorter prompt that asks
    for one lesson. An indeterminate verdict is not shown to any: only one that ran and parsed may give lessons.

    Args:
        model: the chat model that distils.
        max_tokens: cap on the tokens of one reply.
        time_limit: seconds one call may take.
    """

    def __init__(self, model: ModelLike, *, max_tokens: int = 700, time_limit: float = 120.0) -> None:
        self.caller = ModelCaller(model, "extract", time_limit=time_limit)
        self.asking = Asking.of(self.caller.model, max_tokens)

    def invoke(self, input: Judged, config: RunnableConfig | None = None, **kwargs: Any) -> Distilled:
        """Distil lessons; never raises for what a model does or fails to do."""
        return self.caller.run(self.dialogue(input), config)

    async def ainvoke(self, input: Judged, config: RunnableConfig | None = None, **kwargs: Any) -> Distilled:
        """Async form of `invoke`."""
        return await self.caller.arun(self.dialogue(input), config)

    def dialogue(self, judged: Judged) -> Dialogue[Distilled]:
        """Ask for lessons from one attempt; an indeterminate verdict gives none, and the model is not asked."""
        attempt, verdict = judged
        if verdict.status == "indeterminate":
            return Distilled([], "indeterminate")
        room = self.asking.room
        question = (prompts.EXTRACT_SHORT if self.asking.small else prompts.EXTRACT_USER).format(
            task=task_block(attempt, room.task),
            trajectory=trajectory_block(attempt, room.trajectory),
            answer=answer_block(attempt, room.answer),
            status=verdict.status,
            rationale=clean_line(verdict.rationale) or "no reason was given",
            question=prompts.EXTRACT_SUCCESS if verdict.status == "success" else prompts.EXTRACT_FAILURE,
            max_items=ITEMS_PER_ATTEMPT,
        )
        asked = [SystemMessage(prompts.EXTRACT_SYSTEM), HumanMessage(question)]
        return (yield from ask_lessons([attempt], asked, self.asking, 1 if self.asking.small else ITEMS_PER_ATTEMPT))


def items_schema(cap: int, *, short: bool = False) -> dict[str, Any]:
    """Return the JSON schema of a reply with at most `cap` lessons, for a small model `short` ones."""
    lengths = _SHORT_FIELDS if short else _FIELDS
    fields = {name: {"type": "string", "minLength": 3, "maxLength": most} for name, most in lengths.items()}
    item = {"type": "object", "properties": fields, "required": list(fields)}
    items = {"type": "array", "minItems": 1, "maxItems": cap, "items": item}
    return {"type": "object", "properties": {"items": items}, "required": ["items"]}


def ask_lessons(attempts: Sequence[Attempt], asked: list[BaseMessage], asking: Asking, cap: int) -> Dialogue[Distilled]:
    """Ask for at most `cap` lessons from attempts at one task; once more if nothing usable comes.

    Args:
        attempts: what the lessons are from; their details and the lessons they were shown are not taken.
        asked: the messages to the model.
        asking: how the model is asked.
        cap: lessons to take.
    """
    asked = [*asked[:-1], HumanMessage(redact_secrets(content_text(asked[-1].content)).text)]
    schema, masked = items_schema(cap, short=asking.small), _masked(asked, attempts)
    first = masked if asking.small else asked
    try:
        reply = yield Request(first, schema, asking.max_tokens)
        distilled = accept(attempts, reply, cap)
        if again := _again(distilled, first, reply, masked):
            reply = yield Request(again, schema, asking.max_tokens)
            distilled = accept(attempts, reply, cap)
    except ModelError as error:
        return Distilled([], "error", raw=str(error))
    return distilled


def accept(attempts: Sequence[Attempt], reply: AIMessage, cap: int) -> Distilled:
    """Return what the bank may hold of a reply about attempts at one task.

    Left out are lessons that exceed a cap, copy a lesson the attempt was shown, one that its text holds or a sentence
    of the prompt, or name details of the task; every one of them is counted.
    """
    parsed = parse_items(reply)
    dropped: Counter[str] = Counter()
    redacted: Counter[str] = Counter()
    details: set[str] = set()
    kept: list[dict[str, Any]] = []
    literals = _details(attempts)
    known = set[str]().union(*map(_shown, attempts))
    told = set[str]().union(*map(_sentences, _TEMPLATES))
    quotations = Quotations(attempts, lambda text: without_details(redact_secrets(text).text, literals))
    for item in parsed.items:
        clean = {
            name: redact_secrets(_NONCE.sub("", item[name]).strip()) for name in ("title", "description", "content")
        }
        lesson: dict[str, Any] = {name: found.text for name, found in clean.items()}
        named = named_literals(" ".join(lesson.values()), literals)
        copied = quotations.hold(item)
        problem = "copied" if copied else "over_cap" if len(kept) == cap else _problem(lesson, known, told)
        if problem or named:
            dropped[problem or "task_details"] += 1
            details.update(() if copied else named)
            continue
        for found in clean.values():
            redacted.update(found.found)
        known.update([*_fingerprints(lesson["title"], lesson["content"]), _titled(lesson)])
        kept.append(lesson)
    raw = None if kept else content_text(reply.content)[:_KEPT]
    reason = None if kept else parsed.reason or "dropped"
    return Distilled(kept, reason, parsed.truncated, dict(dropped), dict(redacted), raw, tuple(sorted(details)))


def _masked(asked: list[BaseMessage], attempts: Sequence[Attempt]) -> list[BaseMessage]:
    """Return the question without the details of the task.

    A model that can only retell the solution is shown it this way: what it retells then is general.
    """
    return [*asked[:-1], HumanMessage(without_details(content_text(asked[-1].content), _details(attempts)))]


def _again(
    distilled: Distilled, asked: list[BaseMessage], reply: AIMessage, masked: list[BaseMessage]
) -> list[BaseMessage] | None:
    """Return what to ask when nothing usable came, or None."""
    if distilled.items:
        return None
    if distilled.details:
        return masked if asked is not masked else None
    if distilled.reason in ("unparsed", "truncated", "empty"):
        said = clean_text(content_text(reply.content)[:_QUOTED])
        repair = HumanMessage(prompts.REPAIR_USER.format(reason=distilled.reason))
        return [*asked, *([AIMessage(said)] if said.strip() else []), repair]
    return None


def _details(attempts: Sequence[Attempt]) -> frozenset[str]:
    return frozenset[str]().union(*map(task_literals, attempts))


def _problem(lesson: dict[str, Any], known: set[str], told: set[str]) -> str | None:
    if known & {*_fingerprints(lesson["title"], lesson["content"]), _titled(lesson)}:
        return "copied"
    if told & set().union(*map(_sentences, lesson.values())):
        return "copied"
    try:
        MemoryItem(**lesson, outcome="success", task="any")
    except InvalidRecordError:
        return "invalid"
    return None


def _shown(attempt: Attempt) -> set[str]:
    return {text for memory in attempt.memories for text in _fingerprints(memory.item.title, memory.item.content)}


def _titled(lesson: dict[str, str]) -> str:
    """Two lessons of one reply under the same title say the same; one under the title of an old lesson may be new."""
    return f"title of this reply: {normalise_task(lesson['title'])}"


def _sentences(text: str) -> list[str]:
    """Sentences, and what stands in brackets, of four words and more, folded."""
    folded = (normalise_task(part) for part in re.split(r'[.!?"\n()]', text))
    return [sentence for sentence in folded if len(sentence.split()) >= 4]


def _fingerprints(title: str, content: str) -> Iterable[str]:
    """Two lessons are copies when their content, or their title and the start of their content, agree."""
    folded = normalise_task(content)
    return (folded, f"{normalise_task(title)}|{folded[:60]}")
