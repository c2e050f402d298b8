"""The tools: their names, what they do to a bank, and what clients are told of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph.mcp import inputs, outputs
from reasoningbank_langgraph.mcp.recording import attempt_of, verdict_of
from reasoningbank_langgraph.text import render_memories

if TYPE_CHECKING:
    from pydantic import BaseModel

    from reasoningbank_langgraph.bank import MemoryBank
    from reasoningbank_langgraph.chat.models import ModelLike
    from reasoningbank_langgraph.records import Episode, MemoryItem, PendingAttempt, Verdict

_CHANGES = 20


@dataclass(frozen=True)
class BankTools:
    """What the tools of one server do."""

    bank: MemoryBank
    model: ModelLike
    """Distils lessons; only the tools that write ask it."""
    time_limit: float
    """Seconds one call of the model may take."""

    async def recall(self, given: inputs.RecallInput) -> outputs.Recalled:
        """Find lessons that fit a task."""
        where = {"outcome": given.outcome} if given.outcome else None
        asked = given.model_dump(include={"task", "k", "max_items", "min_score"})
        found = await self.bank.asearch(**asked, where=where)
        visible = [memory for memory in found if render_memories([memory])]
        return outputs.Recalled(lessons=tuple(map(outputs.RecalledLesson.of, visible)))

    async def page(self, given: inputs.ListInput) -> outputs.Page:
        """Return a page of what the bank holds."""
        if given.kind == "lessons":
            items = await self.bank.aitems()
            lessons = [outputs.Lesson.model_validate(item) for item in _on_page(items, given)]
            return _page(given, len(items), lessons=lessons)
        judged = given.kind == "attempts"
        known: Sequence[Episode | PendingAttempt] = (
            await self.bank.aepisodes() if judged else await self.bank.apending()
        )
        attempts = [outputs.KnownAttempt.of(one) for one in _on_page(known, given)]
        return _page(given, len(known), attempts=attempts)

    async def why(self, given: inputs.WhyInput) -> outputs.Reasons:
        """Say how one entry hangs together with the others."""
        found = await self.bank.awhy(given.id)
        lesson = outputs.Lesson.model_validate(found.item) if found.item else None
        changes = tuple(map(outputs.LoggedChange.model_validate, found.changes[-_CHANGES:]))
        relations = {name: value for name, value in found._asdict().items() if name not in ("item", "changes")}
        reasons = outputs.Reasons(id=given.id, lesson=lesson, changes=changes, **relations)
        if reasons.is_empty:
            raise ValueError(f"nothing here is or was called {given.id!r}: reasoningbank_list says what there is")
        return reasons

    async def record(self, given: inputs.RecordInput) -> outputs.Recorded:
        """Let an attempt wait in the bank and, if its outcome is known, learn from it."""
        pending = attempt_of(given, await self._shown(given.used))
        await self.bank.aadd([], pending=pending)
        return await self._settled(pending.id, verdict_of(given), overturns=False)

    async def resolve(self, given: inputs.ResolveInput) -> outputs.Recorded:
        """Take a verdict on an attempt, and learn from it."""
        return await self._settled(given.id, verdict_of(given))

    async def forget(self, given: inputs.ForgetInput) -> outputs.Forgotten:
        """Remove an entry."""
        removed = await self.bank.aforget(given.id, cascade=given.cascade, reason=given.reason)
        return outputs.Forgotten(removed=tuple(removed))

    async def _shown(self, names: Sequence[str]) -> list[MemoryItem]:
        found = {name: await self.bank.aget(name) for name in names}
        if unknown := [name for name, item in found.items() if item is None]:
            raise ValueError(
                f"no lessons of this bank: {unknown}; give ids that reasoningbank_recall returned, or none"
            )
        return [item for item in found.values() if item]

    async def _settled(self, attempt_id: str, verdict: Verdict, *, overturns: bool = True) -> outputs.Recorded:
        done = await self.bank.aresolve(
            attempt_id, verdict, model=self.model, time_limit=self.time_limit, overturns=overturns
        )
        waits = {one.id: one.waits_for for one in await self.bank.apending()}
        return outputs.Recorded(
            id=attempt_id,
            waits_for=waits.get(attempt_id),
            lessons=tuple(done.ids),
            superseded=tuple(done.superseded),
            failure=done.failure or "",
        )


class Tool(NamedTuple):
    """What a client is told of a tool, and what it does."""

    name: str
    title: str
    given: type[BaseModel]
    answer: type[BaseModel]
    call: Callable[[BankTools, Any], Awaitable[Any]]
    writes: bool = False
    destroys: bool = False
    """Whether it may change or remove what is there, rather than only add."""


TOOLS = (
    Tool("reasoningbank_recall", "Recall lessons", inputs.RecallInput, outputs.Recalled, BankTools.recall),
    Tool("reasoningbank_list", "List lessons and attempts", inputs.ListInput, outputs.Page, BankTools.page),
    Tool("reasoningbank_why", "Say where a lesson comes from", inputs.WhyInput, outputs.Reasons, BankTools.why),
    Tool(
        "reasoningbank_record", "Record an attempt", inputs.RecordInput, outputs.Recorded, BankTools.record, writes=True
    ),
    Tool(
        "reasoningbank_resolve",
        "Judge an attempt",
        inputs.ResolveInput,
        outputs.Recorded,
        BankTools.resolve,
        writes=True,
        destroys=True,
    ),
    Tool(
        "reasoningbank_forget",
        "Forget a lesson or an attempt",
        inputs.ForgetInput,
        outputs.Forgotten,
        BankTools.forget,
        writes=True,
        destroys=True,
    ),
)


def _on_page(entries: Sequence[Any], given: inputs.ListInput) -> Sequence[Any]:
    return entries[given.offset : given.offset + given.limit]


def _page(given: inputs.ListInput, total: int, **entries: Any) -> outputs.Page:
    end = given.offset + given.limit
    return outputs.Page(**entries, total=total, has_more=end < total, next_offset=end if end < total else None)
