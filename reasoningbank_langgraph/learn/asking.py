"""Who judges the attempts of a walk and who distils them: called as they are, or in the loop of an async caller."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from reasoningbank_langgraph.chat.models import ModelLike, chat_model
from reasoningbank_langgraph.chat.outages import Outages
from reasoningbank_langgraph.chat.tally import Tally
from reasoningbank_langgraph.extraction import Extraction, Judged, LessonExtractor
from reasoningbank_langgraph.judges import LLMJudge, as_judge
from reasoningbank_langgraph.judges.base import as_verdict, verdict_on_error
from reasoningbank_langgraph.nodes._learner import LASTING
from reasoningbank_langgraph.records import Attempt, Verdict

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable

    from reasoningbank_langgraph.judges import JudgeLike
    from reasoningbank_langgraph.records import FailureKind

_IN_A_ROW = 3


def critic_of(chat: BaseChatModel, judge: JudgeLike | None, time_limit: float) -> Runnable[Attempt, Any]:
    """Return the judge that is given, or one that asks the model."""
    return LLMJudge(chat, time_limit=time_limit) if judge is None else as_judge(judge)


class Reach:
    """Whether there is use in asking: not once several calls in a row failed as the next one would.

    A walk over thousands of threads would else wait for the time limit in each.
    """

    def __init__(self) -> None:
        self._failed = Counter[str]()

    def note(self, step: str, failure: FailureKind | None) -> None:
        """Take note of how a call of a step ended."""
        self._failed[step] = self._failed[step] + 1 if failure in LASTING else 0

    @property
    def is_lost(self) -> bool:
        """Whether one of the steps has failed that often."""
        return any(count >= _IN_A_ROW for count in self._failed.values())


@dataclass(frozen=True)
class Asked:
    """Who judges and who distils."""

    judge: Callable[[Attempt], Verdict]
    """Judges an attempt; where it fails, the verdict is indeterminate."""
    distil: Callable[[Judged], Extraction]
    model: str
    tally: Tally
    """What both used."""
    reach: Reach = field(default_factory=Reach)

    @classmethod
    def of(
        cls,
        model: ModelLike,
        judge: JudgeLike | None,
        time_limit: float,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> Self:
        """Return both as functions; with a loop, they are called there while the caller's thread waits."""
        chat, tally = chat_model(model), Tally()
        critic = critic_of(chat, judge, time_limit)
        extractor, outages, name = LessonExtractor(chat, time_limit=time_limit), Outages(), critic.get_name()

        def call(step: str, runnable: Any, given: Any) -> Any:
            if loop is None:
                return runnable.invoke(given, tally.config(step))
            return asyncio.run_coroutine_threadsafe(runnable.ainvoke(given, tally.config(step)), loop).result()

        def judged(attempt: Attempt) -> Verdict:
            try:
                return as_verdict(name, call("judge", critic, attempt))
            except Exception as error:  # noqa: BLE001 - an outage of the judge must not end the walk
                return verdict_on_error(name, error, outages)

        return cls(judged, partial(call, "extract", extractor), extractor.caller.model_name, tally)
