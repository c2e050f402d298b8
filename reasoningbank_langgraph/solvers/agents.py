"""Compiled graphs as solvers: an agent that reads `messages` finds the task and the lessons there."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.base import RunnableBindingBase
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from reasoningbank_langgraph.messages import to_messages
from reasoningbank_langgraph.nodes.retrieve import Heard
from reasoningbank_langgraph.records import task_key
from reasoningbank_langgraph.solvers.inserted_messages import (
    EXAMPLE,
    LESSONS,
    TASK,
    adds_messages,
    changes,
    inserted,
    inserted_example,
    is_inserted,
)
from reasoningbank_langgraph.state import ChannelNames

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from reasoningbank_langgraph.bank import Show

logger = logging.getLogger(__name__)

_LESSONS, _EXAMPLES = {"memory_prompt", "memories"}, {"memory_messages", "memory_examples"}
"""The channels by which a solver shows lessons, or examples."""


def solver_node(solver: Any, names: ChannelNames, schema: type[Any], *, checks: bool = False) -> Any:
    """Return the node for a solver: as it is, or an agent with what shows it the task and the lessons.

    An agent is a compiled graph that reads the conversation. Unless that ends with the task already, the task is added
    as a message of the user and stays there. The example and the lessons come before it, in messages that the agent
    alone sees; an agent with a channel `memory_prompt` or `memory_messages` shows the one or the other itself.

    Args:
        solver: what the user gave.
        names: the channels of the graph.
        schema: state of the graph the node is for.
        checks: whether it checks an answer, asked by the conversation, in place of solving the task.

    Raises:
        ValueError: it is a compiled graph that reads neither the conversation nor the task.
    """
    reads = _channels(solver)
    if reads is None:
        return solver
    if names.messages in reads:
        asks = not checks and isinstance(names.task, str) and names.task != names.messages
        quiet = adds_messages(StateGraph(schema).channels.get(str(names.messages)))
        shown = {"lessons": not _LESSONS & set(reads), "examples": not _EXAMPLES & set(reads)}
        return _AgentNode(solver, _AgentView(names, asks=asks, quiet=quiet, **shown))
    if isinstance(names.task, str) and names.task not in reads:
        raise ValueError(
            f"the solver is a graph that reads {', '.join(sorted(reads)) or 'nothing'}, and neither the conversation "
            f"({names.messages!r}) nor the task ({names.task!r}): add one of them to its state, with "
            "`memory_prompt: str` for the lessons, or say with messages=... and task=... what it calls them"
        )
    return solver


def heard_by(solver: Any, names: ChannelNames, schema: type[Any], *, show: Show) -> Heard:
    """Return what a solver in a graph with this state can be shown, and log a warning for what it cannot."""
    reads = _channels(solver)
    if reads is None:
        reads = _input_channels(solver, schema)
    elif names.messages in reads:
        return Heard(lessons=True, examples=True)
    heard = Heard(lessons=bool(_LESSONS & set(reads)), examples=bool(_EXAMPLES & set(reads)))
    if show != "examples" and not heard.lessons:
        logger.warning("the solver is shown no lessons: its state has no channel `memory_prompt: str`")
    if show != "lessons" and not heard.examples:
        logger.warning("the solver is shown no examples: its state has no channel `memory_messages: list`")
    return heard


def _input_channels(solver: Any, schema: type[Any]) -> Collection[str]:
    """The channels that a node function reads, by the type of its first parameter."""
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(schema)
    graph.add_node("solve", solver)
    return graph.schemas[graph.nodes["solve"].input_schema]


class _AgentView:
    """What an agent is shown, and what of it stays in the conversation."""

    def __init__(self, names: ChannelNames, *, asks: bool, lessons: bool, examples: bool, quiet: bool) -> None:
        self.names, self.asks, self.quiet = names, asks, quiet
        self.lessons, self.examples = lessons, examples

    def before(self, state: Mapping[str, Any]) -> dict[str, Any]:
        task, conversation = state["attempt"]["task"], list(state.get(str(self.names.messages)) or [])
        key = task_key(task)
        asked = [message.role == "user" and task_key(message.text) == key for message in to_messages(conversation)]
        if self.asks and not (asked and asked[-1]):
            conversation.append(inserted(TASK, task))
            asked.append(True)
        place = _place(conversation, asked)
        conversation[place:place] = self._shown(state)
        return {**state, str(self.names.messages): conversation}

    def _shown(self, state: Mapping[str, Any]) -> list[BaseMessage]:
        examples = inserted_example(state.get("memory_messages") or []) if self.examples else []
        lessons = [inserted(LESSONS, state["memory_prompt"])] if self.lessons and state.get("memory_prompt") else []
        return [*examples, *lessons]

    def after(self, state: Mapping[str, Any], update: Any) -> Any:
        name = str(self.names.messages)
        if not isinstance(update, Mapping) or name not in update:
            return update
        left = [message for message in update[name] if not is_inserted(message, LESSONS, EXAMPLE)]
        return {**update, name: changes(state.get(name) or [], left) if self.quiet else left}


class _AgentNode(RunnableLambda[Any, Any]):
    """An agent with what it is shown; what it takes out of the conversation, by summing it up, say, is gone there."""

    def __init__(self, agent: Runnable[Any, Any], view: _AgentView) -> None:
        super().__init__(agent.invoke, agent.ainvoke, name="agent")
        self.agent, self.view = agent, view
        self.deps = [agent]  # where LangGraph looks for subgraphs

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the agent inside a graph."""
        return self.view.after(input, self.agent.invoke(self.view.before(input), config, **kwargs))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the agent inside a graph, without blocking the loop."""
        return self.view.after(input, await self.agent.ainvoke(self.view.before(input), config, **kwargs))


def _place(conversation: Sequence[Any], asked: Sequence[bool]) -> int:
    """Index of the message with the task, else of the last one of the user, else the end."""
    users = [message.role == "user" for message in to_messages(conversation)]
    marked = asked if any(asked) else users
    return len(marked) - 1 - list(marked)[::-1].index(True) if any(marked) else len(conversation)


def _channels(solver: Any) -> Collection[str] | None:
    """The channels that a compiled graph reads; None where it is none."""
    while isinstance(solver, RunnableBindingBase):
        solver = solver.bound
    if not isinstance(solver, CompiledStateGraph):
        return None
    return solver.builder.schemas[solver.builder.input_schema]
