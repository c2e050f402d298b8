"""One driver for everything that is written as a generator of requests: model dialogues and operations of a bank.

Such a generator decides what to ask next and what to make of the replies, and does no I/O itself. So each is written
once for sync and async callers, and tested without a model or a store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import closing
from typing import TypeVar

Request = TypeVar("Request")
Reply = TypeVar("Reply")
Result = TypeVar("Result")


def drive(steps: Generator[Request, Reply, Result], answer: Callable[[Request], Reply]) -> Result:
    """Answer the requests of a generator until it returns, and return its result.

    An error of `answer` is raised inside the generator, where it waits for the reply. The generator may handle it, ask
    for something else, or let it pass to the caller. If the call is cancelled, the generator is closed.

    Args:
        steps: yields requests, if any, and is sent their replies.
        answer: does the I/O: takes a request and returns the reply.
    """
    with closing(steps):
        try:
            request = next(steps)
            while True:
                try:
                    reply = answer(request)
                except Exception as error:  # noqa: BLE001 - the generator decides what becomes of it
                    request = steps.throw(error)
                else:
                    request = steps.send(reply)
        except StopIteration as stop:
            result: Result = stop.value
            return result


async def adrive(steps: Generator[Request, Reply, Result], answer: Callable[[Request], Awaitable[Reply]]) -> Result:
    """Async form of `drive`."""
    with closing(steps):
        try:
            request = next(steps)
            while True:
                try:
                    reply = await answer(request)
                except Exception as error:  # noqa: BLE001 - as above
                    request = steps.throw(error)
                else:
                    request = steps.send(reply)
        except StopIteration as stop:
            result: Result = stop.value
            return result
