"""The class of the four nodes, with a sync and an async side, and what a node knows of the run it is part of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from types import MethodType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, get_type_hints

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime, get_runtime
from typing_extensions import TypedDict

from reasoningbank_langgraph.chat.tally import Tally
from reasoningbank_langgraph.chat.tracing import run_name
from reasoningbank_langgraph.errors import CachedNodeError, MissingStoreError
from reasoningbank_langgraph.events import Event
from reasoningbank_langgraph.namespaces import Filled, resolve
from reasoningbank_langgraph.nodes._caching import Watch
from reasoningbank_langgraph.records import utc_now
from reasoningbank_langgraph.state import ChannelNames, ReasoningBankState, as_state
from reasoningbank_langgraph.state.channels import OfRun
from reasoningbank_langgraph.state.lineage import checkpoint_time

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

_CACHES = Watch()
_UNTRACED = ("type", "ms", "namespace")
"""What a trace does not repeat of an event: times it has, and a namespace may name a tenant."""

State = Mapping[str, Any]
Update = dict[str, Any]


class Context(NamedTuple):
    """What a node knows of the run it is part of."""

    node: str
    config: RunnableConfig
    runtime: Runtime[Any]
    state: State
    tally: Tally
    told: list[Event]
    """The events of this step so far."""

    @classmethod
    def here(cls, node: str, config: RunnableConfig, state: State, tally: Tally | None = None) -> Self:
        """Return what the running node knows. Raises `CachedNodeError` if its updates are cached."""
        if _CACHES.sees_cache(config):
            raise CachedNodeError(node)
        return cls(node, config, get_runtime(), state, tally or Tally(), [])

    @property
    def store(self) -> BaseStore:
        """The store the graph was compiled with. Raises `MissingStoreError` if there is none."""
        if self.runtime.store is None:
            raise MissingStoreError(self.node)
        return self.runtime.store

    @property
    def thread_id(self) -> str | None:
        """The thread, or None if the graph runs without a checkpointer."""
        info = self.runtime.execution_info
        return None if info is None or info.thread_id is None else str(info.thread_id)

    @property
    def configurable(self) -> Mapping[str, Any]:
        """The values the caller put into `config["configurable"]`."""
        return self.config.get("configurable", {})

    @property
    def began(self) -> datetime:
        """When the checkpoint this step starts from was made: the same however often the step is tried."""
        info = self.runtime.execution_info
        return min(utc_now(), checkpoint_time(info.checkpoint_id) if info else utc_now())

    @property
    def reads_newest(self) -> bool:
        """Whether the run continues from the newest checkpoint of its thread: the caller gave no `checkpoint_id`."""
        return "checkpoint_id" not in self.config.get("metadata", {})

    @property
    def nested(self) -> bool:
        """Whether the graph runs as a node of another graph."""
        info = self.runtime.execution_info
        return info is not None and "|" in info.checkpoint_ns

    def namespace(self, template: Sequence[str]) -> Filled:
        """Fill the labels in braces from `config["configurable"]` and the runtime context."""
        return resolve(template, self.configurable, self.runtime.context)

    def emit(self, event: Event) -> None:
        """Send an event to listeners of `stream_mode="custom"`."""
        self.told.append(event)
        self.runtime.stream_writer(event)

    def used(self, **steps: Mapping[str, int]) -> Update:
        """Return the update that says what steps used, in place of what they used in an earlier try or attempt."""
        return {"memory_usage": {**(self.state.get("memory_usage") or {}), **steps}}


Step = Callable[[State, Context], Update]
AsyncStep = Callable[[State, Context], Awaitable[Update]]


class _StepRun:
    """A run of a step, as a trace shows it inside the run of its node, which has the whole state and update.

    Args:
        step: the name of the step.
        state: the state it starts from.
        begins: whether it begins an attempt: the one in the state is then an earlier one.
    """

    def __init__(self, step: str, state: State, *, begins: bool) -> None:
        self.step, self.state, self.tally = step, state, Tally()
        self.update: Update = {}
        self.ids = {} if begins else attempt_id(state)
        self.left = left_ids(state) if step == "consolidate" else {}

    def config(self, config: RunnableConfig | None) -> RunnableConfig:
        """Return the config that the run is started with."""
        return {**self.tally.config(self.step, config, **self.ids, **self.left), "run_name": run_name(self.step)}

    def context(self, config: RunnableConfig) -> Context:
        """Return what the step knows."""
        return Context.here(self.step, config, self.state, self.tally)

    def ended(self, update: Update, context: Context) -> dict[str, Any]:
        """Keep the update, and return what the trace shows: ids, and what the events of the step say."""
        self.update = update
        events = ({name: value for name, value in event.items() if name not in _UNTRACED} for event in context.told)
        return {**self.ids, **attempt_id(update), **self.left, **left_ids(update), "events": list(events)}


def attempt_id(state: State) -> dict[str, str]:
    """Return the id of the attempt in the state: the one of its place in the thread, known as soon as it begins."""
    line = (state.get("attempt") or {}).get("line")
    return {"attempt": line[-1][0]} if line else {}


def left_ids(state: State) -> dict[str, str]:
    """Return the ids of the episode and of the experience that an attempt has become, as the bank knows them."""
    left = [*(state.get("episodes") or ()), *([state["pending"]] if state.get("pending") else [])]
    return {"episode": left[0]["id"], "experience": left[0]["experience_id"]} if left else {}


class MemoryNode(Runnable[Any, Update]):
    """A LangGraph node with a sync and an async side.

    It adds the channels it reads and writes to its graph, so the graph's own state need not name them. If a selector is
    a function, what it reads is unknown: then the graph's own state is used, which must include `ReasoningBankState`.
    """

    def __init__(self, name: str, step: Step, astep: AsyncStep, names: ChannelNames, *, begins: bool = False) -> None:
        self.name, self.names, self.begins = name, names, begins
        self._step, self._astep = step, astep
        if all(isinstance(selector, str) for selector in names):
            self._bring_channels(names)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the node inside a graph."""
        run = _StepRun(str(self.name), as_state(input), begins=self.begins)

        def step(_: Any, config: RunnableConfig) -> Update:
            context = run.context(config)
            return run.ended(self._step(context.state, context), context)

        self._call_with_config(step, run.ids, run.config(config))  # type: ignore[arg-type] # it is told by name
        return run.update

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the node inside a graph, without blocking the loop."""
        run = _StepRun(str(self.name), as_state(input), begins=self.begins)

        async def step(_: Any, config: RunnableConfig) -> Update:
            context = run.context(config)
            return run.ended(await self._astep(context.state, context), context)

        await self._acall_with_config(step, run.ids, run.config(config))  # type: ignore[arg-type] # likewise
        return run.update

    def __call__(self, state: Any) -> Update:
        """Run the node inside a graph."""
        return self.invoke(state)

    def _bring_channels(self, names: ChannelNames) -> None:
        """Annotate this node's call: LangGraph reads a node's channels from its first parameter's type.

        The user's channels are annotated so that LangGraph keeps whatever kind of channel they are.
        """
        users: dict[str, Any] = dict.fromkeys(map(str, names), Any)
        if names.task != names.messages:
            users[str(names.task)] = Annotated[Any, OfRun]
        channels = {**get_type_hints(ReasoningBankState, include_extras=True), **users}
        for name in {"task", "answer", "messages"} - set(users):
            del channels[name]

        def call(node: MemoryNode, state: Any) -> Update:
            return node.invoke(state)

        call.__annotations__ = {"state": TypedDict("MemoryNodeState", channels, total=False)}  # type: ignore[operator]
        self.__dict__["__call__"] = MethodType(call, self)
