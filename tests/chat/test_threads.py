"""Sync code awaited: each call has a thread of its own, however many there are and however long they take."""

import asyncio
import functools
import threading

import pytest
from langchain_core.runnables import RunnableLambda

from reasoningbank_langgraph import SelfConsistencyJudge
from reasoningbank_langgraph.chat.threads import OwnThread, begin_call, is_plain, is_sync
from reasoningbank_langgraph.judges.base import as_judge
from reasoningbank_langgraph.records import Attempt, Verdict
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.matts_fakes import CONFIG, TASK, judged_by, matts, solving

MORE_THAN_A_POOL_HAS = 40


async def twice(number):
    return 2 * number


class Async:
    async def __call__(self, number):
        return 2 * number


class Sync:
    def __call__(self, number):
        return 2 * number


@pytest.mark.parametrize(
    ("function", "sync"),
    [
        (lambda number: 2 * number, True),
        (Sync(), True),
        (functools.partial(max, 1), True),
        (RunnableLambda(lambda number: 2 * number), True),
        (twice, False),
        (Async(), False),
        (functools.partial(twice, 1), False),
        (RunnableLambda(twice), False),
        (RunnableLambda(lambda number: 2 * number, afunc=twice), False),
        (RunnableLambda(lambda number: number) | RunnableLambda(twice), False),
        (7, False),
    ],
)
def test_a_plain_function_is_told_from_what_has_an_async_side(function, sync):
    assert is_sync(function) is sync
    assert is_plain(function) is (sync and not isinstance(function, RunnableLambda))


async def test_calls_that_wait_for_one_another_all_run_at_once():
    together = threading.Barrier(MORE_THAN_A_POOL_HAS)

    def wait(number):
        together.wait(60)
        return number

    runnable = OwnThread(RunnableLambda(wait))
    assert await asyncio.gather(*map(runnable.ainvoke, range(MORE_THAN_A_POOL_HAS))) == list(
        range(MORE_THAN_A_POOL_HAS)
    )
    assert OwnThread(RunnableLambda(Sync())).invoke(4) == 8


async def test_sync_judges_run_at_once_and_keep_their_names():
    together = threading.Barrier(MORE_THAN_A_POOL_HAS)

    def check(attempt):
        together.wait(60)
        return Verdict(status="success", judge="tests", confidence=1.0)

    judge = as_judge(check)
    verdicts = await asyncio.gather(
        *(judge.ainvoke(Attempt(task=str(n), answer="4")) for n in range(MORE_THAN_A_POOL_HAS))
    )
    assert {verdict.status for verdict in verdicts} == {"success"}
    assert judge.get_name() == "check"


async def test_an_error_is_raised_where_the_call_is_awaited_and_a_cancelled_wait_leaves_the_call():
    def fail(_):
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        await OwnThread(RunnableLambda(fail)).ainvoke(1)
    go, done = threading.Event(), threading.Event()

    def late():
        go.wait(60)
        done.set()

    waiting = asyncio.ensure_future(asyncio.wrap_future(begin_call("test", late)))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go.set()
    assert await asyncio.to_thread(done.wait, 60)


class OffTheLoop:
    """Stands for the comparison of two answers, and remembers which threads compare."""

    def __init__(self):
        self.threads = set()

    def __call__(self, one, other):
        self.threads.add(threading.current_thread())
        return one == other


@pytest.mark.parametrize("select", ["majority", "model", lambda attempts: 0], ids=["majority", "model", "function"])
async def test_a_selection_compares_answers_without_holding_up_the_loop(select, monkeypatch):
    compare = OffTheLoop()
    monkeypatch.setattr("reasoningbank_langgraph.matts.votes.same_answer", compare)
    app = matts(solving("1", "2", "3"), judge=judged_by("1", "2", "3"), k=3, select=select, learn=False)
    await app.ainvoke(TASK, CONFIG)
    assert compare.threads
    assert threading.current_thread() not in compare.threads


async def test_new_solutions_are_compared_without_holding_up_the_loop(monkeypatch):
    compare = OffTheLoop()
    monkeypatch.setattr("reasoningbank_langgraph.judges.consistency.same_answer", compare)
    judge = SelfConsistencyJudge(ScriptedChatModel(lambda _: "so \\boxed{4}"), 3)
    assert (await judge.ainvoke(Attempt(task="2 + 2", answer="4"))).status == "success"
    assert compare.threads
    assert threading.current_thread() not in compare.threads
