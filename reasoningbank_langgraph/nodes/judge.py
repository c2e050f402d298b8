"""After the answer: did the attempt succeed?"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.chat.models import ModelLike, chat_model
from reasoningbank_langgraph.chat.outages import Outages
from reasoningbank_langgraph.chat.streams import acall_unstreamed, call_unstreamed
from reasoningbank_langgraph.errors import MissingModelError
from reasoningbank_langgraph.events import TYPE, JudgedEvent, milliseconds_since
from reasoningbank_langgraph.judges import EnsembleJudge, JudgeLike, LLMJudge, as_judge
from reasoningbank_langgraph.judges.base import as_verdict, verdict_on_error
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.records import Attempt, Verdict
from reasoningbank_langgraph.state import ChannelNames, Selector
from reasoningbank_langgraph.state.attempts import attempt_of, given_verdict, is_empty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reasoningbank_langgraph.chat.model_caller import ModelCaller


def create_judge(
    model: ModelLike | None = None,
    *,
    judge: JudgeLike | None = None,
    time_limit: float = 120.0,
    task: Selector = "task",
    answer: Selector = "answer",
    messages: Selector = "messages",
) -> MemoryNode:
    """Return a node that fills `verdict`.

    If the attempt has no answer or the judge fails, the verdict is `indeterminate` and nothing is learned. The first
    failure of each kind is logged as a warning. Replies of a judge's model are not streamed with
    `stream_mode="messages"`.

    Args:
        model: judges by `LLMJudge` unless `judge` is given.
        judge: any judge, or a function of the attempt (or of attempt and `config`), sync or async. It returns a
            `Verdict`, or True for success and False for failure; a failed `assert` in it counts as a failure.
        time_limit: seconds one call of the model may take.
        task: channel that holds the task, or a function from the state to it.
        answer: likewise for the answer.
        messages: likewise for the conversation.

    Raises:
        MissingModelError: neither a model nor a judge is given.
        JudgeError: in a run, the judge returns neither a verdict nor a bool.
    """
    if judge is not None:
        runnable = as_judge(judge)
    elif model is not None:
        runnable = LLMJudge(chat_model(model), time_limit=time_limit)
    else:
        raise MissingModelError("create_judge", "judges", "model=..., or judge=... for a judge that needs none")
    names, name, outages = ChannelNames(task, answer, messages), runnable.get_name(), Outages()

    def judge_attempt(state: State, context: Context) -> Update:
        started, attempt = time.perf_counter(), attempt_of(state, names)
        try:
            verdict = (
                _unanswered(attempt, names)
                or given_verdict(state)
                or as_verdict(name, call_unstreamed(partial(runnable.invoke, attempt), context.config))
            )
        except Exception as error:  # noqa: BLE001 - an outage of the judge must not end the user's run
            verdict = verdict_on_error(name, error, outages)
        return _update(verdict, runnable, context, started)

    async def ajudge_attempt(state: State, context: Context) -> Update:
        started, attempt = time.perf_counter(), attempt_of(state, names)
        try:
            verdict = (
                _unanswered(attempt, names)
                or given_verdict(state)
                or as_verdict(name, await acall_unstreamed(partial(runnable.ainvoke, attempt), context.config))
            )
        except Exception as error:  # noqa: BLE001 - an outage of the judge must not end the user's run
            verdict = verdict_on_error(name, error, outages)
        return _update(verdict, runnable, context, started)

    return MemoryNode("judge", judge_attempt, ajudge_attempt, names)


def _unanswered(attempt: Attempt, names: ChannelNames) -> Verdict | None:
    """Return the verdict on an attempt that left nothing to judge."""
    if not is_empty(attempt):
        return None
    rationale = f"no answer in channel {names.answer!r} and no new message from the model in {names.messages!r}"
    return Verdict(status="indeterminate", reason="no_evidence", rationale=rationale, judge="none")


def _update(verdict: Verdict, judge: object, context: Context, started: float) -> Update:
    model, usage = _asked_how(judge), context.tally.of("judge")
    context.emit(
        JudgedEvent(
            type=TYPE,
            event="judged",
            ms=milliseconds_since(started),
            count=1,
            ids=[],
            status=verdict.status,
            reason=verdict.reason,
            judge=verdict.judge,
            asked=model["asked"],
            fallbacks=model["fallbacks"],
            usage=usage,
        )
    )
    return {"verdict": verdict.to_json(), **context.used(judge=usage)}


def _asked_how(judge: object) -> dict[str, Any]:
    """Return how the judging model was asked; in an ensemble of several, the first one that was asked."""
    ways = [caller.asked_how() for caller in _callers(judge)]
    return next((way for way in ways if way["asked"]), {"asked": None, "fallbacks": {}})


def _callers(judge: object) -> Iterator[ModelCaller]:
    if isinstance(judge, LLMJudge):
        yield judge.caller
    elif isinstance(judge, EnsembleJudge):
        for inner in judge.judges:
            yield from _callers(inner)
