"""A thread of several runs: each has its own task, id and reference, and none is answered or learned from twice."""

import operator
from typing import Annotated

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from reasoningbank_langgraph import (
    MemoryBank,
    ReasoningBankState,
    ReferenceJudge,
    Verdict,
    create_consolidate,
    create_extract,
    create_judge,
    create_matts,
    create_reasoning_bank,
    create_retrieve,
)
from reasoningbank_langgraph.errors import InvalidTaskError, TooFewAttemptsError
from tests.loop_fakes import indexed_memory, learner

CONFIG = {"configurable": {"thread_id": "t"}}
NODES = ["retrieve", "solve", "judge", "extract", "consolidate"]
EXACT = ReferenceJudge(lambda reference, answer: reference == answer)


def solve(state):
    return {"answer": f"<{state['task']}>", "messages": [AIMessage(f"<{state['task']}>")]}


def own_graph(solver=solve, state=ReasoningBankState, judge=EXACT, **names):
    """A graph of the user's own, into which the nodes are dropped."""
    builder = StateGraph(state)
    builder.add_sequence(
        [
            ("retrieve", create_retrieve(**names)),
            ("solve", solver),
            ("judge", create_judge(judge=judge, **names)),
            ("extract", create_extract(learner(), **names)),
            ("consolidate", create_consolidate()),
        ]
    )
    return builder.add_edge(START, "retrieve")


def loop(solver=solve, judge=EXACT, **options):
    return create_reasoning_bank(solver, model=learner(), judge=judge, **options)


def several_attempts(solver=solve, judge=EXACT, **options):
    return create_matts(solver, model=learner(), judge=judge, k=2, **options)


def within(build):
    def parent(solver=solve, judge=EXACT):
        builder = StateGraph(ReasoningBankState)
        builder.add_node("loop", build(solver, judge=judge).compile())
        return builder.add_edge(START, "loop")

    return parent


BUILDS = {"loop": loop, "own graph": own_graph, "matts": several_attempts, "within": within(loop)}
GRAPHS = pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)


def compiled(builder, store=None, **options):
    return builder.compile(checkpointer=InMemorySaver(), store=store or indexed_memory(), **options)


def said(text):
    return {"messages": [HumanMessage(text)]}


@GRAPHS
def test_in_a_chat_the_newest_message_of_the_user_is_the_task(build):
    store = indexed_memory()
    app = compiled(build(), store)
    assert app.invoke({"task": "add two apples"}, CONFIG)["answer"] == "<add two apples>"
    for text in ("add two pears", "add two plums"):
        result = app.invoke(said(text), CONFIG)
        assert (result["task"], result["answer"], result["attempt"]["task"]) == (text, f"<{text}>", text)
    assert result["verdict"]["reason"] == "no_evidence"
    assert MemoryBank(store, "reasoningbank").items() == []


@GRAPHS
def test_a_chat_may_begin_with_a_message_alone(build):
    assert compiled(build()).invoke(said("add two apples"), CONFIG)["task"] == "add two apples"


@GRAPHS
@pytest.mark.parametrize("nothing", [{}, {"answer": "4"}, {"messages": []}, {"messages": [AIMessage("hm")]}])
def test_a_run_that_brings_nothing_new_is_refused_and_learns_nothing(build, nothing):
    store = indexed_memory()
    app = compiled(build(), store)
    app.invoke({"task": "add two apples", "reference": "<add two apples>", **said("add two apples")}, CONFIG)
    before = MemoryBank(store, "reasoningbank").items()
    assert before
    with pytest.raises(InvalidTaskError, match=r"'task'.*'messages'.*invoke\(None"):
        app.invoke(nothing, CONFIG)
    assert MemoryBank(store, "reasoningbank").items() == before


def test_where_the_task_is_the_conversation_a_run_without_a_new_message_is_refused():
    tasks = []

    def judge(attempt):
        tasks.append(attempt.task)
        return Verdict(status="success", judge="tests")

    app = compiled(own_graph(lambda state: {"messages": [AIMessage("4")]}, MessagesState, judge, task="messages"))
    app.invoke(said("add two apples"), CONFIG)
    with pytest.raises(InvalidTaskError):
        app.invoke({}, CONFIG)
    app.invoke(said("add two pears"), CONFIG)
    assert tasks == ["add two apples", "add two pears"]


class Replaced(TypedDict, total=False):
    messages: list


@pytest.mark.parametrize("answers", [True, False])
def test_where_each_run_brings_its_conversation_anew_its_question_is_the_task(answers):
    def reply(state):
        return {"messages": [*state["messages"], AIMessage("4")]} if answers else {"answer": "4"}

    app = compiled(own_graph(reply, Replaced, task="messages"))
    for text in ("add two apples", "add two pears", "add two plums"):
        app.invoke(said(text), CONFIG)
        assert app.get_state(CONFIG).values["attempt"]["task"] == text
    with pytest.raises(InvalidTaskError):
        app.invoke({}, CONFIG)


@GRAPHS
def test_a_task_that_is_given_counts_whatever_was_said_and_may_be_given_again(build):
    app = compiled(build())
    for _ in range(2):
        assert app.invoke({"task": "add two apples", **said("please")}, CONFIG)["task"] == "add two apples"


@GRAPHS
def test_reference_and_id_end_with_their_run(build):
    store = indexed_memory()
    app = compiled(build(), store)
    first = app.invoke({"task": "add two apples", "task_id": "p1", "reference": "<add two apples>"}, CONFIG)
    assert (first["verdict"]["status"], first["attempt"]["task_id"]) == ("success", "p1")
    second = app.invoke({"task": "add two pears"}, CONFIG)
    assert (second["verdict"]["reason"], second["attempt"]["reference"]) == ("no_evidence", None)
    assert second["attempt"]["task_id"] != "p1"
    assert {item.task_id for item in MemoryBank(store, "reasoningbank").items()} == {"p1"}


@pytest.mark.parametrize("build", [loop, own_graph, several_attempts])
def test_what_a_run_that_was_broken_off_left_is_not_the_next_ones(build):
    def failing(state):
        if "apples" in state["task"]:
            raise RuntimeError
        return solve(state)

    app = compiled(build(failing))
    with pytest.raises((RuntimeError, TooFewAttemptsError)):
        app.invoke({"task": "add two apples", "task_id": "p1", "reference": "<add two pears>"}, CONFIG)
    result = app.invoke(said("add two pears"), CONFIG)
    assert (result["answer"], result["verdict"]["reason"]) == ("<add two pears>", "no_evidence")
    assert result["attempt"]["task_id"] != "p1"


def test_a_refused_run_leaves_no_reference_behind():
    app = compiled(loop())
    with pytest.raises(InvalidTaskError):
        app.invoke({"task": "x" * 200_000, "reference": "<add two pears>"}, CONFIG)
    assert app.invoke({"task": "add two pears"}, CONFIG)["verdict"]["reason"] == "no_evidence"


@GRAPHS
@pytest.mark.parametrize("node", NODES)
def test_what_came_in_with_the_task_survives_a_pause_before_any_node(build, node):
    builder = build()
    inner = builder.nodes["loop"].runnable.builder if "loop" in builder.nodes else builder
    name = {"solve": "rollout"}.get(node, node) if "rollout" in inner.nodes else node
    if name not in inner.nodes:
        name = "select"
    if inner is not builder:
        builder.nodes["loop"].runnable.interrupt_before_nodes = [name]
        app = compiled(builder)
    else:
        app = compiled(builder, interrupt_before=[name])
    app.invoke({"task": "add two apples", "task_id": "p1", "reference": "<add two apples>"}, CONFIG)
    result = app.invoke(None, CONFIG)
    assert (result["verdict"]["status"], result["attempt"]["task_id"]) == ("success", "p1")
    assert result["task"] == "add two apples"
    assert result["written"]


@GRAPHS
def test_what_came_in_with_the_task_survives_a_question_to_the_user(build):
    app = compiled(build(lambda state: {"answer": interrupt(state["task"])}))
    asked = app.invoke({"task": "add two apples", "task_id": "p1", "reference": "4"}, CONFIG)["__interrupt__"]
    result = app.invoke(Command(resume={question.id: "4" for question in asked}), CONFIG)
    assert (result["verdict"]["status"], result["attempt"]["task_id"]) == ("success", "p1")


def test_a_loop_that_goes_round_within_a_run_keeps_its_task_and_reference():
    builder = own_graph()
    builder.add_node("again", lambda state: {})
    builder.add_edge("consolidate", "again")
    turns = []

    def more(state):
        turns.append(state["task"])
        return "retrieve" if len(turns) < 2 else "__end__"

    builder.add_conditional_edges("again", more, ["retrieve", "__end__"])
    result = compiled(builder).invoke({"task": "add two apples", "reference": "<add two apples>"}, CONFIG)
    assert turns == ["add two apples"] * 2
    assert result["verdict"]["status"] == "success"


def test_a_deferred_node_does_not_end_the_run():
    seen = []
    builder = StateGraph(ReasoningBankState)
    builder.add_node("retrieve", create_retrieve())
    builder.add_node("solve", solve)
    builder.add_node("join", lambda state: {}, defer=True)
    builder.add_node("last", lambda state: seen.append(state["task"]))
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "solve")
    builder.add_edge("retrieve", "join")
    builder.add_edge("solve", "join")
    builder.add_edge("join", "last")
    app = compiled(builder)
    for task in ("add two apples", "add two pears"):
        app.invoke({"task": task}, CONFIG)
    assert seen == ["add two apples", "add two pears"]


def test_a_task_in_a_channel_of_the_users_own_ends_with_its_run_too():
    class Own(TypedDict, total=False):
        question: str
        log: Annotated[list, operator.add]

    def work(state):
        return {"answer": state["question"].upper(), "log": ["done"]}

    app = compiled(loop(work, task="question", state_schema=Own))
    app.invoke({"question": "one"}, CONFIG)
    assert app.get_state(CONFIG).values["question"] == "one"
    with pytest.raises(InvalidTaskError):
        app.invoke({}, CONFIG)
    assert app.invoke(said("two"), CONFIG)["answer"] == "TWO"


def test_a_node_of_the_users_own_may_read_the_reference():
    builder = own_graph()
    seen = []
    builder.add_node("grade", lambda state: seen.append(state.get("reference")))
    builder.add_edge("consolidate", "grade")
    app = compiled(builder)
    app.invoke({"task": "add two apples", "reference": "4"}, CONFIG)
    app.invoke({"task": "add two pears"}, CONFIG)
    assert seen == ["4", None]
