"""A floor of similarity, and levels, hold for lessons on every way to them; the event says what the floor left out."""

import pytest
from langchain.agents import create_agent
from langgraph.graph import START, StateGraph

from reasoningbank_langgraph import (
    Guard,
    MemoryBank,
    ReasoningBankMiddleware,
    ReasoningBankState,
    Scaling,
    create_matts,
    create_reasoning_bank,
    create_recall_tool,
    create_retrieve,
)
from reasoningbank_langgraph.testing import ScriptedToolModel
from tests.agents.agent_fakes import call
from tests.bank.test_levels import ASKED, near_copies
from tests.loop_fakes import indexed_memory, learner

TASK = {"task": ASKED}
THREAD = {"configurable": {"thread_id": "t"}}


def solver(state):
    return {"answer": "4"}


def node(store, **settings):
    builder = StateGraph(ReasoningBankState).add_node("retrieve", create_retrieve(namespace="m", **settings))
    return builder.add_edge(START, "retrieve").compile(store=store), TASK


def loop(store, **settings):
    return create_reasoning_bank(solver, namespace="m", learn=False, **settings).compile(store=store), TASK


def gate(store, **settings):
    answers = iter("4567")
    scaling = Scaling(k=3, memory="on_disagreement", max_concurrency=1)
    graph = create_reasoning_bank(
        lambda state: {"answer": next(answers)}, namespace="m", learn=False, scaling=scaling, **settings
    )
    return graph.compile(store=store), TASK


def matts(store, **settings):
    return create_matts(solver, namespace="m", learn=False, k=2, **settings).compile(store=store), TASK


def middleware(store, **settings):
    memory = ReasoningBankMiddleware(namespace="m", learn=False, **settings)
    return create_agent(ScriptedToolModel(["4"]), middleware=[memory], store=store), {"messages": [("user", ASKED)]}


def tool(store, **settings):
    recall = create_recall_tool(namespace="m", **{"k": 1, **settings})
    model = ScriptedToolModel([call("recall_lessons", query=ASKED), "4"])
    return create_agent(model, [recall], store=store), {"messages": [("user", "Paint it.")]}


WAYS = pytest.mark.parametrize("way", [node, loop, gate, matts, middleware, tool], ids=lambda way: way.__name__)


async def retrieved(way, store, is_async=False, **settings):
    app, asked = way(store, **settings)
    asked = (asked, THREAD)
    if is_async:
        events = [event async for event in app.astream(*asked, stream_mode="custom")]
    else:
        events = list(app.stream(*asked, stream_mode="custom"))
    (event,) = [event for event in events if event["event"] == "retrieved"]
    return event


@WAYS
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
async def test_what_is_below_the_floor_is_not_shown_and_the_event_names_it(way, is_async):
    store = near_copies(indexed_memory()).store
    (near,) = MemoryBank(store, "m").search(ASKED)
    event = await retrieved(way, store, is_async, min_score=0.6)
    assert (event["count"], event["ids"]) == (0, [])
    assert (event["dropped"], event["dropped_scores"]) == (["near"], [near.score])
    event = await retrieved(way, store, is_async, min_score=0.3)
    assert (event["ids"], event["dropped"], event["dropped_scores"]) == (["near"], [], [])


@WAYS
async def test_without_a_floor_the_event_says_nothing_of_one(way):
    event = await retrieved(way, near_copies(indexed_memory()).store)
    assert event["ids"] == ["near"]
    assert not {"dropped", "dropped_scores"} & event.keys()


@WAYS
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
async def test_levels_bring_the_general_lesson_where_nothing_is_similar(way, is_async):
    event = await retrieved(way, near_copies(indexed_memory()).store, is_async, levels=True)
    assert event["ids"][0].startswith("g")


def test_a_guard_counts_no_task_for_which_the_floor_left_nothing():
    store = near_copies(indexed_memory()).store
    settings = {"model": learner(), "namespace": "m", "guard": Guard(share=0.999), "min_score": 0.6}
    app = create_reasoning_bank(solver, **settings).compile(store=store)
    events = list(app.stream(TASK, THREAD, stream_mode="custom"))
    assert next(event for event in events if event["event"] == "retrieved")["withheld"] is None
    assert MemoryBank(store, "m").guard() == MemoryBank(store, "empty").guard()


def test_levels_are_of_no_use_to_a_middleware_that_shows_nothing():
    with pytest.raises(ValueError, match="levels"):
        ReasoningBankMiddleware(model=learner(), use=False, levels=True)
