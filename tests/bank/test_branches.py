"""Items of abandoned branches are found, and forgotten only when asked to."""

from itertools import count

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from reasoningbank_langgraph import MemoryBank, create_reasoning_bank
from reasoningbank_langgraph.errors import UnknownBranchError
from tests.bank.test_forgetting import STORES
from tests.loop_fakes import indexed_memory, learner, open_store

CONFIG = {"configurable": {"thread_id": "t"}}


def forked(store):
    """Return a graph whose thread learned of two, then of three, then went back and learned of four."""
    answers = count()
    builder = create_reasoning_bank(lambda _: {"answer": str(next(answers))}, model=learner(titles=("one",)))
    graph = builder.compile(checkpointer=InMemorySaver(), store=store)
    graph.invoke({"task": "add two apples"}, CONFIG)
    fork = graph.get_state(CONFIG).config
    graph.invoke({"task": "add three apples"}, CONFIG)
    graph.invoke({"task": "add four apples"}, fork)
    return graph


@STORES
def test_an_abandoned_branch_is_listed_and_on_request_forgotten(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        graph, bank = forked(store), MemoryBank(store, "reasoningbank")
        assert [item.task for item in bank.reconcile("t", graph)] == ["add three apples"]
        assert bank.totals().items == 3
        assert [item.task for item in bank.reconcile("t", graph, forget=True)] == ["add three apples"]
        assert [item.task for item in bank.items()] == ["add two apples", "add four apples"]
        assert bank.reconcile("t", graph) == []


async def test_reconciling_works_asynchronously():
    store = indexed_memory()
    graph, bank = forked(store), MemoryBank(store, "reasoningbank")
    assert [item.task for item in await bank.areconcile("t", graph)] == ["add three apples"]


def test_another_thread_sees_an_orphan_until_it_is_forgotten():
    store = indexed_memory()
    graph, bank = forked(store), MemoryBank(store, "reasoningbank")
    asked = {"k": 9, "max_items": 9, "thread_id": "other", "written": []}
    assert "add three apples" in [memory.item.task for memory in bank.search("add apples", **asked)]
    bank.reconcile("t", graph, forget=True)
    assert "add three apples" not in [memory.item.task for memory in bank.search("add apples", **asked)]


def test_lessons_on_their_way_into_the_bank_are_no_orphans():
    store = indexed_memory()
    builder = create_reasoning_bank(lambda _: {"answer": "5"}, model=learner())
    graph = builder.compile(checkpointer=InMemorySaver(), store=store, interrupt_before=["consolidate"])
    graph.invoke({"task": "add two apples"}, CONFIG)
    bank = MemoryBank(store, "reasoningbank")
    state = graph.get_state(CONFIG).values
    from reasoningbank_langgraph import MemoryItem

    bank.add([MemoryItem(**lesson) for lesson in state["lessons"]])  # as if killed between the write and the checkpoint
    assert bank.reconcile("t", graph, forget=True) == []
    assert bank.totals().items == 2


def test_a_thread_the_graph_does_not_know_is_refused_and_nothing_is_forgotten():
    store = indexed_memory()
    forked(store)
    stranger = create_reasoning_bank(lambda _: {}, model=learner()).compile(checkpointer=InMemorySaver(), store=store)
    bank = MemoryBank(store, "reasoningbank")
    with pytest.raises(UnknownBranchError, match="no checkpoint"):
        bank.reconcile("t", stranger, forget=True)
    assert bank.totals().items == 3


def test_a_state_that_does_not_say_what_was_written_is_refused():
    builder = StateGraph(TypedDict("Other", {"x": int}))
    builder.add_node("n", lambda _: {"x": 1})
    builder.add_edge(START, "n")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"x": 0}, CONFIG)
    with pytest.raises(UnknownBranchError, match="written"):
        MemoryBank(indexed_memory(), ("m",)).reconcile("t", graph)
