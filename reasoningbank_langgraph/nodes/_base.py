"""What the four nodes share: one object with a sync and an async side that brings its own channels along."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MethodType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, get_type_hints
from uuid import UUID

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

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

_GREGORIAN = datetime(1582, 10, 15, tzinfo=UTC)
"""Where ids that are made of the time begin to count (RFC 9562)."""

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
        """Return what the node that runs now knows. Raises `CachedNodeError` if that is cached."""
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
        """The thread, or None where the graph runs without a checkpointer."""
        info = self.runtime.execution_info
        return None if info is None or info.thread_id is None else str(info.thread_id)

    @property
    def configurable(self) -> Mapping[str, Any]:
        """The values the caller put into `config["configurable"]`."""
        return self.config.get("configurable", {})

    @property
    def began(self) -> datetime:
        """When the checkpoint was made that this step begins on: the same however often it is tried."""
        info = self.runtime.execution_info
        return min(utc_now(), _checkpoint_time(info.checkpoint_id) if info else utc_now())

    @property
    def reads_newest(self) -> bool:
        """Whether the run went on from the newest checkpoint of its thread, with no `checkpoint_id` from the caller."""
        return "checkpoint_id" not in self.config.get("metadata", {})

    @property
    def nested(self) -> bool:
        """Whether the graph runs as a node of another one."""
        info = self.runtime.execution_info
        return info is not None and "|" in info.checkpoint_ns

    def namespace(self, template: Sequence[str]) -> Filled:
        """Fill the labels in braces from `config["configurable"]` and the runtime context."""
        return resolve(template, self.configurable, self.runtime.context)

    def emit(self, event: Event) -> None:
        """Send listeners of `stream_mode="custom"` what this step did."""
        self.runtime.stream_writer(event)


def _checkpoint_time(checkpoint_id: str) -> datetime:
    """When a checkpoint was made, which LangGraph's ids tell; now for an id of another kind."""
    try:
        name = UUID(checkpoint_id)
    except ValueError:
        return utc_now()
    ticks = name.int >> 80 << 12 | name.int >> 64 & 0xFFF  # of 100 ns, most significant bits first
    return _GREGORIAN + timedelta(microseconds=ticks // 10) if name.version == 6 else utc_now()


Step = Callable[[State, Context], Update]
AsyncStep = Callable[[State, Context], Awaitable[Update]]


class MemoryNode(Runnable[Any, Update]):
    """A LangGraph node with a sync and an async side.

    Added to a graph it brings the channels it reads and writes with it, so a graph's own state need not name them.
    Where a selector is a function, what it reads is unknown: then the graph's own state is used, and has to include
    `ReasoningBankState`.
    """

    def __init__(self, name: str, step: Step, astep: AsyncStep, names: ChannelNames) -> None:
        self.name = name
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

        The user's own channels are annotated such that LangGraph takes them as whatever those channels are.
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
