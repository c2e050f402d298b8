"""Slips of those who call a bank: named with the way out, never an answer that looks like a result."""

from uuid import uuid4

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import MemoryBank, RetrievedMemory, create_reasoning_bank
from reasoningbank_langgraph.errors import InvalidRecordError, InvalidStoreError, InvalidTaskError, UnknownBranchError
from tests.bank.test_bank import lesson
from tests.loop_fakes import indexed_memory, learner, solver


@pytest.mark.parametrize(
    "store", ["./bank", None, ("lessons",), InMemoryStore], ids=["path", "none", "namespace", "class"]
)
def test_what_is_no_store_is_refused_with_the_way_out(store):
    with pytest.raises(InvalidStoreError, match="from_path"):
        MemoryBank(store, "lessons")


@pytest.mark.parametrize(
    "wrap",
    [lambda item: [item.to_json()], lambda item: item.to_json(), lambda item: [RetrievedMemory(item=item, score=1.0)]],
)
async def test_what_is_no_item_is_refused_with_the_way_out(wrap):
    bank, given = MemoryBank(indexed_memory(), "lessons"), wrap(lesson("a", "add two apples"))
    with pytest.raises(InvalidRecordError, match=r"MemoryItem\(\*\*fields\)"):
        bank.add(given)
    with pytest.raises(InvalidRecordError, match="RetrievedMemory"):
        await bank.aadd(given)
    assert bank.items() == []


def test_one_item_is_a_list_of_one():
    bank, one = MemoryBank(indexed_memory(), "lessons"), lesson("a", "add two apples")
    assert bank.add(one).ids == [one.id]


@pytest.mark.parametrize("task", [None, {"task": "add two apples"}, 7])
def test_a_task_that_is_no_text_is_refused_in_a_search(task):
    with pytest.raises(InvalidTaskError, match="must be text"):
        MemoryBank(indexed_memory(), "lessons").search(task)


@pytest.mark.parametrize(
    "ask",
    [
        lambda bank, one: bank.get(one),
        lambda bank, one: bank.forget(one),
        lambda bank, one: bank.forget(experience_id=one),
        lambda bank, one: bank.set_status([one], "quarantined"),
        lambda bank, one: bank.set_status(one, "quarantined"),
    ],
)
def test_an_item_in_the_place_of_its_id_is_refused_and_not_passed_over(ask):
    bank, one = MemoryBank(indexed_memory(), "lessons"), lesson("a", "add two apples")
    bank.add([one])
    with pytest.raises(InvalidRecordError, match=r"item\.id"):
        ask(bank, one)
    assert bank.items() == [one]


@pytest.mark.parametrize(
    ("graph", "named"),
    [
        (None, "NoneType"),
        (create_reasoning_bank(solver, learn=False), "StateGraph"),
        (create_reasoning_bank(solver, learn=False).compile(), "CompiledStateGraph"),
    ],
    ids=["none", "uncompiled", "no checkpointer"],
)
async def test_a_graph_without_checkpoints_cannot_tell_branches_apart(graph, named):
    bank = MemoryBank(indexed_memory(), "lessons")
    told = f"'t'.* {named} has no checkpoints.* compile"
    with pytest.raises(UnknownBranchError, match=told):
        bank.reconcile("t", graph)
    with pytest.raises(UnknownBranchError, match=told):
        await bank.areconcile("t", graph)


@pytest.mark.parametrize("thread", [uuid4(), 7])
def test_a_thread_named_by_a_uuid_or_a_number_is_found_under_it(thread):
    store = indexed_memory()
    app = create_reasoning_bank(solver, model=learner()).compile(checkpointer=InMemorySaver(), store=store)
    app.invoke({"task": "add two apples"}, {"configurable": {"thread_id": thread}})
    bank = MemoryBank(store, "reasoningbank")
    assert bank.reconcile(thread, app) == []
    assert bank.search("add pears", thread_id=thread, written=[item.id for item in bank.items()])
    assert len(bank.forget(thread_id=thread)) == 2
    assert bank.items() == []
