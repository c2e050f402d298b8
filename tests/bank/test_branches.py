"""Items of abandoned branches are found, and forgotten only when asked to."""

from itertools import count

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from reasoningbank_langgraph import MemoryBank, create_reasoning_bank
from reasoningbank_langgraph.errors import UnknownBranchError
from tests.bank.test_forgetting import STORES, lesson
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


async def test_a_branch_is_not_shown_what_another_learned_asynchronously_either():
    store = indexed_memory()
    state = forked(store).get_state(CONFIG).values
    asked = {"k": 9, "max_items": 9, "thread_id": "t", "written": state["written"], "attempt": state["attempt"]}
    found = await MemoryBank(store, "reasoningbank").asearch("add apples", **asked)
    assert {memory.item.task for memory in found} == {"add two apples", "add four apples"}


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
    with pytest.raises(UnknownBranchError, match=r"'t'.* no checkpoint"):
        bank.reconcile("t", stranger, forget=True)
    assert bank.totals().items == 3


def test_a_state_that_does_not_say_what_was_written_is_refused():
    builder = StateGraph(TypedDict("Other", {"x": int}))
    builder.add_node("n", lambda _: {"x": 1})
    builder.add_edge(START, "n")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"x": 0}, CONFIG)
    with pytest.raises(UnknownBranchError, match=r"'t'.* no channel 'written'"):
        MemoryBank(indexed_memory(), ("m",)).reconcile("t", graph)


class Elsewhere:
    """A graph that runs on a server: it tells of its checkpoints, and not where it keeps them."""

    def __init__(self, graph):
        self.get_state = graph.get_state


def test_a_graph_that_does_not_show_its_checkpointer_is_asked_for_its_checkpoints():
    store = indexed_memory()
    orphans = MemoryBank(store, "reasoningbank").reconcile("t", Elsewhere(forked(store)))
    assert [item.task for item in orphans] == ["add three apples"]


def talking(store):
    """Return a graph that was left in the middle of an attempt, where a run went on that learned of six."""
    builder = create_reasoning_bank(
        lambda state: {"answer": "5", "messages": [AIMessage("it is 5")]}, model=learner(titles=("one",))
    )
    graph = builder.compile(checkpointer=InMemorySaver(), store=store)
    graph.invoke({"task": "add two apples"}, CONFIG, interrupt_before=["judge"])
    middle = graph.get_state(CONFIG).config
    graph.invoke({"task": "add six apples"}, CONFIG)
    return graph, middle


def test_what_went_on_from_the_middle_of_an_attempt_is_an_orphan_once_the_thread_is_back_there():
    store = indexed_memory()
    graph, middle = talking(store)
    bank = MemoryBank(store, "reasoningbank")
    assert bank.reconcile("t", graph) == []
    graph.update_state(middle, {"answer": "5"}, as_node="solve")
    assert [item.task for item in bank.reconcile("t", graph, forget=True)] == ["add six apples"]
    assert bank.items() == []


def test_what_went_on_from_another_answer_or_conversation_is_left_alone():
    for changes in ({"answer": "6"}, {"messages": [AIMessage("it is 6")]}):
        store = indexed_memory()
        graph, middle = talking(store)
        graph.update_state(middle, changes, as_node="solve")
        bank = MemoryBank(store, "reasoningbank")
        assert bank.reconcile("t", graph) == []
        with pytest.raises(UnknownBranchError, match="may be of this branch or of another"):
            bank.reconcile("t", graph, forget=True)
        assert [item.task for item in bank.items()] == ["add six apples"]


def long_branches(store, length=20):
    """Return a graph whose thread learned of a number of tasks, went back to its first one and learned of another."""
    answers = count()
    builder = create_reasoning_bank(lambda _: {"answer": str(next(answers))}, model=learner(titles=("one",)))
    graph = builder.compile(checkpointer=InMemorySaver(), store=store)
    graph.invoke({"task": "task 0"}, CONFIG)
    fork = graph.get_state(CONFIG).config
    for number in range(1, length):
        graph.invoke({"task": f"task {number}"}, CONFIG)
    graph.invoke({"task": f"task {length}"}, fork)
    return graph


def test_lessons_that_may_not_be_shown_still_tell_on_which_branch_others_are_and_forgotten_ones_do_not():
    """A lesson bears the last sixteen attempts of its line: those between are told by the lessons between."""
    store = indexed_memory()
    graph, bank = long_branches(store), MemoryBank(store, "reasoningbank")
    first, *between, last, own = bank.items()
    asked = {"k": 9, "max_items": 9, "thread_id": "t", "written": graph.get_state(CONFIG).values["written"]}

    def shown():
        return {memory.item.id for memory in bank.search("a task", **asked)}

    bank.set_status([item.id for item in between], "superseded")
    assert shown() == {first.id, own.id}
    past = bank.as_of(graph.get_state(CONFIG))
    assert (past.get(first.id), past.get(last.id), past.get(own.id)) == (first, None, own)
    for item in between:
        bank.forget(item.id, cascade=False)
    assert shown() == {first.id, last.id, own.id}
    assert bank.reconcile("t", graph) == []
    with pytest.raises(UnknownBranchError, match=r"'t'.* 1 of its 3 items"):
        bank.reconcile("t", graph, forget=True)
    assert len(bank.items()) == 3


def test_a_search_of_the_same_attempt_is_answered_the_same_again_whatever_was_learned_since_it_began():
    bank = MemoryBank(indexed_memory(), ("m",))
    bank.add([lesson("a", task="add two apples", thread="t")])
    since = bank.store.get(("m",), "a").value["since"]
    for began, found in ((since - 1, []), (since, ["a"]), (since + 1, ["a"])):
        attempt = {"line": [["x", began, None]], "origin": "x", "after": ""}
        asked = {"thread_id": "t", "attempt": attempt}
        assert [memory.item.id for memory in bank.search("add pears", **asked)] == found
        assert [memory.item.id for memory in bank.search("add pears", **asked, written=["a"])] == ["a"]
        assert [memory.item.id for memory in bank.search("add pears", **{**asked, "thread_id": "u"})] == ["a"]
