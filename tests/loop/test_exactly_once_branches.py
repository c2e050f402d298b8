"""Replays, forks and time travel on real checkpointers: the same attempt adds nothing, and no branch sees another's."""

from typing import Annotated

import pytest
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from reasoningbank_langgraph import create_reasoning_bank
from reasoningbank_langgraph.state import add_ids
from tests.flows import CONFIG, KINDS, NODES, TASKS, Flow, calm_flow, differing_model, open_flow, solve
from tests.postgres import database, postgres  # noqa: F401 - fixtures

FIRST, SECOND, THIRD = ({"task": task} for task in TASKS)
OTHER = {"configurable": {"thread_id": "other"}}


@pytest.fixture(params=["memory", *KINDS])
async def flow(request, tmp_path):
    if request.param == "memory":
        yield calm_flow()
        return
    async with open_flow(request.param, tmp_path, lambda: request.getfixturevalue("database")) as flow:
        yield flow


class Looking:
    """A solver that notes the lessons it sees, and on which tasks they were learned."""

    def __init__(self):
        self.seen, self.ids = [], []

    def __call__(self, state):
        self.ids.append({memory["item"]["id"] for memory in state["memories"]})
        self.seen.append(sorted({memory["item"]["task"] for memory in state["memories"]}))
        return solve(state)


def loop(solver):
    """Lessons differ from attempt to attempt: what is added by mistake shows."""
    return create_reasoning_bank(solver, model=differing_model(), k=5, max_items=20)


class Parent(TypedDict, total=False):
    task: str
    answer: str
    written: Annotated[list[str], add_ids]


def within_another_graph(builder, **options):
    parent = StateGraph(Parent)
    parent.add_node("loop", builder.compile(**options))
    parent.add_edge(START, "loop")
    return parent


async def checkpoint_before(flow: Flow, graph, node, config=CONFIG):
    """The latest checkpoint of the thread at which this node comes next."""
    return next(state.config for state in await flow.history(graph, config) if state.next == (node,))


async def checkpoint_inside(flow: Flow, graph, node):
    """The latest checkpoint of the loop inside a graph at which this node of the loop comes next."""
    paused = await checkpoint_before(flow, graph, "loop")
    inner = (await flow.state(graph, paused, subgraphs=True)).tasks[0].state.config["configurable"]
    named = {"configurable": {name: inner[name] for name in ("thread_id", "checkpoint_ns")}}
    return await checkpoint_before(flow, graph, node, named)


@pytest.mark.parametrize("within", [False, True], ids=["alone", "within another graph"])
async def test_the_same_attempt_replayed_from_any_checkpoint_adds_nothing(within, flow):
    builder = loop(Looking())
    graph = flow.compile(within_another_graph(builder) if within else builder)
    await flow.run(graph, FIRST)
    first = await flow.run(graph, SECOND)
    before = await flow.items()
    places = [await (checkpoint_inside if within else checkpoint_before)(flow, graph, node) for node in NODES]
    for place in places:
        again = await flow.run(graph, None, place)
        assert await flow.items() == before
        assert again["written"] == first["written"] == await flow.ids()


async def test_a_fork_with_the_same_state_adds_nothing_and_one_with_another_answer_is_a_new_attempt(flow):
    graph = flow.compile(loop(Looking()))
    first = await flow.run(graph, FIRST)
    past = await checkpoint_before(flow, graph, "judge")
    same = await flow.update(graph, past, {"answer": first["answer"]}, as_node="solve")
    assert (await flow.run(graph, None, same))["written"] == first["written"] == await flow.ids()
    other = await flow.update(graph, past, {"answer": "another answer"}, as_node="solve")
    forked = await flow.run(graph, None, other)
    assert not set(forked["written"]) & set(first["written"])
    assert await flow.ids() == [*first["written"], *forked["written"]]


async def test_a_branch_sees_what_it_descends_from_and_other_threads_see_all(flow):
    solver = Looking()
    graph = flow.compile(loop(solver))
    await flow.run(graph, FIRST)
    trunk = (await flow.state(graph)).config
    await flow.run(graph, SECOND)
    one = (await flow.state(graph)).config
    await flow.run(graph, THIRD, trunk)
    assert solver.seen[-1] == [TASKS[0]]
    two = (await flow.state(graph)).config
    await flow.run(graph, {"task": "add the apples to the pears"}, one)
    assert solver.seen[-1] == [TASKS[0], TASKS[1]]
    await flow.run(graph, {"task": "add the apples to the plums"}, two)
    assert solver.seen[-1] == [TASKS[0], TASKS[2]]
    await flow.run(graph, {"task": "add the pears to the plums"}, OTHER)
    assert set(TASKS) < set(solver.seen[-1])


async def test_a_branch_inside_another_graph_does_not_see_what_another_branch_wrote(flow):
    solver = Looking()
    builder = loop(solver)
    graph = flow.compile(within_another_graph(builder))
    pausing = flow.compile(within_another_graph(builder, interrupt_before=["judge"]))
    trunk = (await flow.run(graph, FIRST))["written"]
    await flow.run(pausing, SECOND)
    inner = (await flow.state(pausing, subgraphs=True)).tasks[0].state
    assert inner.next == ("judge",)
    await flow.update(pausing, inner.config, {"answer": "another answer"}, as_node="solve")
    changed = await flow.run(graph, None)
    one = (await flow.state(graph)).config
    travelled = await flow.run(graph, None, inner.config)
    two = (await flow.state(graph)).config
    assert (changed["answer"], travelled["answer"]) == ("another answer", "the answer to add the pears")
    assert set(changed["written"]) & set(travelled["written"]) == set(trunk)
    assert await flow.ids() == [*changed["written"], *travelled["written"][len(trunk) :]]
    for branch, result, task in ((one, changed, "add the apples to the pears"), (two, travelled, TASKS[2])):
        await flow.run(graph, {"task": task}, branch)
        assert solver.ids[-1] == set(result["written"])
