"""The node that runs one rollout. Its errors are recorded, never raised; what is meant for LangGraph passes through."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import merge_configs
from langgraph.errors import GraphBubbleUp

from reasoningbank_langgraph.chat.models import sampling_seed
from reasoningbank_langgraph.chat.tally import Tally, usage_of
from reasoningbank_langgraph.chat.threads import call_within
from reasoningbank_langgraph.chat.tracing import metadata, run_name
from reasoningbank_langgraph.errors import JudgeError, ModelTimeoutError
from reasoningbank_langgraph.events import TYPE, RolloutEvent, milliseconds_since
from reasoningbank_langgraph.matts.records import Failure, Rollout
from reasoningbank_langgraph.matts.scaling import Scaling
from reasoningbank_langgraph.matts.solver_channels import SolverChannels
from reasoningbank_langgraph.nodes._base import Context, attempt_id
from reasoningbank_langgraph.records.usage import SOLVE, all_tokens
from reasoningbank_langgraph.state import ChannelNames
from reasoningbank_langgraph.state.attempts import attempt_of, messages_of

if TYPE_CHECKING:
    from langchain_core.outputs import LLMResult
    from langgraph.graph.state import CompiledStateGraph


class RolloutTally(Tally):
    """Counts the same for one rollout.

    Calls that LangChain does not see, and those before an interrupt, are told by the messages they left.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: Counter[str] = Counter()

    def on_llm_end(self, response: LLMResult, *, tags: Sequence[str] | None = None, **kwargs: Any) -> None:
        """Count one call."""
        super().on_llm_end(response, tags=tags)
        with self._lock:
            self._seen.update(str(used) for used in usage_of(response))

    def count_messages(self, messages: Iterable[Any]) -> None:
        """Count what messages say they took, unless a call that was counted said the same."""
        for message in messages:
            used = getattr(message, "usage_metadata", None) or {}
            with self._lock:
                known = self._seen[str(used)] > 0
                self._seen[str(used)] -= known
            if used and not known:
                self.count({SOLVE: {"calls": 1, **used}})


class _Run:
    """One rollout on its way."""

    def __init__(
        self,
        sent: Mapping[str, Any],
        config: RunnableConfig,
        scaling: Scaling,
        names: ChannelNames,
        channels: SolverChannels,
    ) -> None:
        self.names, self.channels, self.before = names, channels, channels.copied(sent)
        self.started = time.perf_counter()
        self.context = Context.here("rollout", config, sent)
        self.number = int(sent["rollout"])
        self.input = {name: value for name, value in sent.items() if name != "rollout"}
        self.shown = attempt_of(sent, names).shown
        self.tokens = RolloutTally()
        self.temperature = scaling.temperature(self.number)
        seed = self.context.configurable.get("seed") or 0
        self.seed = sampling_seed(seed, str(sent["attempt"]["task"]), self.number)
        configurable: dict[str, Any] = {"rollout": self.number, "seed": self.seed}
        if self.temperature is not None:  # the solver's own stands where nothing is said
            configurable["temperature"] = self.temperature
        seen: RunnableConfig = {
            "run_name": run_name("rollout"),
            "metadata": metadata(rollout=self.number, **attempt_id(sent)),
            "callbacks": [self.tokens],
        }
        self.config = merge_configs(config, {**seen, "configurable": configurable})

    def ended(self, final: Mapping[str, Any]) -> dict[str, Any]:
        attempt = attempt_of(final, self.names)
        self.tokens.count_messages(messages_of(final, self.names))
        rollout = self._rollout(
            answer=attempt.answer,
            messages=attempt.messages,
            verdict=final.get("verdict"),
            checks=max(0, len(final.get("drafts") or []) - 1),
            check_error=final.get("check_error"),
        )
        return self._update(rollout, self.channels.update(self.before, final))

    def failed(self, error: Exception) -> dict[str, Any]:
        return self._update(self._rollout(error=Failure.of(error)), {})

    def _rollout(self, **values: Any) -> Rollout:
        return Rollout(
            number=self.number,
            temperature=self.temperature,
            seed=self.seed,
            shown=self.shown,
            usage=all_tokens(self.tokens.usage),
            steps=self.tokens.usage,
            seconds=round(time.perf_counter() - self.started, 3),
            **values,
        )

    def _update(self, rollout: Rollout, values: dict[str, Any]) -> dict[str, Any]:
        self.context.emit(
            RolloutEvent(
                type=TYPE,
                event="rollout",
                ms=milliseconds_since(self.started),
                count=1,
                ids=list(rollout.shown),
                number=rollout.number,
                status=rollout.verdict.status if rollout.verdict else None,
                error=str(rollout.error) if rollout.error else None,
                checks=rollout.checks,
                usage=dict(rollout.usage),
                steps=self.tokens.usage,
            )
        )
        return {"rollouts": [rollout.to_json()], "rollout_values": {str(self.number): values}}


def create_rollout(
    attempt: CompiledStateGraph[Any, Any, Any, Any], scaling: Scaling, names: ChannelNames, channels: SolverChannels
) -> RunnableLambda[Any, dict[str, Any]]:
    """Return the node that runs one rollout on a state of its own, within its time limit.

    `config["configurable"]` tells the solver `rollout`, `temperature` and `seed`. Interrupts and other signals to
    LangGraph pass through; every other error becomes part of the rollout's record. A sync solver that hangs cannot
    be ended: its thread is left behind.

    Args:
        attempt: the graph of one rollout.
        scaling: time limit and temperatures.
        names: the channels the solver uses.
        channels: the solver's channels, whose updates are kept until a rollout is selected.
    """
    limit = scaling.rollout_time_limit

    def rollout(state: Any, config: RunnableConfig) -> dict[str, Any]:
        run = _Run(state, config, scaling, names, channels)
        call = partial(attempt.invoke, run.input, run.config)
        try:
            final: Any = call() if limit is None else call_within(limit, f"rollout {run.number}", call)
            return run.ended(final)
        except (GraphBubbleUp, JudgeError):
            raise
        except Exception as error:  # noqa: BLE001 - recorded: the other rollouts go on
            return run.failed(error)

    async def arollout(state: Any, config: RunnableConfig) -> dict[str, Any]:
        run = _Run(state, config, scaling, names, channels)
        try:
            async with asyncio.timeout(limit) as clock:
                final: Any = await attempt.ainvoke(run.input, run.config)
            return run.ended(final)
        except (GraphBubbleUp, JudgeError):
            raise
        except Exception as error:  # noqa: BLE001 - recorded: the other rollouts go on
            late = limit is not None and isinstance(error, TimeoutError) and clock.expired()
            problem = ModelTimeoutError(f"rollout {run.number}", limit or 0.0) if late else error
            return run.failed(problem)

    return RunnableLambda(rollout, arollout, name="rollout")
