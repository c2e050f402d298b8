"""What a judge is, and how any function or Runnable becomes one."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.errors import GraphBubbleUp

from reasoningbank_langgraph.chat.outages import Outages
from reasoningbank_langgraph.chat.refusals import kind_of_failure
from reasoningbank_langgraph.chat.threads import OwnThread, is_sync
from reasoningbank_langgraph.errors import JudgeError, ScriptError
from reasoningbank_langgraph.records import Attempt, Verdict
from reasoningbank_langgraph.text import redact_secrets

Decision = Verdict | bool
"""What a judge returns: a verdict, or True for success and False for failure."""
JudgeLike = (
    Runnable[Attempt, Decision]
    | Callable[[Attempt], Decision | Awaitable[Decision]]
    | Callable[[Attempt, RunnableConfig], Decision | Awaitable[Decision]]
)
"""A judge, any other Runnable, or a function, sync or async, of the attempt or of the attempt and `config`."""


class Judge(Runnable[Attempt, Verdict]):
    """Decides whether one attempt at a task succeeded; a Runnable, and callable for plain use."""

    def __call__(self, attempt: Attempt) -> Verdict:
        """Judge one attempt."""
        return self.invoke(attempt)

    @abstractmethod
    def invoke(self, input: Attempt, config: RunnableConfig | None = None, **kwargs: Any) -> Verdict:
        """Judge one attempt. Never turns an outage into a verdict: that is `indeterminate`."""


def as_judge(judge: JudgeLike) -> Runnable[Attempt, Decision]:
    """Return the judge as a Runnable; plain functions, sync or async, of the attempt or of attempt and `config`.

    Raises:
        TypeError: it is neither a Runnable nor callable with an attempt.
    """
    function: Any = judge
    if isinstance(judge, type):
        raise TypeError(f"a judge is an object, not a class: give {judge.__name__}(...)")
    if not isinstance(judge, Runnable):
        _check_signature(function)
    if is_sync(judge):
        return OwnThread(judge if isinstance(judge, Runnable) else RunnableLambda(function))
    if isinstance(judge, Runnable):
        return judge
    return RunnableLambda(_sync_refusal, afunc=function)


def _check_signature(judge: Any) -> None:
    if not callable(judge):
        raise TypeError(f"a judge is a Runnable or a function from Attempt to Verdict, got {type(judge).__name__}")
    try:
        signature = inspect.signature(judge)
    except ValueError:  # built in: it does not say
        return
    by_name = dict.fromkeys({"config"} & set(signature.parameters))
    try:
        signature.bind(None, **by_name)
    except TypeError as error:
        raise TypeError(f"a judge takes the attempt, and `config` where it wants it; {judge!r:.80}: {error}") from None


def _sync_refusal(_: Attempt) -> Verdict:
    raise JudgeError("this judge is async only: use ainvoke or astream, or give a sync judge")


def is_async_only(judge: Runnable[Attempt, Decision]) -> bool:
    """Say whether a judge, as `as_judge` returns it, is an async function."""
    return isinstance(judge, RunnableLambda) and getattr(judge, "func", _sync_refusal) is _sync_refusal


def is_bool(value: object) -> bool:
    """Say whether it is a truth value, Python's or numpy's."""
    return type(value).__name__ in ("bool", "bool_")


def as_verdict(judge: str, decision: object) -> Verdict:
    """Return the decision of a judge as a verdict.

    Raises:
        JudgeError: it is no decision.
    """
    if isinstance(decision, Verdict):
        return decision
    if is_bool(decision):
        return Verdict(status="success" if decision else "failure", judge=judge)
    if inspect.iscoroutine(decision):
        decision.close()
        raise JudgeError(f"judge {judge!r} returned a coroutine: define it with `async def`")
    raise JudgeError(
        f"judge {judge!r} must return a Verdict, or True for success and False for failure; "
        f"it returned {decision!r:.80}: write for example Verdict(status='success', confidence=0.9), "
        "and status='indeterminate' for no opinion; a judge made of asserts ends with `return True`"
    )


def verdict_on_error(judge: str, error: Exception, outages: Outages | None = None) -> Verdict:
    """Return the verdict for a judge that raised: indeterminate, so nothing is learned from its outage.

    A failed assertion is no outage: the judge checked the attempt, and it is a failure.

    Args:
        judge: its name.
        error: what it raised.
        outages: where the outage is reported; None where it has been already.

    Raises:
        Exception: the error itself where it is no outage of the judge: an interrupt of the graph, something that is no
            judge, a test's script.
    """
    if isinstance(error, (GraphBubbleUp, JudgeError, ScriptError)):
        raise error
    if isinstance(error, AssertionError):
        return Verdict(status="failure", judge=judge, rationale=failed_assertion(error))
    if outages is not None:
        outages.report(f"judge {judge!r}", error)
    message = redact_secrets(str(error)[:300]).text
    return Verdict(
        status="indeterminate",
        reason="error",
        failure=kind_of_failure(error),
        judge=judge,
        rationale=f"{type(error).__name__}: {message}",
    )


def failed_assertion(error: AssertionError) -> str:
    """Return what a failed assertion says, without secrets."""
    return redact_secrets(str(error)[:2_000]).text or "an assertion of the judge failed"
