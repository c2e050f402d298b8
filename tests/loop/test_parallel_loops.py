"""Whole loops as nodes of one graph: side by side, fanned out and in sequence, none loses what another one leaves."""

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Send

from reasoningbank_langgraph import MemoryBank, ReasoningBankState, create_matts, create_reasoning_bank
from reasoningbank_langgraph.errors import StoreUnavailableError
from reasoningbank_langgraph.state import LoopState
from tests.loop_fakes import Switched, indexed_memory, learner, solver

CONFIG = {"configurable": {"thread_id": "t"}}
TASKS = ["one", "two two", "three three"]


class Parent(ReasoningBankState, total=False):
    tasks: list[str]


class LoopParent(LoopState, total=False):
    tasks: list[str]


def a_loop(**options):
    return create_reasoning_bank(solver, model=learner(titles=("one",)), **options).compile()


def a_matts_graph(**options):
    return create_matts(solver, model=learner(titles=("one",)), k=2, **options).compile()


def fanned_out(loop, state=Parent):
    builder = StateGraph(state)
    builder.add_node("loop", loop)
    builder.add_conditional_edges(START, lambda s: [Send("loop", {"task": task}) for task in s["tasks"]], ["loop"])
    return builder


def bank(store, namespace="reasoningbank"):
    return MemoryBank(store, namespace)


@pytest.mark.parametrize("loop", [a_loop, a_matts_graph], ids=["loop", "matts"])
@pytest.mark.parametrize("state", [Parent, LoopParent])
def test_loops_that_are_sent_their_tasks_leave_all_they_wrote(loop, state):
    store = indexed_memory()
    app = fanned_out(loop(), state).compile(checkpointer=InMemorySaver(), store=store)
    result = app.invoke({"tasks": TASKS}, CONFIG)
    items = bank(store).items()
    assert {item.task for item in items} == set(TASKS)
    assert set(result["written"]) == {item.id for item in items}
    assert result["attempt"]["task"] == TASKS[-1]
    again = asyncio.run(app.ainvoke({"tasks": ["four", "five five"]}, CONFIG))
    assert set(again["written"]) == {item.id for item in bank(store).items()}
    assert len(again["written"]) == 5


def test_loops_in_branches_side_by_side_have_their_own_channels():
    store = indexed_memory()
    seen = {}

    def solving(name):
        def solve(state):
            seen[name] = state["task"]
            return {"answer": name}

        return solve

    builder = StateGraph(Parent)
    for name in ("a", "b"):
        loop = create_reasoning_bank(solving(name), model=learner(), namespace=("m", name))
        builder.add_node(name, loop.compile())
        builder.add_edge(START, name)
    result = builder.compile(store=store).invoke({"task": "add two apples"})
    assert seen == dict.fromkeys("ab", "add two apples")
    written = {item.id for name in "ab" for item in bank(store, ("m", name)).items()}
    assert set(result["written"]) == written
    assert len(written) == 4


def test_loops_in_sequence_solve_the_same_task_and_the_second_sees_the_bank_of_the_first():
    store = indexed_memory()
    builder = StateGraph(Parent)
    builder.add_sequence([("first", a_loop(namespace="a")), ("second", a_loop(namespace="b"))])
    app = builder.add_edge(START, "first").compile(checkpointer=InMemorySaver(), store=store)
    for task in ("add two apples", "add two pears"):
        result = app.invoke({"task": task}, CONFIG)
    assert [item.task for item in bank(store, "a").items()] == [item.task for item in bank(store, "b").items()]
    assert len(result["written"]) == 4
    assert result["task"] == "add two pears"


def test_what_waits_for_the_bank_is_kept_by_loops_that_do_not_know_of_it():
    store = Switched()
    app = fanned_out(a_loop()).compile(checkpointer=InMemorySaver(), store=store)
    store.writes = StoreUnavailableError("down")
    result = app.invoke({"tasks": TASKS}, CONFIG)
    assert [entry["items"][0]["task"] for entry in result["unwritten"]] == TASKS
    result = app.invoke({"tasks": ["four"]}, CONFIG)
    assert [entry["items"][0]["task"] for entry in result["unwritten"]] == [*TASKS, "four"]
    store.writes = None
    result = app.invoke({"tasks": ["five"]}, CONFIG)
    assert len(result["unwritten"]) == 4
    direct = StateGraph(Parent).add_node("loop", a_loop()).add_edge(START, "loop")
    flushed = direct.compile(checkpointer=app.checkpointer, store=store).invoke({"task": "six"}, CONFIG)
    assert flushed["unwritten"] == []
    assert {item.task for item in bank(store).items()} == {*TASKS, "four", "five", "six"}
    assert set(flushed["written"]) == {item.id for item in bank(store).items()}


def test_branches_side_by_side_write_what_waited_once():
    store = Switched()
    saver = InMemorySaver()
    single = StateGraph(Parent).add_node("loop", a_loop()).add_edge(START, "loop")
    store.writes = StoreUnavailableError("down")
    single.compile(checkpointer=saver, store=store).invoke({"task": "one"}, CONFIG)
    both = StateGraph(Parent)
    for name in "ab":
        both.add_node(name, a_loop())
        both.add_edge(START, name)
    app = both.compile(checkpointer=saver, store=store)
    tasks = {entry["items"][0]["task"] for entry in app.invoke({"task": "two two"}, CONFIG)["unwritten"]}
    assert tasks == {"one", "two two"}
    store.writes = None
    assert app.invoke({"task": "three three"}, CONFIG)["unwritten"] == []
    assert {item.task for item in bank(store).items()} == {"one", "two two", "three three"}
