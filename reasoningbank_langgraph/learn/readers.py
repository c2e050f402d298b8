"""The state of a thread at a checkpoint, with the graph that made it or without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from langgraph.graph import START, StateGraph
from langgraph.pregel import Pregel

from reasoningbank_langgraph.nodes._base import MemoryNode
from reasoningbank_langgraph.state import ChannelNames, LoopState, Selector, loop_state

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

Graph = Pregel[Any, Any, Any, Any] | StateGraph[Any, Any, Any, Any]
Broken = Literal["interrupted", "unfinished"]


class State(NamedTuple):
    """A state at which a run ended or broke off."""

    values: Mapping[str, Any]
    broken: Broken | None
    """Why the run has not ended there, if it has not."""


class Reader:
    """Reads the states of a checkpointer.

    Args:
        graph: the graph that made the threads, compiled or not; None for threads that hold plain messages.
        saver: the checkpointer.
        names: what the graph calls its channels.
    """

    def __init__(self, graph: Graph | None, saver: BaseCheckpointSaver[Any], names: ChannelNames) -> None:
        self.saver, self.names = saver, names
        self._graph = None if graph is None else _with_saver(graph, saver)
        self._loop = _with_saver(_plain_loop(names), saver)

    def read(self, config: RunnableConfig) -> State:
        """Return the state at a checkpoint. Raises what the checkpointer or the graph raises if it cannot be read.

        A checkpointer may hold threads of other graphs too. What the loop records in its channels is read in any case,
        and without a graph the other channels hold their values as they are.
        """
        found = self.saver.get_tuple(config)
        if found is None:
            raise LookupError("the checkpointer does not hold it any more")
        values, broken = found.checkpoint["channel_values"], _broken(found)
        if isinstance(values.get("__end__"), str):
            return State(self._of_function(found), broken)
        of_loop = isinstance(values.get("attempt"), Mapping)
        graph = self._graph
        if of_loop and (graph is None or "attempt" not in graph.channels):
            graph = self._loop
        if graph is None:
            return State(values, broken)
        known = graph.get_state(config)
        others = values if graph is self._loop else {}
        return State({**others, **_mapping(known.values)}, broken or ("unfinished" if known.next else None))

    def _of_function(self, found: CheckpointTuple) -> Mapping[str, Any]:
        """Return what an `@entrypoint` that returns text was called with, and the text, as the channels of a graph."""
        called = self.saver.get_tuple(found.parent_config) if found.parent_config else None
        task = called.checkpoint["channel_values"].get("__start__") if called else None
        told = {self.names.task: task, self.names.answer: found.checkpoint["channel_values"]["__end__"]}
        return {name: text for name, text in told.items() if isinstance(name, str)}


def names_in(graph: Graph | None, task: Selector | None, answer: Selector | None, messages: Selector | None) -> Any:
    """Return what a graph calls its channels: as given, or as the nodes of the loop in it say, or the usual names."""
    builder = getattr(graph, "builder", graph)
    nodes = [getattr(node, "runnable", None) for node in getattr(builder, "nodes", {}).values()]
    # `consolidate` reads none of them.
    known = (node.names for node in nodes if isinstance(node, MemoryNode) and node.name != "consolidate")
    given = {"task": task, "answer": answer, "messages": messages}
    return next(known, ChannelNames())._replace(**{name: one for name, one in given.items() if one is not None})


def _plain_loop(names: ChannelNames) -> StateGraph[Any, Any, Any, Any]:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(loop_state(LoopState, names, None))
    builder.add_node("end", lambda _: {})
    builder.add_edge(START, "end")
    return builder


def _with_saver(graph: Graph, saver: BaseCheckpointSaver[Any]) -> Pregel[Any, Any, Any, Any]:
    if isinstance(graph, StateGraph):
        return graph.compile(checkpointer=saver)
    if isinstance(graph, Pregel):
        return graph.copy({"checkpointer": saver})
    raise TypeError(f"graph must be a graph of LangGraph, or None for plain messages, got {type(graph).__name__}")


def _mapping(values: Any) -> Mapping[str, Any]:
    return values if isinstance(values, Mapping) else {"messages": values}


def _broken(found: CheckpointTuple) -> Broken | None:
    """Say, from the channels by which LangGraph calls its nodes, whether a node was still to run."""
    if any(channel == "__interrupt__" for _, channel, *_ in found.pending_writes or ()):
        return "interrupted"
    values = found.checkpoint["channel_values"]
    waits = values.get("__pregel_tasks") or any(map(_calls_a_node, values, values.values()))
    return "unfinished" if waits else None


def _calls_a_node(name: str, value: Any) -> bool:
    if name.startswith("join:"):
        awaited = set(name.removeprefix("join:").rpartition(":")[0].split("+"))
        return isinstance(value, (set, frozenset, list, tuple)) and awaited <= set(value)
    return name == "__start__" or name.startswith("branch:to:")
