"""What a judge is, and how any function or Runnable becomes one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.errors import GraphBubbleUp

from reasoningbank_langgraph.records import Attempt, Verdict
from reasoningbank_langgraph.text import redact_secrets
from reasoningbank_langgraph.threads import OwnThread, is_sync

JudgeLike = Runnable[Attempt, Verdict] | Callable[[Attempt], Verdict] | Callable[[Attempt], Awaitable[Verdict]]


class Judge(Runnable[Attempt, Verdict]):
    """Decides whether one attempt at a task succeeded; a Runnable, and callable for plain use."""

    def __call__(self, attempt: Attempt) -> Verdict:
        """Judge one attempt."""
        return self.invoke(attempt)

    @abstractmethod
    def invoke(self, input: Attempt, config: RunnableConfig | None = None, **kwargs: Any) -> Verdict:
        """Judge one attempt. Never turns an outage into a verdict: that is `indeterminate`."""


def as_judge(judge: JudgeLike) -> Runnable[Attempt, Verdict]:
    """Return the judge as a Runnable; plain functions, sync or async, are welcome.

    Raises:
        TypeError: it is neither a Runnable nor callable.
    """
    function: Any = judge
    if is_sync(judge):
        return OwnThread(judge if isinstance(judge, Runnable) else RunnableLambda(function))
    if isinstance(judge, Runnable):
        return judge
    if callable(judge):
        return RunnableLambda(_sync_refusal, afunc=function)
    raise TypeError(f"a judge is a Runnable or a function from Attempt to Verdict, got {type(judge).__name__}")


def _sync_refusal(_: Attempt) -> Verdict:
    raise TypeError("this judge is async only: use ainvoke or astream, or give a sync judge")


def checked(verdict: Verdict) -> Verdict:
    """Return the verdict; raises `TypeError` where a judge returned something else."""
    if not isinstance(verdict, Verdict):
        raise TypeError(f"a judge returns a Verdict, this one returned {verdict!r:.80}")
    return verdict


def outage(judge: str, error: Exception) -> Verdict:
    """Return the verdict for a judge that failed to run: indeterminate, so nothing is learned from the outage.

    Raises:
        Exception: the error itself where it is no outage: an interrupt of the graph or a failed assertion.
    """
    if isinstance(error, (GraphBubbleUp, AssertionError)):
        raise error
    said = redact_secrets(str(error)[:300]).text
    return Verdict(status="indeterminate", reason="error", judge=judge, rationale=f"{type(error).__name__}: {said}")
