"""Calls in separate threads: a call may never end, and asyncio's thread pool is small and shared by all."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from reasoningbank_langgraph.errors import ModelTimeoutError

Result = TypeVar("Result")


def begin_call(purpose: str, call: Callable[[], Any]) -> Future[Any]:
    """Start the call in a new daemon thread, with the context of the caller."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()  # the waiting caller may go away, the call stays
    context = contextvars.copy_context()

    def work() -> None:
        try:
            future.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001 - handed to the waiting thread
            future.set_exception(error)

    threading.Thread(target=work, daemon=True, name=f"reasoningbank-{purpose}").start()
    return future


async def in_own_thread(purpose: str, call: Callable[[], Result]) -> Result:
    """Run the call in a new thread and return its result."""
    result: Result = await asyncio.wrap_future(begin_call(purpose, call))
    return result


def call_within(seconds: float, purpose: str, call: Callable[[], Any]) -> Any:
    """Return the result of the call; after `seconds`, abandon it and raise `ModelTimeoutError`."""
    future = begin_call(purpose, call)
    try:
        return future.result(seconds)
    except FutureTimeoutError:
        if future.done():
            raise
        raise ModelTimeoutError(purpose, seconds) from None


class OwnThread(RunnableLambda[Any, Any]):
    """A sync Runnable that, when awaited, runs in a new thread and not in asyncio's pool.

    Calls that hang would fill that pool, and all other sync code of the program would wait for them. Calls that only
    wait for a free thread would be taken for slow ones.

    Args:
        inner: the Runnable; its async side is not used.
    """

    def __init__(self, inner: Runnable[Any, Any]) -> None:
        super().__init__(inner.invoke, name=inner.get_name())
        self.inner = inner
        self.deps = [inner]  # where LangGraph looks for subgraphs

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run it in the calling thread."""
        return self.inner.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run it in a new thread."""
        return await in_own_thread(str(self.name), partial(self.inner.invoke, input, config, **kwargs))


def is_sync(function: Any) -> bool:
    """Say whether this is a plain function, or a Runnable made from one, without an async side."""
    if isinstance(function, Runnable):
        return isinstance(function, RunnableLambda) and not hasattr(function, "afunc")
    called = type(function).__call__ if callable(function) else None
    return called is not None and not (inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called))


def is_plain(function: Any) -> bool:
    """Say whether this can be called, which a Runnable cannot, and nothing of it has to be awaited."""
    return callable(function) and is_sync(function)
