"""Runs of the loop and walks over their threads learn each attempt once, whichever comes first."""

from typing import Annotated

import pytest
from langchain.agents import create_agent
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from reasoningbank_langgraph import (
    MemoryBank,
    ReasoningBankMiddleware,
    Scaling,
    Verdict,
    alearn_from_threads,
    create_reasoning_bank,
    learn_from_threads,
)
from reasoningbank_langgraph.state import add_ids
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.flows import KINDS, TASKS, differing_model, open_flow, solve, told
from tests.learn.past import EVER, Past, ask, chat, config, said
from tests.loop_fakes import learner, solver
from tests.postgres import database, postgres  # noqa: F401 - fixtures


@pytest.fixture(params=KINDS)
async def flow(request, tmp_path):
    async with open_flow(request.param, tmp_path, lambda: request.getfixturevalue("database")) as flow:
        yield flow


def loop(learn=True, **settings):
    model = differing_model() if learn else None
    return create_reasoning_bank(solve, model=model, learn=learn, **settings)


async def learn(flow, graph, **settings):
    given = {"model": differing_model(), "checkpointer": flow.saver, "store": flow.store, **settings}
    given.setdefault("namespace", "reasoningbank")
    return await alearn_from_threads(graph, **given) if flow.is_async else learn_from_threads(graph, **given)


async def test_a_thread_that_the_loop_has_learned_from_adds_nothing(flow):
    graph = flow.compile(loop())
    for task in TASKS:
        await flow.run(graph, {"task": task})
    before = await flow.items()
    for known in (graph, loop(), None):
        coverage = await learn(flow, known)
        assert (coverage.seen, coverage.reasons) == (3, {"already_learned": 3})
    assert await flow.items() == before


async def test_a_thread_that_only_read_is_learned_from_as_the_loop_would_have_done(flow):
    graph = flow.compile(loop(learn=False))
    for task in TASKS:
        await flow.run(graph, {"task": task})
    coverage = await learn(flow, None)
    assert (coverage.threads, coverage.seen, coverage.learned, coverage.lessons) == (1, 3, 3, 9)
    online = flow.compile(loop(), name="online")
    for task in TASKS:
        await flow.run(online, {"task": task}, {"configurable": {"thread_id": "other"}})
    rows = [row | {"thread": None} if "thread" in row else row for row in told(await flow.items())]
    assert len(rows) == 18
    items = await flow.items()
    strip = {"id", "experience_id", "provenance", "created_at", "updated_at"}
    assert [one.model_dump(exclude=strip) for one in items[:9]] == [one.model_dump(exclude=strip) for one in items[9:]]


async def test_a_run_that_is_gone_on_with_after_a_walk_writes_nothing_twice(flow):
    """The walk finds no checkpoint of the end, or the run finds what the walk wrote: both know the attempt."""
    builder = loop()
    graph = flow.compile(builder, interrupt_before=["consolidate"])
    await flow.run(graph, {"task": TASKS[0]})
    assert (await learn(flow, graph)).reasons == {"unfinished": 1}
    await flow.run(graph, None)
    before = await flow.items()
    assert (await learn(flow, graph)).reasons == {"already_learned": 1}
    assert await flow.items() == before != []


async def test_replays_and_forks_count_each_end_once_and_equal_ones_are_one_attempt(flow):
    graph = flow.compile(loop(learn=False))
    await flow.run(graph, {"task": TASKS[0]})
    await flow.run(graph, {"task": TASKS[1]})
    history = await flow.history(graph)
    begun = next(state for state in history if state.next == ("solve",))
    await flow.run(graph, None, begun.config)
    changed = await flow.update(graph, history[0].config, {"answer": "another answer"})
    await flow.run(graph, {"task": TASKS[2]}, changed)
    ended = next(state for state in history if not state.next and state.values["answer"].endswith("apples"))
    await flow.run(graph, {"task": TASKS[2]}, ended.config)
    coverage = await learn(flow, graph)
    assert (coverage.seen, coverage.learned) == (5, 3)
    assert coverage.reasons == {"already_learned": 2}
    assert [item.task for item in await flow.items()] == [task for task in TASKS for _ in range(3)]


async def test_what_was_learned_from_a_branch_is_not_shown_on_another_branch_of_its_thread(flow):
    graph = flow.compile(loop(learn=False, k=9, max_items=9))
    await flow.run(graph, {"task": TASKS[0]})
    (ended,) = [state for state in await flow.history(graph) if not state.next]
    await flow.run(graph, {"task": TASKS[1]})
    await flow.run(graph, {"task": TASKS[2]}, ended.config)
    await learn(flow, graph)
    for thread, shown in (("t", {TASKS[0], TASKS[2]}), ("another", set(TASKS))):
        config = {"configurable": {"thread_id": thread}}
        result = await flow.run(graph, {"task": "add the plums and the pears and the apples"}, config)
        assert {memory["item"]["task"] for memory in result["memories"]} == shown


def test_several_rollouts_that_were_learned_as_a_group_are_not_learned_as_one_attempt():
    past = Past()
    graph = create_reasoning_bank(solver, model=learner(), namespace=("math", "{user_id}"), scaling=Scaling(k=3))
    app = graph.compile(checkpointer=past.saver, store=past.store)
    app.invoke({"task": "What is 2 + 3?"}, config())
    before = past.rows()
    for known in (app, None):
        assert past.learn(known).reasons == {"already_learned": 1}
    assert past.rows() == before


def test_an_attempt_whose_judge_had_failed_in_the_run_is_learned_from_afterwards():
    past = Past()

    def away(_):
        raise ConnectionError("no judge")

    graph = create_reasoning_bank(solver, model=learner(), judge=away, namespace=("math", "{user_id}"))
    app = graph.compile(checkpointer=past.saver, store=past.store)
    app.invoke({"task": "one of them"}, config())
    assert {place for place, _ in past.rows()} == {("math", "ann~pending")}
    assert past.learn(app).learned == 1
    assert past.tasks() == ["one of them"]
    assert MemoryBank(past.store, ("math", "ann")).pending() == []


def test_the_reference_of_a_run_reaches_the_judge_and_no_model():
    past, seen = Past(), []
    app = create_reasoning_bank(solver, learn=False, namespace="x").compile(checkpointer=past.saver, store=past.store)
    app.invoke({"task": "What is 2 + 3?", "reference": "five hundred"}, config())
    past.learn(judge=lambda attempt: seen.append(attempt.reference) or Verdict(status="success", judge="reference"))
    assert seen == ["five hundred"]
    assert "five hundred" not in "".join(map(said, past.model.calls))


def test_a_loop_with_names_of_its_own_is_read_by_its_nodes():
    past = Past()
    names = {"task": "question", "answer": "reply", "namespace": ("math", "{user_id}")}

    def node(state):
        return {"reply": f"the answer to {state['question']}"}

    for learn_online in (True, False):
        model = learner() if learn_online else None
        graph = create_reasoning_bank(node, model=model, learn=learn_online, **names)
        app = graph.compile(checkpointer=past.saver, store=past.store)
        app.invoke({"question": f"question {learn_online}"}, config(f"t{learn_online}"))
    assert past.learn(app).reasons == {"already_learned": 1}
    assert past.tasks() == ["question True", "question True", "question False"]


def test_a_walk_with_another_graph_than_the_one_that_made_a_thread_learns_nothing_twice():
    past = Past()
    graph = create_reasoning_bank(solver, model=learner(), namespace=("math", "{user_id}"))
    graph.compile(checkpointer=past.saver, store=past.store).invoke({"task": "one"}, config())
    plain = chat(checkpointer=past.saver)
    ask(plain, "two", thread="t2")
    assert past.learn(plain).reasons == {"already_learned": 1}
    assert past.tasks() == ["one", "one", "two"]


def test_a_thread_that_began_without_the_loop_is_learned_from_up_to_there_and_the_loop_does_the_rest():
    past = Past()
    plain = chat(checkpointer=past.saver)
    ask(plain, "one", "two")
    graph = create_reasoning_bank(plain.builder.compile(), model=learner(), namespace=("math", "{user_id}"))
    app = graph.compile(checkpointer=past.saver, store=past.store)
    app.invoke({"messages": [("user", "three")]}, config())
    ask(plain, "four")
    coverage = past.learn(app)
    assert (coverage.seen, coverage.learned, coverage.reasons) == (4, 3, {"already_learned": 1})
    assert past.tasks() == ["three", "three", "one", "two", "four"]


def test_what_was_forgotten_stays_forgotten_in_a_bank_and_another_bank_learns_it():
    past = Past()
    graph = create_reasoning_bank(solver, model=learner(), namespace=("math", "{user_id}"))
    app = graph.compile(checkpointer=past.saver, store=past.store)
    app.invoke({"task": "of the loop"}, config())
    ask(chat(checkpointer=past.saver), "of a walk", thread="t2")
    assert past.learn(app).learned == 1
    for thread in ("t1", "t2"):
        past.bank().forget(thread_id=thread)
    assert past.learn(app, since=EVER).reasons == {"forgotten": 2}
    assert past.rows() == []
    assert past.learn(app, since=EVER, namespace="another").learned == 2


def test_an_agent_with_the_middleware_is_not_learned_from_twice_and_what_it_was_shown_is_known():
    past = Past()
    online = learner(titles=("sort the numbers",))
    settings = {"model": online, "namespace": ("math", "{user_id}")}
    agents = [
        create_agent(
            ScriptedChatModel(lambda _: "It is done."),
            middleware=[ReasoningBankMiddleware(**settings, learn=learn)],
            checkpointer=past.saver,
            store=past.store,
        )
        for learn in (True, False)
    ]
    agents[0].invoke({"messages": [("user", "sort the small numbers")]}, config("t1"))
    agents[1].invoke({"messages": [("user", "sort the big numbers")]}, config("t2"))
    (shown,) = past.bank().items()
    for known in (agents[0], None):
        assert past.learn(known, since=EVER).reasons.get("already_learned") == (1 if known else 2)
    first, second = past.bank().episodes()
    assert (first.shown, second.shown) == ((), (shown.id,))
    assert [change.actor for change in past.bank().log()][-1] == "threads"


class Outer(TypedDict, total=False):
    task: str
    answer: str
    written: Annotated[list[str], add_ids]


@pytest.mark.parametrize("scaling", [None, Scaling(k=2)], ids=["once", "several times"])
def test_a_graph_in_which_the_loop_is_one_node_is_not_learned_from_twice(scaling):
    past = Past()
    inner = create_reasoning_bank(solve, model=learner(), namespace=("math", "{user_id}"), scaling=scaling).compile()
    builder = StateGraph(Outer)
    builder.add_node("loop", inner)
    builder.add_edge(START, "loop")
    app = builder.compile(checkpointer=past.saver, store=past.store)
    for task in ("first thing", "second thing"):
        app.invoke({"task": task}, config())
    before = past.rows()
    for known in (app, None):
        assert past.learn(known, since=EVER).reasons == {"already_learned": 2}
    assert past.rows() == before


def test_two_answers_to_one_message_on_two_branches_are_two_attempts():
    past, answers = Past(), iter(("one", "two", "three"))
    graph = chat(lambda _: {"messages": [("ai", next(answers))]}, checkpointer=past.saver)
    ask(graph, "first", "second")
    begun = next(state for state in graph.get_state_history(config()) if state.next == ("answer",))
    graph.invoke(None, {"configurable": {**begun.config["configurable"], "user_id": "ann"}})
    coverage = past.learn()
    assert (coverage.seen, coverage.learned) == (3, 3)
    assert [(one.task, one.answer) for one in past.bank().episodes()] == [
        ("first", "one"),
        ("second", "two"),
        ("second", "three"),
    ]


def test_an_attempt_that_waits_for_a_verdict_is_judged_and_a_later_verdict_overturns_it():
    past = Past()
    graph = create_reasoning_bank(solver, model=learner(), learn="deferred", namespace=("math", "{user_id}"))
    app = graph.compile(checkpointer=past.saver, store=past.store)
    app.invoke({"task": "one of them"}, config())
    (waiting,) = past.bank().pending()
    assert past.learn(app).learned == 1
    assert past.bank().pending() == []
    assert [episode.id for episode in past.bank().episodes()] == [waiting.id]
    past.bank().resolve(waiting.id, Verdict(status="failure", judge="thumb"), model=past.model)
    assert [(item.outcome, item.status) for item in past.bank().items()] == [
        ("success", "superseded"),
        ("failure", "active"),
    ]
    assert past.learn(app, since=EVER).reasons == {"already_learned": 1}


def test_an_attempt_that_another_walk_learns_from_meanwhile_keeps_that_ones_verdict():
    past = Past()
    ask(chat(checkpointer=past.saver), "one")

    def judge(_):
        assert past.learn(judge=lambda _: False).learned == 1
        return True

    assert past.learn(judge=judge).reasons == {"already_learned": 1}
    kept = [*past.bank().items(), *past.bank().episodes()]
    assert [one.outcome for one in kept] == ["failure", "failure"]
