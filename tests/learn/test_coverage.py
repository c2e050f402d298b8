"""What a walk leaves out, and why; what it refuses."""

import itertools
import threading
from datetime import datetime

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Send, interrupt

from reasoningbank_langgraph import Verdict, alearn_from_threads, learn_from_threads
from reasoningbank_langgraph.errors import (
    InvalidMomentError,
    InvalidNamespaceLabelError,
    InvalidStoreError,
    JudgeError,
    ModelUnavailableError,
)
from tests.learn.past import EVER, NAMESPACE, Past, answering, ask, chat, config, teacher


@pytest.fixture
def past():
    return Past()


def test_a_run_that_waits_for_a_human_is_left_out_until_it_has_ended(past):
    def asking(state):
        return {"messages": [AIMessage(interrupt("which one?"))]}

    graph = chat(asking, checkpointer=past.saver)
    ask(graph, "one")
    for known in (graph, None):
        assert past.learn(known).reasons == {"interrupted": 1}
    graph.invoke(Command(resume="this one"), config())
    assert past.learn().learned == 1
    assert past.bank().episodes()[0].answer == "this one"


def test_a_run_that_broke_off_is_left_out_and_learned_when_it_has_gone_on(past):
    failing = [True]

    def flaky(state):
        if failing.pop() if failing else False:
            raise RuntimeError("no server")
        return answering(state)

    graph = chat(flaky, checkpointer=past.saver)
    with pytest.raises(RuntimeError, match="no server"):
        ask(graph, "one")
    for known in (graph, None):
        coverage = past.learn(known)
        assert (coverage.seen, coverage.reasons) == (1, {"unfinished": 1})
    assert coverage.skips[0].thread_id == "t1"
    graph.invoke(None, config())
    assert past.learn(graph).learned == 1


@pytest.mark.parametrize("known", [True, False])
def test_a_run_that_broke_off_where_branches_meet_or_were_sent_is_unfinished(past, known):
    def failing(_):
        raise RuntimeError("no server")

    def joined():
        builder = StateGraph(MessagesState)
        for name in ("left", "right"):
            builder.add_node(name, lambda _: {"messages": [AIMessage("half")]})
            builder.add_edge(START, name)
        builder.add_node("both", failing)
        builder.add_edge(["left", "right"], "both")
        return builder

    def sent():
        builder = StateGraph(MessagesState)
        builder.add_node("one", failing)
        builder.add_conditional_edges(START, lambda state: [Send("one", state)], ["one"])
        return builder

    for number, make in enumerate((joined, sent)):
        graph = make().compile(checkpointer=past.saver)
        with pytest.raises(RuntimeError, match="no server"):
            ask(graph, "one", thread=f"t{number}")
        assert past.learn(graph if known else None).reasons == {"unfinished": number + 1}


def test_a_run_that_broke_off_and_was_given_up_counts_once_as_a_turn_without_an_answer(past):
    def flaky(state):
        if state["messages"][-1].text == "one":
            raise RuntimeError("no server")
        return answering(state)

    graph = chat(flaky, checkpointer=past.saver)
    with pytest.raises(RuntimeError, match="no server"):
        ask(graph, "one")
    ask(graph, "two")
    coverage = past.learn()
    assert (coverage.seen, coverage.learned, coverage.reasons) == (2, 1, {"no_answer": 1})


def test_a_checkpoint_that_cannot_be_read_is_named_and_the_others_are_learned_from(past, tmp_path):
    graph = chat(checkpointer=past.saver)
    ask(graph, "one", thread="t1")
    ask(graph, "two", "three", thread="t2")
    first = sorted(past.saver.storage["t2"][""])[2]
    kind, _ = past.saver.storage["t2"][""][first][0]
    past.saver.storage["t2"][""][first] = ((kind, b"\xc1"), *past.saver.storage["t2"][""][first][1:])
    coverage = past.learn()
    assert coverage.reasons == {"unreadable": 1}
    assert coverage.skips[0][:2] == ("t2", first)
    assert coverage.skips[0].why
    assert past.tasks() == ["one", "two", "three"]


def test_an_outage_is_told_and_the_attempt_tried_again_next_time_without_since(past):
    graph = chat(checkpointer=past.saver)
    for number, task in enumerate(["one", "two", "three"]):
        ask(graph, task, thread=f"t{number}")
    past.model = teacher(fails=lambda question: ConnectionError("no server") if "answer to two" in question else None)
    coverage = past.learn()
    assert (coverage.learned, coverage.reasons) == (2, {"outage": 1})
    assert coverage.skips[0].thread_id == "t1"
    assert "no server" in coverage.skips[0].why
    past.model = teacher()
    coverage = past.learn()
    assert (coverage.learned, coverage.reasons) == (1, {"already_learned": 2})
    assert len(past.model.calls) == 2


def test_an_outage_while_distilling_writes_nothing(past):
    ask(chat(checkpointer=past.saver), "one")
    past.model = teacher(fails=lambda question: None if "You check whether" in question else TimeoutError("too slow"))
    assert past.learn().reasons == {"outage": 1}
    assert past.rows() == []


def test_a_verdict_that_decides_nothing_is_left_out_with_its_reason(past):
    ask(chat(checkpointer=past.saver), "one")
    coverage = past.learn(
        judge=lambda _: Verdict(status="indeterminate", reason="no_evidence", rationale="nobody knows")
    )
    assert coverage.reasons == {"indeterminate": 1}
    assert coverage.skips[0].why == "nobody knows"
    assert past.rows() == []


def test_a_secret_in_what_a_model_says_of_its_failure_is_not_kept(past):
    ask(chat(checkpointer=past.saver), "one")
    past.model = teacher(fails=lambda _: ConnectionError("https://ann:hunter2hunter2@example.org refused"))
    assert "hunter2" not in str(past.learn())


@pytest.mark.parametrize("at_once", [1, 4])
def test_threads_are_worked_on_side_by_side_and_reported_one_by_one(past, at_once):
    graph = chat(checkpointer=past.saver)
    for number in range(12):
        ask(graph, "What is 2 + 3?", "And now?", thread=f"t{number}", user=f"u{number % 3}")
    done = []
    coverage = past.learn(max_concurrency=at_once, progress=lambda *counts: done.append(counts))
    assert done == [(number, 12) for number in range(1, 13)]
    assert (coverage.threads, coverage.learned) == (12, 24)
    assert [len(past.tasks(f"u{user}")) for user in range(3)] == [8, 8, 8]


def test_what_makes_no_sense_is_refused_before_anything_is_asked(past):
    ask(chat(checkpointer=past.saver), "one")
    given = {"model": past.model, "checkpointer": past.saver, "store": past.store, "namespace": NAMESPACE}
    wrong = [
        ({"since": datetime(2026, 1, 1)}, InvalidMomentError),
        ({"since": "2026-01-01"}, InvalidMomentError),
        ({"max_concurrency": 0}, ValueError),
        ({"checkpointer": None}, TypeError),
        ({"store": {}}, InvalidStoreError),
        ({"namespace": "a.b"}, InvalidNamespaceLabelError),
        ({"model": "nobody:knows"}, ModelUnavailableError),
    ]
    for changed, error in wrong:
        with pytest.raises(error):
            learn_from_threads(None, **(given | changed))
    with pytest.raises(TypeError, match="graph must be"):
        learn_from_threads("module:graph", **given)
    assert past.model.calls == []
    assert past.rows() == []


def test_a_judge_that_is_none_ends_the_walk(past):
    ask(chat(checkpointer=past.saver), "one")
    with pytest.raises(JudgeError, match="must return a Verdict"):
        past.learn(judge=lambda _: "good")
    assert past.learn().learned == 1


async def test_the_async_form_calls_model_and_judge_in_the_callers_loop(past):
    import asyncio

    ask(chat(checkpointer=past.saver), "one", "two")
    loops = []

    async def judge(attempt):
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return attempt.answer == "the answer to one"

    given = {"model": past.model, "checkpointer": past.saver, "store": past.store, "namespace": NAMESPACE}
    coverage = await alearn_from_threads(None, judge=judge, **given)
    assert (coverage.learned, loops) == (2, [asyncio.get_running_loop()] * 2)
    assert [item.outcome for item in past.bank().items()] == ["success", "failure"]
    assert (await alearn_from_threads(None, since=EVER, **given)).learned == 0


def test_messages_of_any_form_are_read(past):
    from langgraph.graph import START, StateGraph
    from typing_extensions import TypedDict

    class Plain(TypedDict):
        messages: list

    builder = StateGraph(Plain)
    builder.add_node("a", lambda state: {"messages": [*state["messages"], {"role": "assistant", "content": "fine"}]})
    builder.add_edge(START, "a")
    graph = builder.compile(checkpointer=past.saver)
    graph.invoke({"messages": [{"role": "user", "content": "one"}]}, config("t1"))
    graph.invoke({"messages": [("user", "two")]}, config("t2"))
    graph.invoke({"messages": [HumanMessage([{"type": "text", "text": "three"}])]}, config("t3"))
    assert past.learn().learned == 3
    assert past.tasks() == ["one", "two", "three"]


def test_the_states_of_graphs_inside_the_graph_are_no_attempts_of_their_own(past):
    inner = chat().builder.compile(checkpointer=True)
    builder = StateGraph(MessagesState)
    builder.add_node("inner", inner)
    builder.add_edge(START, "inner")
    graph = builder.compile(checkpointer=past.saver)
    ask(graph, "one", "two")
    assert len({found.config["configurable"]["checkpoint_ns"] for found in past.saver.list(None)}) == 2
    coverage = past.learn()
    assert (coverage.threads, coverage.seen, coverage.learned) == (1, 2, 2)


def test_a_thread_of_which_only_the_last_checkpoint_is_left_gives_the_turns_that_are_in_it(past):
    ask(chat(checkpointer=past.saver), "one", "two", "three")
    kept = past.saver.storage["t1"][""]
    for name in sorted(kept)[:-1]:
        del kept[name]
    assert past.learn().learned == 3
    assert past.tasks() == ["one", "two", "three"]


def test_a_walk_goes_on_while_runs_write_to_the_same_checkpointer(past):
    graph, stopped = chat(checkpointer=past.saver), threading.Event()

    def write():
        for number in itertools.count():
            if stopped.is_set():
                return
            ask(graph, "a question", thread=f"t{number}")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        learned = sum(past.learn(max_concurrency=2).learned for _ in range(3))
    finally:
        stopped.set()
        writer.join()
    learned += past.learn().learned
    assert learned == len(past.saver.storage) == len(past.tasks())


async def test_a_walk_that_is_cancelled_asks_about_no_further_turn_of_the_thread_it_is_at(past):
    import asyncio

    given, asked, loop = [("user", "one"), ("ai", "1"), ("user", "two")], [], asyncio.get_running_loop()
    begun, ended = asyncio.Event(), asyncio.Event()
    chat(checkpointer=past.saver).invoke({"messages": given}, config())

    async def judge(attempt):
        asked.append(attempt.task)
        begun.set()
        await asyncio.sleep(0.01)
        return True

    settings = {"model": past.model, "checkpointer": past.saver, "store": past.store, "namespace": NAMESPACE}
    settings["progress"] = lambda done, threads: loop.call_soon_threadsafe(ended.set)
    walk = asyncio.create_task(alearn_from_threads(None, judge=judge, **settings))
    await begun.wait()
    walk.cancel()
    with pytest.raises(asyncio.CancelledError):
        await walk
    await ended.wait()
    assert (asked, past.tasks()) == (["one"], ["one"])
    assert past.learn().reasons == {"already_learned": 1}
