"""The fan-out: rollouts in waves, and when the rest of them can be spared."""

from __future__ import annotations

import copy
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.types import Send

from reasoningbank_langgraph.bank import NOTHING
from reasoningbank_langgraph.errors import TooFewAttemptsError
from reasoningbank_langgraph.events import TYPE, JudgedEvent, milliseconds_since
from reasoningbank_langgraph.matts.records import Rollout, rollouts_of
from reasoningbank_langgraph.matts.scaling import Scaling
from reasoningbank_langgraph.matts.selectors import without_reference
from reasoningbank_langgraph.matts.votes import count_votes
from reasoningbank_langgraph.matts.with_and_without import agree, without_memory
from reasoningbank_langgraph.nodes._base import Context
from reasoningbank_langgraph.nodes.retrieve import memory_channels
from reasoningbank_langgraph.records.usage import total_usage
from reasoningbank_langgraph.state import ChannelNames

_OURS = ("rollouts", "rollout_values", "selection")


def create_fan_out(scaling: Scaling, names: ChannelNames) -> Callable[[Any], list[Send]]:
    """Return the edge that sends the next wave of rollouts.

    Each rollout is sent a deep copy of the state: what it changes in place, no other one sees. What cannot be copied,
    a client or a lock, is shared.
    """

    def fan_out(state: Any) -> list[Send]:
        done, shared = len(state.get("rollouts") or []), _unanswered(state, names)
        last = scaling.first_attempts if done < scaling.first_attempts else scaling.rollouts
        unaided = without_memory(shared["attempt"]["task"], last) if scaling.memory == "half" else ()
        blank = memory_channels(NOTHING)
        return [
            Send("rollout", {**_copied(shared), **(blank if number in unaided else {}), "rollout": number})
            for number in range(done, min(done + scaling.wave, last))
        ]

    return fan_out


def create_next(scaling: Scaling, fan_out: Callable[[Any], list[Send]]) -> Callable[[Any], list[Send] | str]:
    """Return the edge after a wave: to selection, to the memory once the first rollouts disagree, or the next wave."""

    def next_step(state: Any) -> list[Send] | str:
        rollouts = rollouts_of(state)
        if ended(rollouts, scaling):
            return "select"
        return "retrieve" if len(rollouts) == scaling.first_attempts else fan_out(state)

    return next_step


def _copied(state: Mapping[str, Any]) -> dict[str, Any]:
    copied = dict(state)
    for name, value in state.items():
        with suppress(Exception):
            copied[name] = copy.deepcopy(value)
    return copied


def _unanswered(state: Mapping[str, Any], names: ChannelNames) -> dict[str, Any]:
    """The state as a rollout begins with it: an answer to an earlier task of the thread is not its own."""
    shared = {name: value for name, value in state.items() if name not in _OURS}
    if isinstance(names.answer, str):
        shared |= {names.answer: None, "attempt": {**state["attempt"], "answer_before": None}}
    return shared


def ended(rollouts: Sequence[Rollout], scaling: Scaling) -> str | None:
    """Say why no further rollout is needed: `all`, `agreed`, `accepted`, `majority`, `hopeless`; None to go on."""
    left = scaling.rollouts - len(rollouts)
    sound = sum(rollout.error is None for rollout in rollouts)
    if left <= 0:
        return "all"
    if sound + left < scaling.min_attempts:
        return "hopeless"
    if sound < scaling.min_attempts:
        return None
    if 0 < scaling.first_attempts <= len(rollouts) and agree(rollouts, scaling):
        return "agreed"
    return None if scaling.stop_after is None else _stopped(rollouts, scaling, left, scaling.stop_after)


def _stopped(rollouts: Sequence[Rollout], scaling: Scaling, left: int, stop_after: int) -> str | None:
    if scaling.select == "verifier" and _accepted(rollouts, scaling) >= stop_after:
        return "accepted"
    votes = [len(group.members) for group in count_votes(without_reference(scaling.select, rollouts))]
    first, second = [*votes, 0, 0][:2]
    unchangeable = scaling.select in ("verifier", "majority") and first > second + left
    return "majority" if unchangeable and not _provable(rollouts, scaling) else None


def _accepted(rollouts: Sequence[Rollout], scaling: Scaling) -> int:
    verdicts = [rollout.verdict for rollout in rollouts if rollout.verdict]
    return sum(verdict.status == "success" and verdict.judge in scaling.verifiers for verdict in verdicts)


def _provable(rollouts: Sequence[Rollout], scaling: Scaling) -> bool:
    """With a verifier at work, a majority settles nothing: a later rollout may be proven right."""
    judges = {rollout.verdict.judge for rollout in rollouts if rollout.judged and rollout.verdict}
    return scaling.select == "verifier" and bool(judges & set(scaling.verifiers))


def create_gather(scaling: Scaling) -> RunnableLambda[Any, dict[str, Any]]:
    """Return the node that counts what came of a wave.

    Raises:
        TooFewAttemptsError: when run, so many rollouts failed that `min_attempts` cannot be reached.
    """

    def gather(state: Any, config: RunnableConfig) -> dict[str, Any]:
        started, context, rollouts = time.perf_counter(), Context.here("gather", config, state), rollouts_of(state)
        if ended(rollouts, scaling) is None:
            return {}
        failures = {rollout.number: rollout.error for rollout in rollouts if rollout.error}
        sound = len(rollouts) - len(failures)
        if sound < scaling.min_attempts:
            causes = {number: str(failure) for number, failure in failures.items()}
            raise TooFewAttemptsError(sound, scaling.min_attempts, causes, next(iter(failures.values())).kind)
        verdicts = [rollout.verdict for rollout in rollouts if rollout.verdict]
        statuses = Counter(verdict.status for verdict in verdicts)
        if verdicts:
            context.emit(
                JudgedEvent(
                    type=TYPE,
                    event="judged",
                    ms=milliseconds_since(started),
                    count=len(verdicts),
                    ids=[],
                    statuses=dict(statuses),
                    usage=total_usage(*(rollout.steps for rollout in rollouts)).get("judge", {}),
                )
            )
        return {}

    return RunnableLambda(gather, name="gather")
