"""Tasks, labels, namespaces and stores that the loop refuses, and those that it takes."""

import pytest
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import MemoryBank, create_reasoning_bank, create_retrieve
from reasoningbank_langgraph.errors import (
    InvalidNamespaceLabelError,
    InvalidTaskError,
    MissingNamespaceLabelError,
    MissingStoreError,
)
from reasoningbank_langgraph.namespaces import Filled, bank_of
from tests.loop.test_loop import app, config
from tests.loop_fakes import indexed_memory, learner, solver


@pytest.mark.parametrize("task", ["", "   \n", "\u200b", None, 7, "x" * 1_000_000])
def test_a_task_that_cannot_be_worked_on_is_refused_and_the_bank_stays_as_it_was(task):
    store = indexed_memory()
    graph = app(store)
    graph.invoke({"task": "add two apples"}, config("a"))
    before = MemoryBank(store, ("math", "u1")).items()
    with pytest.raises(InvalidTaskError):
        graph.invoke({"task": task}, config("b"))
    assert MemoryBank(store, ("math", "u1")).items() == before


def test_a_missing_label_raises_and_names_what_is_there():
    with pytest.raises(MissingNamespaceLabelError, match=r"'user_id'.*thread_id"):
        app(indexed_memory()).invoke({"task": "add"}, {"configurable": {"thread_id": "t"}})


@pytest.mark.parametrize("user", ["a.b", "", "nul\x00", 1.5, True, "u1~episodes"])
def test_a_label_that_stores_refuse_is_refused_by_name(user):
    with pytest.raises(InvalidNamespaceLabelError):
        app(indexed_memory()).invoke({"task": "add"}, config(user=user))


@pytest.mark.parametrize("namespace", [(), ("langgraph",), ("a", ""), ("a.b",), ("a", 1), ("a", "b~episodes")])
def test_a_namespace_that_stores_refuse_is_refused_when_the_graph_is_built(namespace):
    with pytest.raises(InvalidNamespaceLabelError):
        create_retrieve(namespace=namespace)


def test_numbers_are_fine_as_labels():
    store = indexed_memory()
    app(store).invoke({"task": "add"}, config(user=7))
    assert MemoryBank(store, ("math", "7")).totals().items == 2


def test_a_graph_without_a_store_says_how_to_give_it_one():
    graph = create_reasoning_bank(solver, model=learner()).compile()
    with pytest.raises(MissingStoreError, match=r"compile\(store="):
        graph.invoke({"task": "add"})


def test_a_store_without_an_index_returns_the_newest_and_says_so():
    store = InMemoryStore()
    graph = app(store)
    graph.invoke({"task": "add two apples"}, config("a"))
    result = graph.invoke({"task": "count the pears"}, config("b"))
    assert len(result["memories"]) == 2
    assert {memory["score"] for memory in result["memories"]} == {None}
    assert "no index" in result["memories"][0]["why"]


@pytest.mark.parametrize(
    "label", ["{user-id}", "{user id}", "{ user_id }", "{}", "{user_id!r}", "{user_id", "user_id}", "x{a}{b"]
)
def test_a_brace_that_is_no_placeholder_is_refused_and_no_shared_bank(label):
    with pytest.raises(InvalidNamespaceLabelError, match="not part of a placeholder"):
        create_reasoning_bank(solver, model=learner(), namespace=("math", label))


@pytest.mark.parametrize("user", ["{other}", "{", "a b}", "{}"])
def test_braces_in_a_value_are_text(user):
    store = indexed_memory()
    app(store).invoke({"task": "add two apples"}, config(user=user))
    assert set(map(bank_of, store.list_namespaces())) == {("math", user)}
    assert MemoryBank(store, Filled(("math", user))).totals().experiences == 1
