"""A guard in the loop: some tasks go without memory, outcomes are counted once, harm switches memory off."""

import json
import logging
from concurrent.futures import ThreadPoolExecutor

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import Guard, MemoryBank, Verdict, create_matts, create_reasoning_bank
from reasoningbank_langgraph.errors import StoreUnavailableError
from reasoningbank_langgraph.namespaces import GUARD, beside
from reasoningbank_langgraph.policies import GuardStatus, Pairs
from tests.loop_fakes import Switched, indexed_memory, learner, open_store

pytestmark = pytest.mark.slow
BANK = ("math",)
QUICK = Guard(share=0.5, alpha=0.2)
"""Decides after four pairs that all speak for one side."""


def hindered(state):
    return {"answer": "wrong" if state["memory_prompt"] else "right"}


def helped(state):
    return {"answer": "right" if state["memory_prompt"] else "wrong"}


def disagreeing(state, config):
    return {"answer": "wrong" if state["memory_prompt"] else f"right {config['configurable']['rollout']}"}


def app(store, solver=hindered, guard=QUICK, judge=lambda attempt: attempt.answer == "right", **options):
    options.setdefault("namespace", BANK)
    built = create_reasoning_bank(solver, model=learner(), judge=judge, guard=guard, **options)
    return built.compile(checkpointer=InMemorySaver(), store=store)


def task(number):
    return f"add {number} apples and {number} pears"


def thread(name):
    return {"configurable": {"thread_id": str(name)}}


def solve(graph, numbers, start=0):
    """Solve tasks, each in a thread of its own; return the events of all."""
    found = []
    for number in numbers:
        stream = graph.stream({"task": task(number)}, thread(number + start), stream_mode="custom")
        found += [event for event in stream if event["event"] in ("retrieved", "guard")]
    return found


def status(store, model=""):
    return MemoryBank(store, BANK).guard(model)


@pytest.mark.parametrize("kind", ["memory", "chroma"])
def test_memory_that_hurts_is_switched_off_with_an_event_and_a_warning(kind, tmp_path, caplog):
    with open_store(kind, tmp_path / "bank") as store, caplog.at_level(logging.WARNING):
        events = solve(app(store), range(24))
        switches = [event for event in events if event["event"] == "guard"]
        assert [(one["state"], one["fixed"], one["broken"], one["ties"]) for one in switches] == [("off", 0, 4, 0)]
        assert (switches[0]["count"], switches[0]["model"], switches[0]["namespace"]) == (4, "", ["math"])
        known = status(store)
        assert (known.state, known.decided_by, known.changes) == ("off", Pairs(broken=4), 1)
        assert "the guard switched memory off for bank math (pairs of tasks: 4, fixed by memory: 0, broken: 4)" in (
            caplog.messages
        )
        last = events[-8:]
        assert {event["withheld"] for event in last} <= {"guard_off", None}
        assert sum(event["withheld"] == "guard_off" for event in last) >= 5


def test_held_out_tasks_find_lessons_and_show_none():
    store = indexed_memory()
    graph = app(store)
    solve(graph, range(1))
    seen = [graph.invoke({"task": task(number)}, thread(number)) for number in range(1, 7)]
    held_out = [state for state in seen if state["trial"]["withheld"]]
    shown = [state for state in seen if not state["trial"]["withheld"]]
    assert held_out
    assert shown
    assert all(state["memory_prompt"] == "" and state["memories"] == [] for state in held_out)
    assert all(state["memory_prompt"] and state["memories"] for state in shown)
    assert {state["trial"]["withheld"] for state in held_out} == {"held_out"}
    assert len(MemoryBank(store, BANK).items()) == 2 * 7


def test_a_held_out_task_is_counted_by_the_event_as_none():
    events = solve(app(indexed_memory()), range(8))
    held_out = [event for event in events if event["withheld"]]
    assert held_out
    assert all((event["count"], event["ids"], event["scores"]) == (0, [], []) for event in held_out)


def test_memory_that_helps_is_switched_on_and_still_compared():
    store = indexed_memory()
    switches = [event for event in solve(app(store, helped), range(24)) if event["event"] == "guard"]
    assert [(event["state"], event["fixed"]) for event in switches] == [("on", 4)]
    assert status(store).tests >= 1
    assert status(store).held_out >= 6


def test_memory_comes_back_where_it_begins_to_help():
    store, guard = indexed_memory(), Guard(share=0.9, alpha=0.2)
    solve(app(store, guard=guard), range(70))
    assert status(store).state == "off"
    events = solve(app(store, helped, guard), range(100, 180))
    assert [event["state"] for event in events if event["event"] == "guard"] == ["on"]
    assert status(store).changes == 2


def test_a_task_that_was_solved_both_ways_gives_credit_to_its_lessons():
    store = indexed_memory()
    graph = app(store, helped)
    solve(graph, range(24))
    assert status(store).tests >= 1
    assert not any(item.utility.used for item in MemoryBank(store, BANK).items())
    solve(graph, range(24), start=100)
    known = [item.utility for item in MemoryBank(store, BANK).items()]
    assert sum(one.helped for one in known) >= 2
    assert sum(one.hurt for one in known) == 0


def test_tasks_without_a_lesson_to_show_are_not_counted():
    store = indexed_memory()
    first = app(store).invoke({"task": task(0)}, thread(0))
    assert first["trial"] is None
    assert status(store) == GuardStatus()
    assert solve(app(store), [1])[0]["withheld"] in ("held_out", None)
    assert status(store).shown + status(store).held_out == 1


def test_an_attempt_that_cannot_be_judged_is_not_counted():
    store = indexed_memory()
    solve(app(store), range(2))
    before = status(store)
    unsure = Verdict(status="indeterminate", reason="no_evidence")
    solve(app(store, judge=lambda _: unsure), range(2, 6))
    assert status(store) == before


def test_a_task_counts_once_in_a_test_however_often_it_comes():
    store = indexed_memory()
    graph = app(store)
    solve(graph, range(4))
    before = status(store)
    for start in (100, 200, 300):
        solve(graph, [2, 3], start)
    assert status(store) == before


def test_a_run_that_is_tried_again_is_counted_once():
    store = indexed_memory()
    graph = app(store)
    solve(graph, range(3))
    before, history = status(store), list(graph.get_state_history(thread(2)))
    for snapshot in history:
        if snapshot.next:
            graph.invoke(None, snapshot.config)
    assert status(store) == before


def test_the_same_task_is_drawn_alike_in_every_thread():
    store = indexed_memory()
    graph = app(store)
    solve(graph, range(1))
    drawn = [graph.invoke({"task": task(5)}, thread(f"again {number}"))["trial"] for number in range(4)]
    assert all(trial["withheld"] == drawn[0]["withheld"] for trial in drawn)


async def test_async_runs_count_too():
    store = indexed_memory()
    graph = app(store)
    for number in range(24):
        await graph.ainvoke({"task": task(number)}, thread(number))
    assert (await MemoryBank(store, BANK).aguard()).state == "off"


def test_each_bank_and_each_model_has_a_guard_of_its_own():
    store = indexed_memory()
    solve(app(store), range(24))
    assert status(store).state == "off"
    assert status(store, "a larger model") == GuardStatus(model="a larger model")
    assert MemoryBank(store, ("physics",)).guard() == GuardStatus()
    solve(app(store, helped, Guard(share=0.5, alpha=0.2, model="a larger model")), range(100, 124))
    assert status(store, "a larger model").state == "on"
    assert status(store).state == "off"


def test_the_guard_adds_no_write_of_its_own():
    writes = {}
    for guard in (None, QUICK):
        store, seen = Switched(), []
        store.writes = lambda seen=seen: seen.append("a write")
        solve(app(store, guard=guard), range(4))
        writes[guard] = len(seen)
    assert writes[QUICK] == writes[None] == 4
    assert status(store).shown + status(store).held_out == 3


def test_runs_side_by_side_lose_no_count():
    store = indexed_memory()
    solve(app(store), range(1))
    graph = app(store, guard=Guard(share=0.5, alpha=1e-9))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: graph.invoke({"task": task(number)}, thread(number)), range(1, 41)))
    known = status(store)
    assert known.shown + known.held_out == 40


def test_a_count_waits_with_its_lessons_where_the_store_is_out_of_reach():
    store = Switched()
    graph = app(store)
    solve(graph, range(2))
    before = status(store)
    store.writes = lambda: StoreUnavailableError("down")
    state = graph.invoke({"task": task(2)}, thread("late"))
    assert state["unwritten"][0]["trial"]["right"] in (True, False)
    store.writes = None
    assert status(store) == before
    graph.invoke({"task": task(3)}, thread("late"))
    assert status(store).shown + status(store).held_out == before.shown + before.held_out + 2


def test_counts_wait_where_nothing_else_is_left_to_write():
    store = Switched()
    solve(app(store), range(1))
    options = {"judge": lambda attempt: True, "guard": QUICK, "namespace": BANK, "episodes": False}
    built = create_reasoning_bank(hindered, model=learner(titles=()), **options)
    graph = built.compile(checkpointer=InMemorySaver(), store=store)
    store.writes = StoreUnavailableError("down")
    waiting = [len(graph.invoke({"task": task(number)}, thread("late"))["unwritten"]) for number in (1, 2)]
    assert (waiting, status(store)) == ([1, 2], GuardStatus())
    store.writes = None
    assert graph.invoke({"task": task(3)}, thread("late"))["unwritten"] == []
    assert status(store).shown + status(store).held_out == 3


def test_a_bank_that_is_emptied_forgets_what_its_guard_knew():
    store = indexed_memory()
    solve(app(store), range(24))
    MemoryBank(store, BANK).forget_all()
    assert status(store) == GuardStatus()
    assert store.search(beside(BANK, GUARD)) == []


def test_what_the_guard_knows_holds_no_text_of_a_task():
    store = indexed_memory()
    solve(app(store), range(4))
    rows = [item.value for item in store.search(beside(BANK, GUARD), limit=100)]
    assert len(rows) == 4
    assert "apples" not in json.dumps(rows)


def test_a_group_of_rollouts_is_one_task():
    store = indexed_memory()
    built = create_matts(
        hindered, model=learner(), judge=lambda attempt: attempt.answer == "right", k=2, namespace=BANK, guard=QUICK
    )
    graph = built.compile(checkpointer=InMemorySaver(), store=store)
    solve(graph, range(24))
    assert (status(store).state, status(store).decided_by) == ("off", Pairs(broken=4))


@pytest.mark.parametrize("memory", ["half", "on_disagreement"])
def test_of_a_group_that_is_held_out_no_rollout_sees_the_memory(memory):
    options = {"model": learner(), "judge": lambda attempt: attempt.answer != "wrong", "guard": QUICK}
    built = create_matts(disagreeing, k=4, memory=memory, namespace=BANK, **options)
    store = indexed_memory()
    graph = built.compile(store=store)
    seen = [graph.invoke({"task": task(number)}) for number in range(12)]
    drawn = [state for state in seen if state["trial"]]
    shown = {bool(state["trial"]["withheld"]): any(r["shown"] for r in state["rollouts"]) for state in drawn}
    assert shown == {True: False, False: True}
    assert not any(state["trial"]["ids"] for state in drawn)  # the one that counts may not have seen them
    assert status(store).shown + status(store).held_out == len(drawn)


def test_a_guard_has_nothing_to_compare_where_no_rollout_sees_the_memory():
    with pytest.raises(ValueError, match="memory='none' shows none"):
        create_matts(hindered, model=learner(), namespace=BANK, memory="none", guard=QUICK)


def test_what_is_no_guard_is_refused():
    with pytest.raises(TypeError, match=r"guard must be a Guard, for example Guard\(share=0.2\), got float"):
        create_reasoning_bank(hindered, model=learner(), guard=0.2)


@pytest.mark.parametrize("create", [create_reasoning_bank, create_matts])
def test_a_guard_needs_a_judge(create):
    with pytest.raises(ValueError, match="with learn=False nothing is judged"):
        create(hindered, model=learner(), guard=QUICK, learn=False)
