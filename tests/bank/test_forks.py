"""Branches of a thread stay apart, however they came about."""

import asyncio
from datetime import timedelta
from typing import Annotated

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from reasoningbank_langgraph import ReasoningBankState, Verdict, create_reasoning_bank
from reasoningbank_langgraph.bank import searching
from reasoningbank_langgraph.errors import UnknownBranchError
from reasoningbank_langgraph.state import add_ids, attempts
from tests.bank.thread_runs import CONFIG, MODEL, Looking, bank, loop, matts, run, tasks
from tests.loop_fakes import indexed_memory


@pytest.mark.parametrize("build", [loop, matts])
@pytest.mark.parametrize("length", [1, 3, pytest.param(25, marks=pytest.mark.slow)])
def test_branches_of_any_length_stay_apart_and_an_orphan_is_known(build, length):
    solver, store = Looking(), indexed_memory()
    app = build(solver).compile(checkpointer=InMemorySaver(), store=store)
    run(app, "trunk")
    fork = app.get_state(CONFIG).config
    run(app, *(f"a{number}" for number in range(length)))
    one = app.get_state(CONFIG).config
    run(app, "b0", config=fork)
    run(app, *(f"b{number}" for number in range(1, length)), "b")
    assert solver.seen["task b"] == tasks("trunk", *(f"b{number}" for number in range(length)))
    assert {item.task for item in bank(store).reconcile("t", app)} == tasks(*(f"a{number}" for number in range(length)))
    run(app, "a", config=one)
    assert solver.seen["task a"] == tasks("trunk", *(f"a{number}" for number in range(length)))
    gone = bank(store).reconcile("t", app, forget=True)
    assert {item.task for item in gone} == tasks("b", *(f"b{number}" for number in range(length)))


def test_a_fork_from_a_run_that_taught_nothing_and_one_from_the_middle_of_a_run_are_branches():
    def judge(attempt):
        return Verdict(status="indeterminate" if "vain" in attempt.task else "success", judge="tests")

    solver, store = Looking(), indexed_memory()
    app = loop(solver, judge=judge).compile(checkpointer=InMemorySaver(), store=store)
    run(app, "trunk", "vain")
    vain = app.get_state(CONFIG).config
    run(app, "a")
    middle = next(state.config for state in app.get_state_history(CONFIG) if state.next == ("judge",))
    run(app, "b", config=middle)
    assert solver.seen["task b"] == tasks("trunk")
    run(app, "c")
    assert solver.seen["task c"] == tasks("trunk", "b")
    run(app, "d", config=vain)
    assert solver.seen["task d"] == tasks("trunk")


def test_a_fork_by_update_state_and_one_within_an_attempt_are_branches():
    solver, store = Looking(), indexed_memory()
    app = loop(solver).compile(checkpointer=InMemorySaver(), store=store)
    run(app, "trunk")
    trunk = app.get_state(CONFIG).config
    run(app, "a")
    past = next(state.config for state in app.get_state_history(CONFIG) if state.next == ("judge",))
    app.invoke(None, app.update_state(past, {"answer": "changed"}, as_node="solve"))
    run(app, "after the change")
    assert len({item.provenance.attempt_digest for item in bank(store).items()}) == 4
    shown = app.get_state(CONFIG).values["memories"]
    known = set(app.get_state(CONFIG).values["written"])
    assert {memory["item"]["id"] for memory in shown} <= known
    app.update_state(trunk, {"messages": []}, as_node="consolidate")
    run(app, "after the update")
    assert solver.seen["task after the update"] == tasks("trunk")


class Parent(TypedDict, total=False):
    task: str
    written: Annotated[list[str], add_ids]


@pytest.mark.parametrize("state", [ReasoningBankState, Parent])
def test_branches_of_a_graph_that_holds_the_loop_stay_apart(state):
    solver, store = Looking(), indexed_memory()
    builder = StateGraph(state).add_node("loop", loop(solver).compile()).add_edge(START, "loop")
    app = builder.compile(checkpointer=InMemorySaver(), store=store)
    run(app, "trunk")
    fork = app.get_state(CONFIG).config
    run(app, "a0", "a1")
    one = app.get_state(CONFIG).config
    run(app, "b0", config=fork)
    run(app, "b1", "b")
    assert solver.seen["task b"] == tasks("trunk", "b0", "b1")
    run(app, "a", config=one)
    assert solver.seen["task a"] == tasks("trunk", "a0", "a1")


def test_to_forget_orphans_is_refused_where_some_lessons_may_be_none():
    solver, store, saver = Looking(), indexed_memory(), InMemorySaver()
    app = loop(solver).compile(checkpointer=saver, store=store)
    run(app, "lost")
    saver.delete_thread("t")
    run(app, "trunk")
    fork = app.get_state(CONFIG).config
    run(app, "a")
    run(app, "b", config=fork)
    assert [item.task for item in bank(store).reconcile("t", app)] == ["task a"]
    lost = bank(store).items()[0].id
    with pytest.raises(UnknownBranchError, match=rf"1 of its 4 items, '{lost}'.*nothing was removed.*forget\(id\)"):
        bank(store).reconcile("t", app, forget=True)
    with pytest.raises(UnknownBranchError):
        asyncio.run(bank(store).areconcile("t", app, forget=True))
    assert len(bank(store).items()) == 4
    bank(store).forget(lost, cascade=False)
    assert [item.task for item in bank(store).reconcile("t", app, forget=True)] == ["task a"]


def test_a_lesson_that_was_forgotten_on_the_way_hides_nothing_else():
    solver, store = Looking(), indexed_memory()
    app = loop(solver).compile(checkpointer=InMemorySaver(), store=store)
    run(app, *range(6))
    bank(store).forget(bank(store).items()[3].id, cascade=False)
    run(app, "late")
    assert solver.seen["task late"] == tasks(0, 1, 2, 4, 5)


def test_a_clock_that_goes_back_hides_nothing_of_ones_own_branch(monkeypatch):
    solver, store = Looking(), indexed_memory()
    app = loop(solver).compile(checkpointer=InMemorySaver(), store=store)
    run(app, 0, 1)
    utc_now = attempts.utc_now
    monkeypatch.setattr(attempts, "utc_now", lambda: utc_now() - timedelta(hours=1))
    run(app, 2, 3)
    assert solver.seen["task 3"] == tasks(0, 1, 2)


def test_the_bank_at_a_checkpoint_shows_what_is_unknown_and_not_what_is_of_another_branch():
    solver, store, saver = Looking(), indexed_memory(), InMemorySaver()
    app = loop(solver).compile(checkpointer=saver, store=store)
    run(app, "lost")
    saver.delete_thread("t")
    run(app, "trunk")
    fork = app.get_state(CONFIG).config
    run(app, "a")
    one = app.get_state(CONFIG)
    run(app, "b", config=fork)
    two = app.get_state(CONFIG)
    assert {item.task for item in bank(store).as_of(one).items()} == tasks("lost", "trunk", "a")
    then = bank(store).as_of(two)
    assert {item.task for item in then.items()} == tasks("lost", "trunk", "b")
    assert {memory.item.task for memory in then.search("task x", k=9, max_items=9)} == tasks("lost", "trunk", "b")
    hidden = next(item.id for item in bank(store).items() if item.task == "task a")
    assert (then.get(hidden), then.get(then.items()[0].id)) == (None, then.items()[0])


def test_an_exported_bank_still_tells_branches_apart(tmp_path):
    solver, store, saver = Looking(), indexed_memory(), InMemorySaver()
    app = loop(solver).compile(checkpointer=saver, store=store)
    run(app, "trunk")
    fork = app.get_state(CONFIG).config
    run(app, "a")
    bank(store).export_jsonl(tmp_path / "lessons.jsonl")
    other = InMemoryStore()
    bank(other).import_jsonl(tmp_path / "lessons.jsonl")
    run(loop(solver).compile(checkpointer=saver, store=other), "b", config=fork)
    assert solver.seen["task b"] == tasks("trunk")


def test_a_search_of_ones_own_hides_what_is_known_to_be_of_another_branch():
    solver, store = Looking(), indexed_memory()
    app = loop(solver).compile(checkpointer=InMemorySaver(), store=store)
    run(app, "trunk")
    fork = app.get_state(CONFIG).config
    run(app, "a")
    run(app, "b", config=fork)
    state = app.get_state(CONFIG).values
    asked = {"k": 9, "max_items": 9, "thread_id": "t", "written": state["written"]}
    for more in ({}, {"attempt": state["attempt"]}):
        found = bank(store).search("task x", **asked, **more)
        assert {memory.item.task for memory in found} == tasks("trunk", "b")


def test_lessons_of_another_branch_crowd_out_none_of_ones_own_however_close(monkeypatch):
    monkeypatch.setattr(searching, "PAGE", 5)
    solver, store = Looking(), indexed_memory()
    app = create_reasoning_bank(solver, model=MODEL).compile(checkpointer=InMemorySaver(), store=store)
    app.invoke({"task": "cold winter"}, CONFIG)
    fork = app.get_state(CONFIG).config
    for number in range(16):
        app.invoke({"task": f"red green blue {number}"}, CONFIG)
    app.invoke({"task": "red green blue"}, fork)
    assert solver.seen["red green blue"] == {"cold winter"}


def test_ones_own_lessons_are_ranked_and_found_on_every_page_however_many_others_lie_between(monkeypatch):
    monkeypatch.setattr(searching, "PAGE", 5)
    store = indexed_memory()
    app = create_reasoning_bank(Looking(), model=MODEL).compile(checkpointer=InMemorySaver(), store=store)
    for task in ("red green blue", "cold winter"):
        app.invoke({"task": task}, CONFIG)
    fork = app.get_state(CONFIG).config
    for number in range(16):
        app.invoke({"task": f"red green {number}"}, CONFIG)
    app.invoke({"task": "old stones"}, fork)
    state = app.get_state(CONFIG).values
    asked = {"max_items": 9, "thread_id": "t", "written": state["written"], "attempt": state["attempt"]}
    found = [bank(store).search("red green blue yellow", k=k, **asked) for k in (1, 2)]
    assert {memory.item.task for memory in found[0]} == {"red green blue"}
    assert len({memory.item.task for memory in found[1]} & {"red green blue", "cold winter", "old stones"}) == 2
    assert found[1][0].item.task == "red green blue"


def test_one_id_that_was_written_is_one_id():
    solver, store = Looking(), indexed_memory()
    app = loop(solver).compile(checkpointer=InMemorySaver(), store=store)
    run(app, "trunk")
    fork = app.get_state(CONFIG).config
    run(app, "a")
    run(app, "b", config=fork)
    own = app.get_state(CONFIG).values["written"][-1]
    asked = {"k": 9, "max_items": 9, "thread_id": "t"}
    found = [{memory.item.task for memory in bank(store).search("x", **asked, written=one)} for one in (own, [own])]
    assert found[0] == found[1]
    assert "task b" in found[0]
    assert "task a" not in found[0]
