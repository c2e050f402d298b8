"""Real checkpointers and a bank on disk: what fails and goes on leaves the bank as an undisturbed run would."""

from typing import Annotated

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.types import Command, RetryPolicy, Send, interrupt
from typing_extensions import TypedDict

from reasoningbank_langgraph import Verdict, create_matts, create_reasoning_bank
from reasoningbank_langgraph.state import add_ids
from tests.flows import KINDS, NODES, TASKS, calm_flow, differing_model, make_fail, open_flow, solve, told
from tests.postgres import database, postgres  # noqa: F401 - fixtures

FIRST, SECOND, THIRD = ({"task": task} for task in TASKS)


@pytest.fixture(params=KINDS)
async def flow(request, tmp_path):
    async with open_flow(request.param, tmp_path, lambda: request.getfixturevalue("database")) as flow:
        yield flow


def loop(first=None, steady=()):
    return create_reasoning_bank(solve, model=differing_model(first, steady), k=2, max_items=9)


async def undisturbed(builder, *given):
    """The bank after a run in which nothing happens."""
    flow = calm_flow()
    graph = flow.compile(builder)
    for one in given:
        await flow.run(graph, one)
    return told(await flow.items())


async def test_nodes_that_are_retried_leave_the_lessons_of_the_last_try_once(flow):
    calm = await undisturbed(loop({TASKS[1]: 1}), FIRST, SECOND)
    await flow.run(flow.compile(loop()), FIRST)
    builder = loop()
    failing = [make_fail(builder, name, ConnectionError) for name in NODES]
    for name in NODES:
        builder.nodes[name].retry_policy = RetryPolicy(initial_interval=0.001, jitter=False, max_attempts=3)
    result = await flow.run(flow.compile(builder), SECOND)
    assert [node.calls for node in failing] == [3] * 5
    assert told(await flow.items()) == calm
    assert await flow.ids() == result["written"]
    assert result["written"][3:] == [lesson["id"] for lesson in result["lessons"]]
    extracted, consolidated = failing[3].results, failing[4].results
    assert [len(update["lessons"]) for update in extracted] == [3, 2]
    assert [update["written"] for update in consolidated] == [result["written"][3:]] * 2


@pytest.mark.parametrize("failing", NODES)
async def test_an_exception_and_a_second_invoke_end_like_an_undisturbed_run(failing, flow):
    calm = await undisturbed(loop({TASKS[1]: int(failing == "extract")}), FIRST, SECOND)
    await flow.run(flow.compile(loop()), FIRST)
    builder = loop()
    node = make_fail(builder, failing)
    graph = flow.compile(builder)
    with pytest.raises(RuntimeError, match="before its work"):
        await flow.run(graph, SECOND)
    with pytest.raises(RuntimeError, match="after its work"):
        await flow.run(graph, None)
    before, begun = await flow.ids(), await flow.state(graph)
    result = await flow.run(graph, None)
    assert node.calls == 3
    assert told(await flow.items()) == calm
    assert await flow.ids() == result["written"]
    assert result["written"][3:] == [lesson["id"] for lesson in result["lessons"]]
    assert before == (result["written"] if failing == "consolidate" else result["written"][:3])
    if failing == "consolidate":
        assert begun.values["lessons"] == result["lessons"]


async def test_an_interrupt_and_a_resume_write_once(flow):
    def asking(state):
        return {**solve(state), "answer": interrupt("what is the answer?")}

    calm = await undisturbed(loop(), FIRST)
    builder = create_reasoning_bank(asking, model=differing_model())
    graph = flow.compile(builder, interrupt_before=["consolidate"])
    assert (await flow.run(graph, FIRST))["__interrupt__"][0].value == "what is the answer?"
    await flow.run(graph, Command(resume="the answer to add the apples"))
    lessons = (await flow.state(graph)).values["lessons"]
    assert await flow.ids() == []
    result = await flow.run(graph, None)
    assert told(await flow.items()) == calm
    assert await flow.ids() == result["written"] == [lesson["id"] for lesson in lessons]


class Several(TypedDict, total=False):
    tasks: list[str]
    written: Annotated[list[str], add_ids]


def fanned_out(inner):
    """A graph that sends every task to a loop of its own."""
    builder = StateGraph(Several)
    builder.add_node("loop", inner.compile())
    builder.add_conditional_edges(
        START, lambda state: [Send("loop", {"task": one}) for one in state["tasks"]], ["loop"]
    )
    return builder


def by_task(rows):
    """Siblings may come in any order; the lessons of each stay in theirs."""
    return sorted(rows, key=lambda row: row["task"])


# psycopg says this of a query that is cancelled, as async siblings of a node that fails are.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <generator object BasePipeline")
@pytest.mark.parametrize("failing", NODES)
async def test_a_sibling_that_fails_and_goes_on_is_learned_once_and_so_are_the_others(failing, flow):
    others = (TASKS[0], TASKS[2])  # their extraction may be cancelled and done again: it has to say the same
    calm = await undisturbed(fanned_out(loop({TASKS[1]: int(failing == "extract")}, others)), {"tasks": TASKS})
    inner = loop(steady=others)
    node = make_fail(inner, failing, only="pears")
    graph = flow.compile(fanned_out(inner))
    with pytest.raises(RuntimeError, match="before its work"):
        await flow.run(graph, {"tasks": TASKS})
    with pytest.raises(RuntimeError, match="after its work"):
        await flow.run(graph, None)
    before = await flow.ids()
    result = await flow.run(graph, None)
    assert node.calls == 3
    assert by_task(told(await flow.items())) == by_task(calm)
    assert sorted(await flow.ids()) == sorted(result["written"])
    assert set(before) <= set(result["written"])


async def test_a_loop_that_is_one_node_and_is_tried_again_as_a_whole_learns_the_same_attempt_once(flow):
    calm = await undisturbed(fanned_out(loop({TASKS[0]: 1})), {"tasks": TASKS[:1]})
    inner = loop()
    node = make_fail(inner, "consolidate", ConnectionError)
    builder = fanned_out(inner)
    builder.nodes["loop"].retry_policy = RetryPolicy(initial_interval=0.001, jitter=False, max_attempts=3)
    result = await flow.run(flow.compile(builder), {"tasks": TASKS[:1]})
    assert node.calls == 3
    assert told(await flow.items()) == calm
    assert await flow.ids() == result["written"]


def rolled_out(first=None):
    """Three rollouts, of which the second one fails."""

    def solver(state, config: RunnableConfig):
        if config["configurable"]["rollout"] == 1:
            raise ValueError("no such tool")
        return {"answer": str(config["configurable"]["rollout"])}

    def judge(attempt):
        return Verdict(status="success" if attempt.answer == "2" else "failure", judge="reference")

    return create_matts(solver, model=differing_model(first), judge=judge, k=3)


@pytest.mark.parametrize("failing", ["rollout", "gather", "select", "extract", "consolidate"])
async def test_a_group_with_a_failed_rollout_is_learned_once_as_one_experience(failing, flow):
    calm = await undisturbed(rolled_out({TASKS[0]: int(failing == "extract")}), FIRST)
    builder = rolled_out()
    node = make_fail(builder, failing)
    graph = flow.compile(builder)
    with pytest.raises(RuntimeError, match="before its work"):
        await flow.run(graph, FIRST)
    while node.calls < 2:
        with pytest.raises(RuntimeError, match="work"):
            await flow.run(graph, None)
    before = await flow.ids()
    result = await flow.run(graph, None)
    assert [rollout["error"] and rollout["error"]["type"] for rollout in result["rollouts"]] == [
        None,
        "ValueError",
        None,
    ]
    assert told(await flow.items()) == calm
    assert await flow.ids() == result["written"]
    assert before == (result["written"] if failing == "consolidate" else [])
