"""Keeps the package's calls out of `stream_mode="messages"`; they are traced like all others.

LangGraph's tag `nostream` covers a model's tokens. LangGraph also streams messages found in the output of anything that
runs under the name of a node, also in a graph inside it. So the handler that streams messages is not passed on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from langchain_core.callbacks import BaseCallbackHandler, CallbackManager
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import merge_configs, set_config_context

Result = TypeVar("Result")


def _unstreamed(config: RunnableConfig | None) -> RunnableConfig:
    """Return a config, by default made from that of the run around it, with which nothing of a call is streamed."""
    quiet = merge_configs(ensure_config(config), {"tags": ["nostream"]})
    if callbacks := quiet.get("callbacks"):
        # A manager holds each handler once; two lists, this one and that of the context, would be joined.
        manager = CallbackManager(callbacks, callbacks) if isinstance(callbacks, list) else callbacks.copy()
        manager.handlers = _others(manager.handlers)
        manager.inheritable_handlers = _others(manager.inheritable_handlers)
        quiet["callbacks"] = manager
    return quiet


def call_unstreamed(call: Callable[[RunnableConfig], Result], config: RunnableConfig | None) -> Result:
    """Make a call without streaming it, nor the calls inside it that do not receive its config."""
    quiet = _unstreamed(config)
    with set_config_context(quiet) as context:
        return context.run(call, quiet)


async def acall_unstreamed(
    call: Callable[[RunnableConfig], Awaitable[Result]], config: RunnableConfig | None
) -> Result:
    """Async form of `call_unstreamed`."""
    quiet = _unstreamed(config)

    async def awaited() -> Result:
        return await call(quiet)

    with set_config_context(quiet) as context:
        return await asyncio.create_task(awaited(), context=context)


def _others(handlers: list[BaseCallbackHandler]) -> list[BaseCallbackHandler]:
    return [
        handler
        for handler in handlers
        if all(kind.__name__ != "StreamMessagesHandler" for kind in type(handler).__mro__)
    ]
