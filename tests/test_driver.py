"""A generator of requests is driven the same from sync and async code, and errors are raised inside it."""

import asyncio

import pytest
from langgraph.errors import GraphInterrupt

from reasoningbank_langgraph.driver import adrive, drive


class Asking:
    """Answers with twice the number asked for, fails at 13, and keeps what it was asked."""

    def __init__(self, error=None):
        self.asked, self.error = [], error or ValueError("unlucky")

    def __call__(self, number):
        self.asked.append(number)
        if number == 13:
            raise self.error
        return 2 * number

    async def awaited(self, number):
        await asyncio.sleep(0)
        return self(number)


def synchronously(steps, asking):
    return drive(steps, asking)


def asynchronously(steps, asking):
    return asyncio.run(adrive(steps, asking.awaited))


BOTH = pytest.mark.parametrize("driven", [synchronously, asynchronously])


def adding(*numbers, end=lambda: None):
    try:
        total = 0
        for number in numbers:
            total += yield number
        return total
    finally:
        end()


@BOTH
def test_requests_are_answered_in_order_and_the_result_is_returned(driven):
    asking = Asking()
    assert driven(adding(1, 2, 3), asking) == 12
    assert asking.asked == [1, 2, 3]


@BOTH
def test_a_generator_may_return_without_asking_for_anything(driven):
    asking = Asking()
    assert (driven(adding(), asking), asking.asked) == (0, [])


@BOTH
def test_an_error_is_raised_where_the_generator_waits_and_may_be_handled_there(driven):
    def careful():
        first = yield 1
        try:
            second = yield 13
        except ValueError as error:
            second = yield len(str(error))
        return [first, second]

    asking = Asking()
    assert driven(careful(), asking) == [2, 14]
    assert asking.asked == [1, 13, 7]


@BOTH
def test_a_generator_may_end_with_a_result_when_a_request_fails(driven):
    def giving_up():
        try:
            yield 13
        except ValueError:
            return "nothing"

    assert driven(giving_up(), Asking()) == "nothing"


@BOTH
def test_an_error_that_is_not_handled_reaches_the_caller_as_it_is(driven):
    asking, ends = Asking(), []
    with pytest.raises(ValueError, match="unlucky") as error:
        driven(adding(1, 13, 2, end=lambda: ends.append("ended")), asking)
    assert error.value is asking.error
    assert (asking.asked, ends) == ([1, 13], ["ended"])


@BOTH
def test_an_error_of_the_generator_itself_reaches_the_caller(driven):
    def broken():
        yield 1
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        driven(broken(), Asking())


@BOTH
def test_an_interrupt_of_the_graph_passes_through_a_generator_that_handles_other_errors(driven):
    def careful():
        try:
            yield 13
        except ValueError:
            return "handled"

    asking, ended = Asking(GraphInterrupt()), careful()
    with pytest.raises(GraphInterrupt):
        driven(ended, asking)
    with pytest.raises(StopIteration):
        next(ended)


@BOTH
def test_an_answer_that_raises_stop_iteration_is_an_error_and_no_result(driven):
    with pytest.raises(RuntimeError, match="raised StopIteration"):
        driven(adding(13), Asking(StopIteration("no result")))


async def test_a_cancelled_call_closes_the_generator():
    reached, ends = asyncio.Event(), []

    async def hang(_):
        reached.set()
        await asyncio.Event().wait()

    steps = adding(1, 2, end=lambda: ends.append("ended"))
    task = asyncio.ensure_future(adrive(steps, hang))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ends == ["ended"]


def test_a_keyboard_interrupt_closes_the_generator():
    ends = []
    steps = adding(13, end=lambda: ends.append("ended"))
    with pytest.raises(KeyboardInterrupt):
        drive(steps, Asking(KeyboardInterrupt()))
    assert ends == ["ended"]
