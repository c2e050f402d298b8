"""Graphs take a policy for the lessons they write, on every branch, after an outage and in both ways of calling."""

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import MemoryBank, create_matts, create_reasoning_bank
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import Switched, indexed_memory, learner, lessons, solver, verdict


def run(policy, tasks, store=None):
    """Solve tasks in threads of their own; nothing is shown, so each leaves the same two lessons."""
    store = store or indexed_memory()
    graph = create_reasoning_bank(solver, model=learner(repeats=True), namespace="m", policy=policy, min_score=1)
    app, bank, events = graph.compile(checkpointer=InMemorySaver(), store=store), MemoryBank(store, "m"), []
    for number, task in enumerate(tasks):
        config = {"configurable": {"thread_id": f"t{number}"}}
        events += [
            one for one in app.stream({"task": task}, config, stream_mode="custom") if one["event"] == "consolidated"
        ]
    return app, bank, events


def test_the_loop_takes_a_policy_and_tells_what_it_did():
    app, bank, events = run("skip", ["one", "two"])
    assert [(event["count"], event.get("effects")) for event in events] == [(2, None), (0, {"skipped": 2})]
    assert len(bank.items()) == 2
    assert app.get_state({"configurable": {"thread_id": "t1"}}).values["written"] == []
    assert len(run("append", ["one", "two"])[1].items()) == 4
    with pytest.raises(ValueError, match="copies must be"):
        run("merge", [])


def test_matts_takes_a_policy():
    store = indexed_memory()
    for task in ("one", "two"):
        graph = create_matts(solver, model=learner(repeats=True), namespace="m", k=2, policy="skip", min_score=1)
        graph.compile(store=store).invoke({"task": task})
    assert len(MemoryBank(store, "m").items()) == 2


def test_a_lesson_of_another_branch_takes_no_place_of_one_of_this():
    def reply(messages):
        judging = "You check whether" in messages[0].text
        return verdict() if judging else lessons("begin" if "first" in messages[1].text else "go on")

    store, config = indexed_memory(), {"configurable": {"thread_id": "t"}}
    graph = create_reasoning_bank(
        solver, model=ScriptedChatModel(reply), namespace="m", policy="skip", min_score=1
    ).compile(checkpointer=InMemorySaver(), store=store)
    bank = MemoryBank(store, "m")
    graph.invoke({"task": "the first task"}, config)
    before = graph.get_state(config).config
    graph.invoke({"task": "a second"}, config)
    graph.invoke({"task": "a third"}, config)
    assert len(bank.items()) == 2, "on its branch the thread has what the third task taught"
    graph.invoke({"task": "a fourth"}, before)
    assert len(bank.items()) == 3
    written = graph.get_state(config).values["written"]
    assert len(bank.search("a fifth", k=9, max_items=9, thread_id="t", written=written)) == 2


def test_an_outage_leaves_the_lessons_to_the_next_run_which_decides_by_the_policy():
    store = Switched()
    app, bank, _ = run("skip", ["one"], store)
    store.writes = ConnectionError("gone")
    config = {"configurable": {"thread_id": "u"}}
    assert app.invoke({"task": "two"}, config)["unwritten"]
    store.writes = None
    assert app.invoke({"task": "three"}, config)["unwritten"] == []
    assert len(bank.items()) == 2


def test_the_async_loop_decides_alike():
    async def go():
        store = indexed_memory()
        graph = create_reasoning_bank(solver, model=learner(repeats=True), namespace="m", policy="skip").compile(
            store=store
        )
        for task in ("one", "two"):
            await graph.ainvoke({"task": task})
        return await MemoryBank(store, "m").aitems()

    assert len(asyncio.run(go())) == 2
