"""Rollouts that fail, ask or die: the run goes on, the bank has one experience, and nothing is done twice."""

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt
from typing_extensions import TypedDict

from reasoningbank_langgraph import create_matts
from reasoningbank_langgraph.errors import TooFewAttemptsError
from tests.killed import found_by
from tests.loop_fakes import indexed_memory, learner
from tests.matts_fakes import CONFIG, TASK, bank, fails_once, judged_by, matts, solving

BOOM = ValueError("boom")


def errors(result):
    return [rollout["error"] and rollout["error"]["type"] for rollout in result["rollouts"]]


@pytest.mark.parametrize(
    ("k", "answers", "failed"),
    [
        (2, (BOOM, "4"), 1),
        (5, ("4", BOOM, "4", "4", "4"), 1),
        (5, (BOOM, BOOM, "4", BOOM, BOOM), 4),
        (16, (BOOM, "4"), 8),
    ],
)
def test_rollouts_that_fail_are_recorded_and_the_others_go_on(k, answers, failed):
    store = indexed_memory()
    result = matts(solving(*answers), store, k=k).invoke(TASK, CONFIG)
    assert errors(result).count("ValueError") == failed == result["selection"]["rollouts"]["failed"]
    assert {rollout["error"]["message"] for rollout in result["rollouts"] if rollout["error"]} == {"boom"}
    assert result["answer"] == "4"
    assert bank(store).totals().experiences == 1


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError("mute")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MuteError(), "could not be read: RuntimeError"),
        (ValueError("401: key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"), "401: key [api key removed]"),
        (ExceptionGroup("several", [ValueError("one"), KeyError("two")]), "ValueError: one; KeyError: 'two'"),
    ],
)
def test_errors_of_every_kind_are_recorded_with_what_they_say(error, said):
    result = matts(solving("4", error), k=2).invoke(TASK, CONFIG)
    assert said in result["rollouts"][1]["error"]["message"]


def test_a_conversation_that_cannot_be_read_fails_its_rollout_and_not_the_run():
    def solve(state, config: RunnableConfig):
        return {"answer": "4", "note": ["", object()][config["configurable"]["rollout"]]}

    graph = matts(
        solve, k=2, learn=False, saver=False, messages=lambda state: [state.get("note", "")], state_schema=Noted
    )
    assert errors(graph.invoke(TASK)) == [None, "InvalidRecordError"]


class Noted(TypedDict, total=False):
    task: str
    answer: str
    note: object


@pytest.mark.parametrize(("k", "min_attempts"), [(1, 1), (2, 1), (5, 1), (16, 1), (3, 3)])
def test_below_min_attempts_one_error_tells_all_causes_and_nothing_is_written(k, min_attempts):
    store = indexed_memory()
    answers = (BOOM,) if min_attempts == 1 else ("4", BOOM, KeyError("gone"))
    with pytest.raises(TooFewAttemptsError, match=r"min_attempts.*boom") as caught:
        matts(solving(*answers), store, k=k, min_attempts=min_attempts).invoke(TASK, CONFIG)
    assert len(caught.value.failures) == (k if min_attempts == 1 else 2)
    assert bank(store).items() == []


def test_after_too_many_failures_the_task_can_be_given_again_in_the_same_thread():
    store, saver = indexed_memory(), InMemorySaver()
    with pytest.raises(TooFewAttemptsError):
        matts(solving(BOOM), store, saver, k=2).invoke(TASK, CONFIG)
    result = matts(solving("4"), store, saver, k=2).invoke(TASK, CONFIG)
    assert errors(result) == [None, None]
    assert bank(store).totals().experiences == 1


def test_what_cannot_succeed_any_more_is_not_tried():
    solve = solving(BOOM)
    with pytest.raises(TooFewAttemptsError):
        matts(solve, k=6, min_attempts=5, max_concurrency=1).invoke(TASK, CONFIG)
    assert sum(solve.inner.calls.values()) == 2


def test_a_judge_that_fails_leaves_a_rollout_without_a_verdict():
    def judge(attempt):
        raise ConnectionError("down")

    store = indexed_memory()
    result = matts(solving("4"), store, k=3, judge=judge).invoke(TASK, CONFIG)
    assert {rollout["verdict"]["reason"] for rollout in result["rollouts"]} == {"error"}
    assert (result["answer"], bank(store).items()) == ("4", [])


def asking_function(state, config: RunnableConfig):
    number = config["configurable"]["rollout"]
    return {"answer": interrupt(f"how many, {number}?") if number in (1, 2) else "4"}


class Inner(TypedDict, total=False):
    task: str
    answer: str


def asking_graph():
    inner = StateGraph(Inner)
    inner.add_node("look", lambda state: {"answer": "?"})
    inner.add_node("ask", asking_function)
    inner.add_edge(START, "look")
    inner.add_edge("look", "ask")
    return inner.compile()


@pytest.mark.parametrize("limit", [60.0, None])
@pytest.mark.parametrize("solver", [asking_function, asking_graph()], ids=["function", "graph"])
def test_an_interrupt_inside_rollouts_reaches_the_user_and_the_others_are_not_repeated(solver, limit):
    store = indexed_memory()
    graph = matts(solver, store, k=4, rollout_time_limit=limit)
    asked = graph.invoke(TASK, CONFIG)["__interrupt__"]
    assert sorted(one.value for one in asked) == ["how many, 1?", "how many, 2?"]
    assert bank(store).items() == []
    events = list(
        graph.stream(Command(resume={one.id: f"for {one.value}" for one in asked}), CONFIG, stream_mode="custom")
    )
    assert sorted(event["number"] for event in events if event["event"] == "rollout") == [1, 2]
    result = graph.get_state(CONFIG).values
    answers = [rollout["answer"] for rollout in result["rollouts"]]
    assert answers == ["4", "for how many, 1?", "for how many, 2?", "4"]
    assert {item.id for item in bank(store).items()} == set(result["written"])
    assert bank(store).totals().experiences == 1


async def test_an_interrupt_passes_through_in_async_code():
    graph = matts(asking_function, k=4)
    asked = (await graph.ainvoke(TASK, CONFIG))["__interrupt__"]
    result = await graph.ainvoke(Command(resume={one.id: "4" for one in asked}), CONFIG)
    assert result["selection"]["votes"] == [{"answer": "4", "rollouts": [0, 1, 2, 3]}]


@pytest.mark.parametrize("failing", ["gather", "select", "extract", "consolidate"])
def test_an_exception_after_the_rollouts_and_a_second_invoke_repeat_no_rollout(failing):
    store, solve = indexed_memory(), solving("4", "5", "4")
    builder = create_matts(solve, model=learner(), k=3)
    fails_once(builder, failing)
    graph = builder.compile(checkpointer=InMemorySaver(), store=store)
    with pytest.raises(RuntimeError, match="power cut"):
        graph.invoke(TASK, CONFIG)
    before = [item.id for item in bank(store).items()]
    result = graph.invoke(None, CONFIG)
    ids = [item.id for item in bank(store).items()]
    assert sorted(ids) == sorted(result["written"])
    assert before == (ids if failing == "consolidate" else [])
    assert set(solve.inner.calls.values()) == {1}


def test_a_rollout_node_that_is_retried_is_recorded_once():
    store, builder = indexed_memory(), create_matts(solving("4"), model=learner(), k=3)
    builder.nodes["consolidate"].retry_policy = RetryPolicy(initial_interval=0.001, max_attempts=3)
    node, tries = builder.nodes["consolidate"].runnable, []
    inner = node._step

    def flaky(state, context):
        tries.append(inner(state, context)["written"])
        if len(tries) < 3:
            raise ConnectionError("after the write")
        return {"written": tries[-1]}

    node._step = flaky
    builder.compile(checkpointer=InMemorySaver(), store=store).invoke(TASK, CONFIG)
    assert tries[0] == tries[1] == tries[2] == [item.id for item in bank(store).items()]


@pytest.mark.parametrize("step", ["retrieve", "rollout", "gather", "select", "extract", "consolidate"])
def test_a_replay_from_any_old_checkpoint_adds_nothing(step):
    store = indexed_memory()
    graph = matts(solving("4", "5", "4"), store, k=3, model=learner(repeats=True))
    first = graph.invoke(TASK, CONFIG)
    before = bank(store).items()
    past = next(state for state in graph.get_state_history(CONFIG) if step in state.next)
    again = graph.invoke(None, past.config)
    assert bank(store).items() == before
    assert again["written"] == first["written"]
    assert len(again["rollouts"]) == 3


@pytest.mark.slow
def test_a_run_killed_anywhere_goes_on_without_repeating_what_is_done(tmp_path):
    found = found_by("matts_crash_child", tmp_path, timeout=300)
    assert list(found) == ["solve", "retrieve", "judge", "extract", "before write", "after write"]
    for where, one in found.items():
        assert one["killed"], where
        assert (one["experiences"], one["answer"]) == (1, ["4", 1]), where
        assert len(one["after"]) == 3, where
        assert one["after"] == one["written"], where
        assert one["before"] == (one["after"] if where == "after write" else []), where
        assert sorted(one["calls"]) == ["solve 0", "solve 1", "solve 2"], where


def test_a_verdict_is_not_lost_to_a_failing_solver_of_another_rollout():
    store = indexed_memory()
    result = matts(solving("4", BOOM), store, k=2, judge=judged_by("4")).invoke(TASK, CONFIG)
    assert (result["verdict"]["status"], result["selection"]["by"]) == ("success", "only")
    assert [item.outcome for item in bank(store).items()] == ["success", "success"]
