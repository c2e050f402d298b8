"""A store that is out of reach costs the memory, never the answer, and what was learned is written later."""

import sqlite3

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import RetryPolicy

from reasoningbank_langgraph import MemoryBank, ReferenceJudge, Verdict, create_matts, create_reasoning_bank
from reasoningbank_langgraph.errors import StoreCorruptedError, StoreUnavailableError
from tests.loop_fakes import Switched, learner, solver

CONFIG = {"configurable": {"thread_id": "t", "user": "ann"}}


class OperationalError(Exception):
    """Named as PEP 249 asks database drivers to."""


def app(store, **options):
    builder = create_reasoning_bank(solver, model=learner(titles=("one",)), namespace=("m", "{user}"), **options)
    return builder.compile(checkpointer=InMemorySaver(), store=store)


def titles(store, user="ann"):
    return [item.task for item in MemoryBank(store.inner, ("m", user)).items()]


OUTAGES = pytest.mark.parametrize(
    "error",
    [
        StoreUnavailableError("no server"),
        ConnectionRefusedError("no server"),
        OperationalError("no server at postgresql://ann:s3cr3t@db"),
    ],
    ids=lambda error: type(error).__name__,
)


@OUTAGES
def test_the_answer_is_returned_and_the_lessons_wait(error):
    store = Switched()
    store.reads = store.writes = error
    graph = app(store)
    result = graph.invoke({"task": "add two apples"}, CONFIG)
    assert result["answer"] == "\\boxed{14}"
    assert result["memories"] == []
    assert "no server" in result["memory_error"]
    assert "s3cr3t" not in result["memory_error"]
    assert [attempt["namespace"] for attempt in result["unwritten"]] == [["m", "ann"]]
    assert not result.get("written")
    store.reads = store.writes = None
    result = graph.invoke({"task": "add three apples"}, CONFIG)
    assert titles(store) == ["add two apples", "add three apples"]
    assert len(result["written"]) == 2
    assert (result["unwritten"], result["memory_error"]) == ([], None)


def test_a_retry_policy_does_not_see_an_outage():
    store, seen = Switched(), []
    store.reads = store.writes = ConnectionRefusedError("no server")
    builder = create_reasoning_bank(solver, model=learner(titles=("one",)), namespace=("m", "{user}"))
    for name in ("retrieve", "judge", "extract", "consolidate"):
        builder.nodes[name].retry_policy = RetryPolicy(retry_on=lambda error: bool(seen.append(error)))
    result = builder.compile(checkpointer=InMemorySaver(), store=store).invoke({"task": "add two apples"}, CONFIG)
    assert "no server" in result["memory_error"]
    assert seen == []


async def test_it_is_the_same_asynchronously():
    store = Switched()
    store.reads = store.writes = StoreUnavailableError("no server")
    graph = app(store)
    result = await graph.ainvoke({"task": "add two apples"}, CONFIG)
    assert result["answer"] == "\\boxed{14}"
    assert "no server" in result["memory_error"]
    store.reads = store.writes = None
    await graph.ainvoke({"task": "add three apples"}, CONFIG)
    assert titles(store) == ["add two apples", "add three apples"]


def test_lessons_that_wait_go_to_the_bank_of_the_tenant_they_were_learned_for():
    store = Switched()
    store.writes = StoreUnavailableError("no server")
    graph = app(store)
    graph.invoke({"task": "add two apples"}, CONFIG)
    store.writes = None
    graph.invoke({"task": "add three apples"}, {"configurable": {"thread_id": "t", "user": "bob"}})
    assert titles(store, "ann") == ["add two apples"]
    assert titles(store, "bob") == ["add three apples"]


def test_several_attempts_wait_and_a_part_that_was_written_is_not_written_again():
    store = Switched()
    store.writes = StoreUnavailableError("no server")
    graph = app(store)
    for task in ("add two apples", "add three apples"):
        result = graph.invoke({"task": task}, CONFIG)
    assert len(result["unwritten"]) == 2
    store.writes = None
    graph.invoke({"task": "add four apples"}, CONFIG)
    assert titles(store) == ["add two apples", "add three apples", "add four apples"]


@pytest.mark.parametrize("asynchronously", [False, True])
async def test_of_what_waits_only_what_was_not_written_goes_on_waiting(asynchronously):
    store = Switched()

    def judge(attempt):
        return Verdict(status="indeterminate" if attempt.task == "vain" else "success", judge="tests")

    graph = app(store, judge=judge)

    async def run(task, *writes):
        left = iter(writes)
        store.writes = lambda: next(left)
        result = await graph.ainvoke({"task": task}, CONFIG) if asynchronously else graph.invoke({"task": task}, CONFIG)
        return [attempt["items"][0]["task"] for attempt in result["unwritten"]], len(result.get("written", ()))

    down = StoreUnavailableError("no server")
    assert await run("one", down) == (["one"], 0)
    assert await run("two", down) == (["one", "two"], 0)
    assert await run("vain", down) == (["one", "two"], 0)
    assert await run("three", None, down) == (["two", "three"], 1)
    assert await run("four", None, None, down) == (["four"], 3)
    store.writes = None
    events = list(graph.stream({"task": "five"}, CONFIG, stream_mode="custom"))
    assert events[-1]["count"] == len(events[-1]["ids"]) == 2
    assert titles(store) == ["one", "two", "three", "four", "five"]


@pytest.mark.parametrize(
    "error", [StoreCorruptedError("broken"), ValueError("wrong"), sqlite3.OperationalError("table")]
)
@pytest.mark.parametrize("where", ["reads", "writes"])
def test_what_is_no_outage_is_raised(where, error):
    store = Switched()
    setattr(store, where, error)
    with pytest.raises(type(error)):
        app(store).invoke({"task": "add two apples"}, CONFIG)


def test_the_steps_tell_listeners_of_the_outage():
    store = Switched()
    store.writes = StoreUnavailableError("no server")
    events = list(app(store).stream({"task": "add two apples"}, CONFIG, stream_mode="custom"))
    assert "no server" in events[-1]["error"]
    assert (events[-1]["event"], events[-1]["count"]) == ("consolidated", 0)


@pytest.mark.parametrize(("where", "node"), [("reads", "retrieve"), ("writes", "consolidate")])
def test_the_error_of_the_memory_says_which_step_did_without_it(where, node):
    store = Switched()
    errors = iter([StoreUnavailableError("no server")])
    setattr(store, where, lambda: next(errors, None))
    result = app(store).invoke({"task": "add two apples"}, CONFIG)
    assert result["memory_error"] == f"{node}: StoreUnavailableError: no server"


def test_several_attempts_at_once_keep_their_answer_too():
    store = Switched()
    store.reads = store.writes = StoreUnavailableError("no server")
    graph = create_matts(
        solver, model=learner(titles=("one",)), judge=ReferenceJudge(), k=3, namespace=("m", "{user}")
    ).compile(checkpointer=InMemorySaver(), store=store)
    result = graph.invoke({"task": "add two apples", "reference": "14"}, CONFIG)
    assert result["answer"] == "\\boxed{14}"
    assert "no server" in result["memory_error"]
    store.reads = store.writes = None
    graph.invoke({"task": "add three apples", "reference": "16"}, CONFIG)
    assert titles(store) == ["add two apples", "add three apples"]
