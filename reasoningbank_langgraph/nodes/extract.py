"""After the verdict: distil general lessons from the attempt. Nothing is written here; the next node does that."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import uuid5

from reasoningbank_langgraph.chat.models import ModelLike, chat_model
from reasoningbank_langgraph.errors import MissingStateError
from reasoningbank_langgraph.events import TYPE, ExtractedEvent, milliseconds_since
from reasoningbank_langgraph.extraction import (
    IDS,
    PROMPT_HASH,
    Extraction,
    Judged,
    LessonExtractor,
    Origin,
    Waiting,
    make_episodes,
    make_items,
    make_pending,
)
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.records import Episode, MemoryItem, Provenance, Verdict, utc_now
from reasoningbank_langgraph.state import ChannelNames, ExtractionReport, Selector
from reasoningbank_langgraph.state.attempts import attempt_of, is_empty, solving_model
from reasoningbank_langgraph.state.lineage import Line

if TYPE_CHECKING:
    from reasoningbank_langgraph.chat.model_caller import ModelCaller


def create_extract(
    model: ModelLike,
    *,
    max_tokens: int = 700,
    time_limit: float = 120.0,
    weak: bool | None = None,
    task: Selector = "task",
    answer: Selector = "answer",
    messages: Selector = "messages",
) -> MemoryNode:
    """Return a node that fills `lessons` with at most three items (paper section 3.2), from success and failure alike.

    There are no lessons if the verdict is indeterminate, the model fails or its reply cannot be read; `extraction` then
    says why and keeps the raw reply. Where the judge or the model failed, the attempt waits in the bank (`pending`) for
    a model that can be reached. A judged attempt is kept in `episodes`, with or without lessons. Ids are fixed
    here, before anything is written, so a retry or a resume after a crash writes the same rows.

    Args:
        model: the chat model that distils.
        max_tokens: cap on the tokens of one reply.
        time_limit: seconds one call may take.
        weak: whether the model is weak. A weak model is asked for one tip in plain words, and only about successes. By
            default, models known to have fewer than three billion parameters are weak. One known to have fewer than
            300 million is asked for nothing.
        task: channel that holds the task, or a function from the state to it.
        answer: likewise for the answer.
        messages: likewise for the conversation.

    Raises:
        MissingStateError: in a run, there is no verdict, or a judged attempt has neither an answer nor messages:
            `task`, `answer` and `messages` must be the same as for the judge.
    """
    extractor = LessonExtractor(chat_model(model), max_tokens=max_tokens, time_limit=time_limit, weak=weak)
    names, caller = ChannelNames(task, answer, messages), extractor.caller

    def extract(state: State, context: Context) -> Update:
        started, judged = time.perf_counter(), judged_of(state, names)
        return update(judged, extractor.invoke(judged, context.config), context, started)

    async def aextract(state: State, context: Context) -> Update:
        started, judged = time.perf_counter(), judged_of(state, names)
        return update(judged, await extractor.ainvoke(judged, context.config), context, started)

    def update(judged: Judged, distilled: Extraction, context: Context, started: float) -> Update:
        origin = origin_of(judged, caller.model_name, context)
        solved_by = solving_model(context.state, names)
        episodes = make_episodes([judged], origin, solved_by)
        items = make_items(judged, distilled.items, origin)
        learned = lessons_update(items, episodes, distilled, caller, context, started)
        learned["memory_usage"]["solve"] = dict(judged.attempt.usage)
        return {**learned, **waiting_update([judged], distilled, origin, solved_by, context.state)}

    return MemoryNode("extract", extract, aextract, names)


def judged_of(state: State, names: ChannelNames) -> Judged:
    """Return the attempt in the state and the verdict on it.

    Raises:
        MissingStateError: there is no verdict, or an attempt that was judged a success or a failure has neither an
            answer nor messages, because this node looks for them in other channels than the judge did.
    """
    if not state.get("verdict"):
        raise MissingStateError("extract", "verdict", "judge")
    judged = Judged(attempt_of(state, names), Verdict(**state["verdict"]))
    if judged.verdict.status != "indeterminate" and is_empty(judged.attempt):
        raise MissingStateError("extract", str(names.answer), "the solver")
    return judged


def origin_of(judged: Judged, model: str, context: Context) -> Origin:
    """Return where the records of an attempt come from, with ids from the run's own identity."""
    attempt = judged.attempt
    info = context.runtime.execution_info
    identity = "|".join([context.thread_id or "", info.checkpoint_ns, info.task_id]) if info else ""
    line = Line.of(context.state.get("attempt") or {}).ended(utc_now())
    provenance = Provenance(
        thread_id=context.thread_id,
        checkpoint_ns=info.checkpoint_ns if info else "",
        checkpoint_id=info.checkpoint_id if info else None,
        task_id=info.task_id if info else None,
        run_id=info.run_id if info else None,
        judge=judged.verdict.judge,
        model=model,
        prompt_hash=PROMPT_HASH,
        memory_ids_used=attempt.shown,
        attempt_digest=attempt.digest(context.thread_id),
        line=line.stages,
        origin=line.origin,
        after=line.after,
    )
    return Origin(uuid5(IDS, identity), provenance)


def waiting_update(
    group: Sequence[Judged], distilled: Extraction, origin: Origin, solved_by: str, state: State
) -> Update:
    """Return the update that lets attempts wait, the first of them judged, until a model can be reached again."""
    judged = group[0].verdict.status != "indeterminate"
    if not (distilled.reason == "error" or group[0].verdict.reason == "error"):
        return {"pending": None}
    waiting = Waiting(origin, solved_by, "model", None if judged else state.get("trial"))
    return {"pending": make_pending(group, waiting).to_json()}


def lessons_update(
    items: list[MemoryItem],
    episodes: list[Episode],
    distilled: Extraction,
    caller: ModelCaller,
    context: Context,
    started: float,
) -> Update:
    """Emit an event with what was distilled and how the model was asked, and return the update of the state."""
    model, usage = caller.asked_how(), context.tally.of("extract")
    report = ExtractionReport(
        reason=distilled.reason,
        truncated=distilled.truncated,
        dropped=dict(distilled.dropped),
        redacted=dict(distilled.redacted),
        raw=distilled.raw,
        failure=distilled.failure,
        asked=model["asked"],
        fallbacks=model["fallbacks"],
    )
    context.emit(
        ExtractedEvent(
            type=TYPE,
            event="extracted",
            ms=milliseconds_since(started),
            count=len(items),
            ids=[item.id for item in items],
            reason=report["reason"],
            dropped=report["dropped"],
            asked=report["asked"],
            fallbacks=report["fallbacks"],
            usage=usage,
        )
    )
    return {
        "lessons": [item.to_json() for item in items],
        "episodes": [episode.to_json() for episode in episodes],
        "extraction": report,
        **context.used(extract=usage),
    }
