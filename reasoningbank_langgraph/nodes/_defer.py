"""The node that ends a run after the answer: the attempt waits in the bank, and no model is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from reasoningbank_langgraph.extraction import Judged, Origin, Waiting, make_pending
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.nodes.extract import origin_of
from reasoningbank_langgraph.records import Verdict, WaitsFor
from reasoningbank_langgraph.state import ChannelNames
from reasoningbank_langgraph.state.attempts import attempt_of, given_verdict, is_empty, solving_model

Learn = bool | Literal["deferred", "background"]
"""When a graph learns. True: in the run; False: not at all; `deferred`: after a verdict from outside, which
`MemoryBank.resolve` takes; `background`: after the answer, in a worker of this process."""

NOT_JUDGED = Verdict(status="indeterminate")


class Left(NamedTuple):
    """What a run leaves."""

    group: Sequence[Judged]
    """Its attempts, first the one whose answer is given."""
    origin: Origin
    """Where their records come from."""
    more: Mapping[str, Any] = MappingProxyType({})
    """Further channels that its graph fills."""


LeftBy = Callable[[State, Context], Left]


def check_learn(learn: Any) -> Learn:
    """Return it. Raises `ValueError` if it is none of the four."""
    if learn is True or learn is False or learn in ("deferred", "background"):
        return learn  # type: ignore[no-any-return]
    raise ValueError(f"learn must be True, False, 'deferred' or 'background', got {learn!r}")


def create_defer(names: ChannelNames, waits_for: WaitsFor, left_by: LeftBy | None = None) -> MemoryNode:
    """Return a node that fills `pending` with the attempt, for `create_consolidate` to write.

    An attempt without an answer waits for nothing: there is nothing to learn from it.

    Args:
        names: the channels of the graph.
        waits_for: what it waits for.
        left_by: what a run leaves; by default the attempt that its state holds.
    """

    def one(state: State, context: Context) -> Left:
        judged = Judged(attempt_of(state, names), given_verdict(state) or NOT_JUDGED)
        used = context.used(solve=judged.attempt.usage)
        return Left([judged], origin_of(judged, "", context), used)

    def defer(state: State, context: Context) -> Update:
        left = (left_by or one)(state, context)
        if is_empty(left.group[0].attempt):
            return {**left.more, "pending": None}
        waiting = Waiting(left.origin, solving_model(state, names), waits_for, state.get("trial"))
        return {**left.more, "pending": make_pending(left.group, waiting).to_json()}

    async def adefer(state: State, context: Context) -> Update:
        return defer(state, context)

    return MemoryNode("defer", defer, adefer, names)
