"""Rollouts of a half that was drawn beforehand say what the lessons did; those that were chosen by outcome do not."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import MemoryItem
from reasoningbank_langgraph.records import Utility
from tests.loop_fakes import Switched, indexed_memory, learner
from tests.matts_fakes import CONFIG, bank, matts

LESSON = "look for what is asked"


def filled(store):
    lesson = {"title": LESSON, "description": "d", "content": "c", "outcome": "success"}
    bank(store).add([MemoryItem(**lesson, id="lesson", task="add three apples", experience_id="e")])
    return store


def helped(state):
    return {"answer": "4" if state["memory_prompt"] else "5"}


def hindered(state):
    return {"answer": "5" if state["memory_prompt"] else "4"}


def utility(store):
    return bank(store).get("lesson").utility


def thread(name):
    return {"configurable": {"thread_id": name}}


def grouped(store, solver, *numbers, k=4, memory="half", **options):
    graph = matts(solver, store, k=k, memory=memory, max_items=1, **options)
    for number in numbers:
        graph.invoke({"task": f"add two apples and {number}", "reference": "4"}, thread(str(number)))
    return graph


@pytest.mark.parametrize(("solver", "expected"), [(helped, (2, 2, 0, 0)), (hindered, (2, 0, 2, 0))])
def test_each_half_is_compared_with_the_other(solver, expected):
    store = filled(indexed_memory())
    grouped(store, solver, 1)
    assert utility(store) == Utility(**dict(zip(("used", "helped", "hurt", "ties"), expected, strict=True)))


def test_tries_that_were_made_because_others_disagreed_are_no_evidence():
    store = filled(indexed_memory())
    graph = grouped(store, helped, 1, k=5, memory="on_disagreement")
    assert "credit" not in graph.get_state(thread("1")).values or not graph.get_state(thread("1")).values["credit"]
    assert utility(store) == Utility()


def test_with_all_rollouts_shown_the_lesson_there_is_nothing_to_compare():
    store = filled(indexed_memory())
    grouped(store, helped, 1, memory="all")
    assert utility(store) == Utility()


def test_a_run_that_goes_on_from_its_checkpoints_counts_once():
    store = filled(indexed_memory())
    graph = grouped(store, helped, 1)
    for snapshot in list(graph.get_state_history(thread("1"))):
        if snapshot.next in (("consolidate",), ("extract",)):
            graph.invoke(None, snapshot.config)
    assert utility(store).helped == 2


def test_a_lesson_that_hurts_is_quarantined_and_the_event_says_so(caplog):
    store = filled(indexed_memory())
    no_lessons = learner(titles=())
    grouped(store, hindered, 1, 2, 3, model=no_lessons)
    graph = matts(hindered, store, k=4, memory="half", max_items=1, model=no_lessons)
    task = {"task": "add two apples and 4", "reference": "4"}
    events = list(graph.stream(task, thread("4"), stream_mode="custom"))
    assert events[-1]["quarantined"] == ["lesson"]
    assert "lessons that do harm were quarantined: lesson" in caplog.messages
    assert bank(store).get("lesson").status == "quarantined"


def test_credit_waits_with_its_lessons_where_the_store_is_out_of_reach():
    store = Switched()
    filled(store.inner)
    graph = matts(helped, store, k=4, memory="half", max_items=1)
    store.writes = ConnectionError("down")
    graph.invoke({"task": "add two apples", "reference": "4"}, CONFIG)
    assert utility(store) == Utility()
    store.writes = None
    graph.invoke({"task": "how long is the river", "reference": "4"}, CONFIG)
    assert utility(store).helped >= 2


def test_a_branch_does_not_know_what_another_one_found_out():
    store = filled(indexed_memory())
    graph = matts(helped, store, k=4, memory="half", experiences=9, max_items=9, saver=InMemorySaver())
    for number in (0, 1):
        graph.invoke({"task": f"add {number} and two apples", "reference": "4"}, CONFIG)
    first_done = next(
        snapshot
        for snapshot in graph.get_state_history(CONFIG)
        if not snapshot.next and snapshot.values["task"].startswith("add 0")
    )
    task = {"task": "add 3 and two apples", "reference": "4"}
    on_the_fork = graph.invoke(task, first_done.config)
    whys = [memory["why"] for memory in on_the_fork["memories"] if memory["item"]["id"] == "lesson"]
    assert "of 2 pairs of attempts" in whys[0]  # those of the first task; the second one is on the other branch
    assert utility(store).helped > 2


def test_a_model_that_writes_no_lesson_still_gives_credit():
    store = filled(indexed_memory())
    grouped(store, helped, 1, model=learner(titles=()))
    assert utility(store).helped == 2


def test_credit_is_written_with_the_lessons_of_the_group():
    writes = {}
    for memory in ("all", "half"):
        store, seen = Switched(), []
        filled(store.inner)
        store.writes = lambda seen=seen: seen.append("a write")
        grouped(store, helped, 1, 2, memory=memory)
        writes[memory] = len(seen)
    assert writes["half"] == writes["all"] == 2
    assert utility(store).helped >= 2
