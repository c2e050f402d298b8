"""The graph of one rollout: solve, check again as often as asked, judge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.channels import BinaryOperatorAggregate
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from reasoningbank_langgraph.chat.threads import OwnThread, is_sync
from reasoningbank_langgraph.matts.refine import check_failed, create_ask
from reasoningbank_langgraph.solvers import solver_node
from reasoningbank_langgraph.solvers.inserted_messages import adds_messages
from reasoningbank_langgraph.state import ChannelNames, LoopState, loop_state


class AttemptState(LoopState, total=False):
    """State of one rollout; it ends with the rollout."""

    drafts: list[str | None]
    """The solver's answer, then the answer after each check."""
    asking: bool
    """Whether another check is wanted."""
    check_error: dict[str, Any] | None
    """`Failure` of the check that ended the checks."""


def create_rollout_graph(
    solver: Any,
    *,
    checks: int,
    refiner: Any,
    judge: Any,
    names: ChannelNames,
    own: type[Any] | None,
    all_checks: bool = False,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the graph that makes one attempt at the task and judges it.

    Args:
        solver: what solves.
        checks: how often its answer is checked at most.
        refiner: node that checks; needed where there are checks.
        judge: node that judges, or None.
        names: the channels the solver uses.
        own: the user's own state.
        all_checks: whether to go on checking an answer that stands.

    Raises:
        ValueError: there are checks, and the solver's channels have no names or its messages no reducer; or the solver
            keeps a conversation of its own.
    """
    schema = loop_state(AttemptState, names, own)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(schema)
    if getattr(solver, "checkpointer", None) is True:
        raise ValueError(
            "the solver was compiled with checkpointer=True, so the rollouts would share a conversation: leave it out"
        )
    _add_node(builder, "solve", solver_node(solver, names, schema))
    builder.add_edge(START, "solve")
    after = "judge" if judge is not None else END
    if checks:
        _check_names(builder, names)
        quiet = adds_messages(builder.channels[str(names.messages)])
        builder.add_node(
            "ask", RunnableLambda(create_ask(checks, names, all_checks=all_checks, quiet=quiet), name="ask")
        )
        failed: Any = check_failed  # LangGraph passes the error by its annotation, which its types do not know
        _add_node(builder, "refine", solver_node(refiner, names, schema, checks=True), error_handler=failed)
        builder.add_edge("solve", "ask")
        builder.add_conditional_edges("ask", _next(after), ["refine", after])
        builder.add_edge("refine", "ask")
    else:
        builder.add_edge("solve", after)
    if judge is not None:
        builder.add_node("judge", judge)
        builder.add_edge("judge", END)
    return builder.compile(name="attempt")


def _add_node(builder: StateGraph[Any, Any, Any, Any], name: str, node: Any, **options: Any) -> None:
    """Rollouts that hang, or that only wait for a thread, must not hold up the others."""
    builder.add_node(name, node, **options)
    if is_sync(node):
        spec = builder.nodes[name]
        builder.nodes[name] = replace(spec, runnable=OwnThread(cast("Runnable[Any, Any]", spec.runnable)))


def _next(after: str) -> Any:
    def route(state: Any) -> str:
        return "refine" if state["asking"] else after

    return route


def _check_names(builder: StateGraph[Any, Any, Any, Any], names: ChannelNames) -> None:
    if not (isinstance(names.answer, str) and isinstance(names.messages, str)):
        raise ValueError("checks write `answer` and `messages`: name these channels, a function cannot be written to")
    if not isinstance(builder.channels[names.messages], BinaryOperatorAggregate):
        raise ValueError(
            f"checks add to channel {names.messages!r}, which keeps the last value only: give it a reducer, "
            "for example Annotated[list[AnyMessage], add_messages]"
        )
