"""The class of the four nodes, with a sync and an async side, and what a node knows of the run it is part of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from types import MethodType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, get_type_hints

from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langgraph.runtime import Runtime, get_runtime
from typing_extensions import TypedDict

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

State = Mapping[str, Any]
Update = dict[str, Any]


class Context(NamedTuple):
    """What a node knows of the run it is part of."""

    node: str
    config: RunnableConfig
    runtime: Runtime[Any]
    state: State

    @classmethod
    def here(cls, node: str, config: RunnableConfig, state: State) -> Self:
        """Return what the running node knows. Raises `CachedNodeError` if its updates are cached."""
        if _CACHES.sees_cache(config):
            raise CachedNodeError(node)
        return cls(node, config, get_runtime(), state)

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
        self.runtime.stream_writer(event)


Step = Callable[[State, Context], Update]
AsyncStep = Callable[[State, Context], Awaitable[Update]]


class MemoryNode(Runnable[Any, Update]):
    """A LangGraph node with a sync and an async side.

    It adds the channels it reads and writes to its graph, so the graph's own state need not name them. If a selector is
    a function, what it reads is unknown: then the graph's own state is used, which must include `ReasoningBankState`.
    """

    def __init__(self, name: str, step: Step, astep: AsyncStep, names: ChannelNames) -> None:
        self.name, self.names = name, names
        self._step, self._astep = step, astep
        if all(isinstance(selector, str) for selector in names):
            self._bring_channels(names)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the node inside a graph."""
        context = self._context(input, config)
        return self._step(context.state, context)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Update:
        """Run the node inside a graph, without blocking the loop."""
        context = self._context(input, config)
        return await self._astep(context.state, context)

    def __call__(self, state: Any) -> Update:
        """Run the node inside a graph."""
        return self.invoke(state)

    def _context(self, state: Any, config: RunnableConfig | None) -> Context:
        return Context.here(self.name or "", ensure_config(config), as_state(state))

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
