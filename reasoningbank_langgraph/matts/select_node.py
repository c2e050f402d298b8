"""The node that selects one rollout and leaves the graph as if it had been the only one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.chat.model_caller import ModelCaller
from reasoningbank_langgraph.chat.streams import call_unstreamed
from reasoningbank_langgraph.chat.threads import in_own_thread
from reasoningbank_langgraph.events import TYPE, SelectedEvent, milliseconds_since
from reasoningbank_langgraph.matts.fan_out import ended
from reasoningbank_langgraph.matts.records import Rollout, rollouts_of
from reasoningbank_langgraph.matts.scaling import Choose, Scaling
from reasoningbank_langgraph.matts.scores import right_rollouts, score
from reasoningbank_langgraph.matts.selectors import (
    RolloutSelector,
    Selection,
    chosen_by_function,
    judged_by_reference,
    without_reference,
)
from reasoningbank_langgraph.matts.votes import SHORT, group_answers
from reasoningbank_langgraph.matts.with_and_without import compare
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.records.usage import total_usage
from reasoningbank_langgraph.state import ChannelNames

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import RunnableConfig


def create_select(
    scaling: Scaling, *, model: BaseChatModel | None, time_limit: float, names: ChannelNames
) -> MemoryNode:
    """Return the node that fills `selection`, `verdict` and the solver's channels from the rollout it selects.

    Args:
        scaling: where selection starts.
        model: compares attempts where nothing else settles it; None to do without.
        time_limit: seconds one call of the model may take.
        names: the channels the solver uses.
    """
    selector = RolloutSelector(
        scaling, ModelCaller(model, "select", time_limit=time_limit) if model is not None else None
    )

    def select(state: State, context: Context) -> Update:
        started, sound = time.perf_counter(), _sound(state)
        if callable(scaling.select):
            choice = call_unstreamed(_own(scaling.select, state, sound), context.config)
        else:
            choice = selector.choose(state, sound, scaling.select, context.config)
        best = choice
        if _needs_another_look(state, scaling, sound):
            best = selector.choose(state, sound, "majority", context.config)
        return update(state, choice, best, context, started)

    async def aselect(state: State, context: Context) -> Update:
        started, sound = time.perf_counter(), _sound(state)
        if callable(scaling.select):
            own = _own(scaling.select, state, sound)
            choice = await in_own_thread("select", partial(call_unstreamed, own, context.config))
        else:
            choice = await selector.achoose(state, sound, scaling.select, context.config)
        best = choice
        if _needs_another_look(state, scaling, sound):
            best = await selector.achoose(state, sound, "majority", context.config)
        return await in_own_thread("select", partial(update, state, choice, best, context, started))

    def update(state: State, choice: Selection, best: Selection, context: Context, started: float) -> Update:
        report, usage = selection_report(state, choice, best, scaling), context.tally.of("select")
        context.emit(
            SelectedEvent(
                type=TYPE,
                event="selected",
                ms=milliseconds_since(started),
                count=1,
                ids=[],
                number=choice.number,
                by=choice.by,
                oracle=report["oracle"],
                skipped=report["rollouts"]["skipped"],
                estimated_tokens_saved=report["tokens"]["saved"],
                comparison=report["comparison"],
                usage=usage,
            )
        )
        chosen = next(rollout for rollout in rollouts_of(state) if rollout.number == choice.number)
        return {
            **_left_behind(state, chosen, names),
            "verdict": chosen.verdict.to_json() if chosen.verdict else None,
            "selection": report,
            "rollout_values": {},
            **context.used(select=usage, **total_usage(*(rollout.steps for rollout in rollouts_of(state)))),
        }

    return MemoryNode("select", select, aselect, names)


def _own(choose: Choose, state: State, sound: Sequence[Rollout]) -> Callable[[RunnableConfig], Selection]:
    return lambda _: chosen_by_function(choose, state, sound)


def _sound(state: Mapping[str, Any]) -> list[Rollout]:
    return [rollout for rollout in rollouts_of(state) if rollout.error is None]


def _needs_another_look(state: Mapping[str, Any], scaling: Scaling, sound: Sequence[Rollout]) -> bool:
    """Best-of-k is what would be selected without the reference: where it had a say, select once more without it."""
    may_look = scaling.select not in ("majority", "model") and len(sound) > 1
    return state["attempt"]["reference"] is not None and may_look and any(map(judged_by_reference, sound))


def _left_behind(state: Mapping[str, Any], chosen: Rollout, names: ChannelNames) -> dict[str, Any]:
    left = dict((state.get("rollout_values") or {}).get(str(chosen.number), {}))
    if isinstance(names.answer, str) and left.get(names.answer) is None:
        left[names.answer] = chosen.answer
    return left


def selection_report(state: Mapping[str, Any], choice: Selection, best: Selection, scaling: Scaling) -> dict[str, Any]:
    """Return the content of `selection`.

    Args:
        state: the graph's state with all rollouts.
        choice: what was selected.
        best: what would have been without the reference.
        scaling: the settings.

    Returns:
        `number, by, why` of the choice; `oracle`, whether the reference had a say in it; `votes`; `scores` (None
        without a reference); `rollouts` (`run, failed, skipped, ended`); `tokens` (`used`, and `saved` by those
        skipped, an estimate at the mean of those run); `comparison` with and without memory (`Comparison` or None).
    """
    rollouts = rollouts_of(state)
    used = sum(rollout.usage.get("total_tokens", 0) for rollout in rollouts)
    skipped = scaling.rollouts - len(rollouts)
    known = state["attempt"]["reference"] is not None
    return {
        **choice._asdict(),
        "oracle": scaling.select not in ("majority", "model") and any(map(judged_by_reference, rollouts)),
        "votes": [
            {"answer": group.answer[:SHORT], "rollouts": [rollout.number for rollout in group.members]}
            for group in group_answers(without_reference(scaling.select, rollouts))
        ],
        "scores": score(rollouts, right_rollouts(state, rollouts), best.number) if known else None,
        "rollouts": {
            "run": len(rollouts),
            "failed": sum(rollout.error is not None for rollout in rollouts),
            "skipped": skipped,
            "ended": ended(rollouts, scaling),
        },
        "tokens": {"used": used, "saved": round(used / len(rollouts) * skipped)},
        "comparison": compare(state, rollouts),
    }
