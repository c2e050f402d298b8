"""A judge without an opinion: the task is solved again several times, and the attempt has to agree."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.messages import HumanMessage, SystemMessage

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.chat.models import ModelLike, chat_model, sampling_seed
from reasoningbank_langgraph.chat.outages import Outages
from reasoningbank_langgraph.chat.streams import acall_unstreamed, call_unstreamed
from reasoningbank_langgraph.chat.threads import call_within, in_own_thread
from reasoningbank_langgraph.chat.token_caps import capped
from reasoningbank_langgraph.chat.tracing import labels, run_name
from reasoningbank_langgraph.errors import ModelTimeoutError
from reasoningbank_langgraph.judges.base import Judge, verdict_on_error
from reasoningbank_langgraph.math_answers import final_answer, is_refusal, same_answer
from reasoningbank_langgraph.parsing.replies import read_reply
from reasoningbank_langgraph.records import Attempt, Verdict
from reasoningbank_langgraph.text.trajectory import task_block

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable, RunnableConfig

TEMPERATURE = 0.7
_NAME = "self-consistency"

Sample = str | None | Exception
"""A final answer, None where a reply has none or refuses, or what went wrong."""


class SelfConsistencyJudge(Judge):
    """Has a model solve the task `n` times anew and compares final answers (self-consistency, arXiv 2203.11171).

    The attempt is a success when a share of at least `threshold` of the answers agrees with its own, a failure when
    such a share agrees on another answer, and else `indeterminate` (`no_evidence`). It finds what a model mostly
    answers, not what is right. Answers are compared as math, or as text.

    Args:
        model: the chat model that solves.
        n: how often; calls that fail count as answers that agree with nothing.
        threshold: share needed, above one half and at most 1.
        max_tokens: cap on the tokens of one solution.
        time_limit: seconds one call may take.

    Raises:
        ValueError: `n` below 1, or a threshold two answers could reach at once.
    """

    def __init__(
        self,
        model: ModelLike,
        n: int = 5,
        threshold: float = 0.6,
        *,
        max_tokens: int = 700,
        time_limit: float = 120.0,
    ) -> None:
        if n < 1:
            raise ValueError(f"n must be at least 1, got {n}")
        if not 0.5 < threshold <= 1:
            raise ValueError(f"threshold must be above 0.5 and at most 1, got {threshold}")
        self.model, self.n, self.threshold = chat_model(model), n, threshold
        self.max_tokens, self.time_limit = max_tokens, time_limit
        self._outages = Outages()

    def invoke(self, input: Attempt, config: RunnableConfig | None = None, **kwargs: Any) -> Verdict:
        """Judge one attempt; stops as soon as further answers cannot change the verdict."""
        own, samples = final_answer(input.answer), list[Sample]()
        while own is not None and len(samples) < self.n and self._can_change(own, samples):
            samples.append(self._sample(input, len(samples), config))
        return self._verdict(own, samples)

    async def ainvoke(self, input: Attempt, config: RunnableConfig | None = None, **kwargs: Any) -> Verdict:
        """Judge one attempt; all answers are asked for at the same time."""
        own = final_answer(input.answer)
        if own is None:
            return self._verdict(own, [])
        samples = await asyncio.gather(*(self._asample(input, number, config) for number in range(self.n)))
        return await in_own_thread(_NAME, partial(self._verdict, own, samples))

    def _sample(self, attempt: Attempt, number: int, config: RunnableConfig | None) -> Sample:
        try:
            call = self._call(attempt, number)
            ask = partial(call_unstreamed, partial(call.invoke, _prompt(attempt)), config)
            return _solution(call_within(self.time_limit, _NAME, ask))
        except Exception as error:  # noqa: BLE001 - a call that fails is one sample without an answer
            return error

    async def _asample(self, attempt: Attempt, number: int, config: RunnableConfig | None) -> Sample:
        try:
            ask = partial(self._call(attempt, number).ainvoke, _prompt(attempt))
            return _solution(await asyncio.wait_for(acall_unstreamed(ask, config), self.time_limit))
        except TimeoutError:
            return ModelTimeoutError(_NAME, self.time_limit)
        except Exception as error:  # noqa: BLE001 - as above
            return error

    def _call(self, attempt: Attempt, number: int) -> Runnable[Any, Any]:
        """The model, capped, and sampling where its class knows how."""
        wanted = {"temperature": TEMPERATURE, "seed": sampling_seed(0, attempt.task, number)}
        sampling = {name: value for name, value in wanted.items() if name in type(self.model).model_fields}
        bound = capped(self.model, self.max_tokens).bind(**sampling)
        return bound.with_config({**labels("judge"), "run_name": run_name(_NAME)})

    def _can_change(self, own: str, samples: Sequence[Sample]) -> bool:
        """Say whether the samples still to come could change the verdict."""
        agreeing, against = _votes(own, samples)
        remaining = self.n - len(samples)
        decided = agreeing >= self._needed or against >= self._needed
        return not decided and max(agreeing, against) + remaining >= self._needed

    @property
    def _needed(self) -> float:
        return self.threshold * self.n - 1e-9

    def _verdict(self, own: str | None, samples: Sequence[Sample]) -> Verdict:
        failures = [sample for sample in samples if isinstance(sample, Exception)]
        if failures and len(failures) == len(samples):
            return verdict_on_error(_NAME, failures[0], self._outages)
        agreeing, against = _votes(own, samples) if own is not None else (0, 0)
        rationale = f"{agreeing} of {len(samples)} new solutions agree with the answer, {against} on another one"
        if agreeing >= self._needed:
            return Verdict(status="success", confidence=agreeing / len(samples), rationale=rationale, judge=_NAME)
        if against >= self._needed:
            return Verdict(status="failure", confidence=against / len(samples), rationale=rationale, judge=_NAME)
        rationale = rationale if own is not None else "the attempt has no final answer"
        return Verdict(status="indeterminate", reason="no_evidence", rationale=rationale, judge=_NAME)


def _prompt(attempt: Attempt) -> list[Any]:
    return [SystemMessage(prompts.SAMPLE_SYSTEM), HumanMessage(task_block(attempt))]


def _solution(reply: BaseMessage) -> Sample:
    """The final answer, if it is one and no refusal; of a reply that was cut or filtered only one that is marked."""
    read = read_reply(reply)
    answer = final_answer(read.text)
    if answer is None or is_refusal(answer):
        return None
    whole = not read.refused and read.ending != "length"
    return answer if whole or answer != read.text else None


def _votes(own: str, samples: Sequence[Sample]) -> tuple[int, int]:
    """Return how many answers agree with the attempt's, and how many with the most common other one."""
    answers = [sample for sample in samples if isinstance(sample, str)]
    others = [answer for answer in answers if not same_answer(own, answer)]
    against = max((sum(same_answer(answer, other) for other in others) for answer in others), default=0)
    return len(answers) - len(others), against
