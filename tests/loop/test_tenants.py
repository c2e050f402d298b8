"""Whose memory: labels from config and context, and nodes whose writes no cache may hand on."""

import asyncio
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import pytest
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import CachePolicy
from pydantic import BaseModel

from reasoningbank_langgraph import (
    ReasoningBankState,
    Scaling,
    create_consolidate,
    create_extract,
    create_judge,
    create_matts,
    create_reasoning_bank,
    create_retrieve,
)
from reasoningbank_langgraph.errors import (
    AmbiguousNamespaceLabelError,
    CachedNodeError,
    InvalidNamespaceLabelError,
    MissingNamespaceLabelError,
)
from reasoningbank_langgraph.namespaces import bank_of
from reasoningbank_langgraph.nodes._caching import Watch
from tests.loop_fakes import indexed_memory, learner, solver

NAMESPACE = ("m", "{user_id}")
TASK = {"task": "add two apples"}


def tenants(store):
    return set(map(bank_of, store.list_namespaces()))


@dataclass
class Told:
    user_id: str | int | None = None


class ToldModel(BaseModel):
    user_id: str | int | None = None


LOOPS = pytest.mark.parametrize(
    "build",
    [create_reasoning_bank, lambda solver, **options: create_matts(solver, k=2, **options)],
    ids=["loop", "matts"],
)


@LOOPS
@pytest.mark.parametrize(
    "context", [{"user_id": "ann"}, Told("ann"), ToldModel(user_id="ann")], ids=["dict", "dataclass", "model"]
)
def test_labels_are_filled_from_the_runtime_context(build, context):
    store = indexed_memory()
    app = build(solver, model=learner(), namespace=NAMESPACE).compile(store=store)
    app.invoke(TASK, context=context)
    asyncio.run(app.ainvoke({"task": "add two pears"}, context=context))
    assert tenants(store) == {("m", "ann")}


def test_a_loop_inside_another_graph_reads_the_same_context():
    store = indexed_memory()
    parent = StateGraph(ReasoningBankState, context_schema=Told)
    parent.add_node("loop", create_reasoning_bank(solver, model=learner(), namespace=NAMESPACE).compile())
    parent.add_edge(START, "loop")
    parent.compile(store=store).invoke(TASK, context=Told("ann"))
    assert tenants(store) == {("m", "ann")}


@pytest.mark.parametrize(("configured", "told"), [("ann", "ann"), (7, "7"), ("ann", None), (None, "ann")])
def test_equal_values_in_config_and_context_are_one_tenant(configured, told):
    store = indexed_memory()
    app = create_reasoning_bank(solver, model=learner(), namespace=NAMESPACE).compile(store=store)
    app.invoke(TASK, {"configurable": {"user_id": configured}}, context={"user_id": told})
    assert tenants(store) == {("m", str(configured or told))}


def test_different_values_in_config_and_context_are_refused_before_anything_is_read():
    store = indexed_memory()
    app = create_reasoning_bank(solver, model=learner(), namespace=NAMESPACE).compile(store=store)
    with pytest.raises(AmbiguousNamespaceLabelError, match=r"'ann'.*'bob'"):
        app.invoke(TASK, {"configurable": {"user_id": "ann"}}, context=Told("bob"))
    assert not tenants(store)


@pytest.mark.parametrize("context", [None, {}, {"other": 1}, Told(), ToldModel()])
def test_a_label_in_neither_is_missing_and_both_places_are_named(context):
    app = create_reasoning_bank(solver, model=learner(), namespace=NAMESPACE).compile(store=indexed_memory())
    with pytest.raises(MissingNamespaceLabelError, match=r"config.*context"):
        app.invoke(TASK, context=context)


@pytest.mark.parametrize("value", ["", "a.b", 1.5, True, ["ann"]])
def test_a_label_of_the_context_that_stores_refuse_is_refused_by_name(value):
    app = create_reasoning_bank(solver, model=learner(), namespace=NAMESPACE).compile(store=indexed_memory())
    with pytest.raises(InvalidNamespaceLabelError):
        app.invoke(TASK, context={"user_id": value})


POLICIES = pytest.mark.parametrize(
    "policy", [CachePolicy(), CachePolicy(key_func=lambda state: "the same")], ids=["default", "own key"]
)
OURS = {
    "retrieve": create_retrieve(namespace=NAMESPACE),
    "judge": create_judge(learner()),
    "extract": create_extract(learner()),
    "consolidate": create_consolidate(namespace=NAMESPACE),
}


def own_graph(solving=solver, **options):
    builder = StateGraph(ReasoningBankState)
    steps = list(OURS.items())
    steps.insert(1, ("solve", solving))
    for name, node in steps:
        builder.add_node(name, node, **options.get(name, {}))
    for (before, _), (after, _) in pairwise(steps):
        builder.add_edge(before, after)
    return builder.add_edge(START, "retrieve")


def config(user):
    return {"configurable": {"user_id": user, "thread_id": user}}


@POLICIES
@pytest.mark.parametrize("name", list(OURS))
async def test_a_node_of_the_loop_refuses_a_cache_policy(name, policy):
    builder = own_graph(**{name: {"cache_policy": policy}})
    app = builder.compile(checkpointer=InMemorySaver(), cache=InMemoryCache(), store=indexed_memory())
    for _ in range(2):
        with pytest.raises(CachedNodeError, match=f"{name!r}.* has a cache policy"):
            app.invoke(TASK, config("ann"))
    with pytest.raises(CachedNodeError):
        await app.ainvoke(TASK, config("bob"))


async def test_a_node_with_a_time_limit_refuses_it_too():
    builder = own_graph(retrieve={"cache_policy": CachePolicy(), "timeout": 60})
    with pytest.raises(CachedNodeError):
        await builder.compile(cache=InMemoryCache(), store=indexed_memory()).ainvoke(TASK, config("ann"))
    await own_graph(retrieve={"timeout": 60}).compile(store=indexed_memory()).ainvoke(TASK, config("ann"))


@POLICIES
@LOOPS
@pytest.mark.parametrize("learn", [True, False])
async def test_a_default_cache_policy_is_refused_by_the_whole_loop(build, policy, learn):
    builder = build(solver, model=learner(), namespace=NAMESPACE, learn=learn).set_node_defaults(cache_policy=policy)
    app = builder.compile(cache=InMemoryCache(), store=indexed_memory())
    for _ in range(2):
        with pytest.raises(CachedNodeError, match="set_node_defaults"):
            app.invoke(TASK, config("ann"))
    with pytest.raises(CachedNodeError):
        await app.ainvoke(TASK, config("bob"))


@pytest.mark.parametrize("name", ["retrieve", "rollout", "gather", "select", "extract", "consolidate"])
def test_each_node_of_matts_refuses_a_cache_policy(name):
    builder = create_reasoning_bank(solver, model=learner(), scaling=Scaling(k=2))
    builder.nodes[name].cache_policy = CachePolicy(key_func=lambda state: "the same")
    app = builder.compile(cache=InMemoryCache(), store=indexed_memory())
    with pytest.raises(CachedNodeError, match=name):
        app.invoke(TASK, config("ann"))


def test_a_cached_task_that_calls_a_node_is_refused():
    retrieve = create_retrieve(namespace=NAMESPACE)

    @task(cache_policy=CachePolicy())
    def recall(state):
        return retrieve.invoke(state)

    @entrypoint(cache=InMemoryCache(), store=indexed_memory())
    def app(state):
        return recall(state).result()

    with pytest.raises(CachedNodeError):
        app.invoke(TASK, config("ann"))


def holding(loop, depth, policy):
    for place in range(depth):
        outermost = place == depth - 1
        parent = StateGraph(ReasoningBankState)
        parent.add_node("held", loop, **({"cache_policy": policy} if outermost else {}))
        parent.add_edge(START, "held")
        loop = parent.compile(**({"cache": InMemoryCache(), "store": indexed_memory()} if outermost else {}))
    return loop


@LOOPS
@POLICIES
@pytest.mark.parametrize("depth", [1, 3])
async def test_a_graph_that_holds_the_loop_as_a_cached_node_is_refused(build, policy, depth):
    app = holding(build(solver, model=learner(), namespace=NAMESPACE).compile(), depth, policy)
    for _ in range(2):
        with pytest.raises(CachedNodeError, match="around it"):
            app.invoke(TASK, config("ann"))
    with pytest.raises(CachedNodeError):
        await app.ainvoke(TASK, config("bob"))
    holding(build(solver, model=learner(), namespace=NAMESPACE).compile(), depth, None).invoke(TASK, config("ann"))


def test_a_cached_function_that_runs_the_loop_is_refused():
    loop = create_reasoning_bank(solver, model=learner(), namespace=NAMESPACE).compile(store=indexed_memory())
    app = holding(lambda state: {"answer": loop.invoke({"task": state["task"]})["answer"]}, 1, CachePolicy())
    with pytest.raises(CachedNodeError):
        app.invoke(TASK, config("ann"))


async def test_a_cached_task_whose_own_task_calls_a_node_is_refused():
    retrieve = create_retrieve(namespace=NAMESPACE)

    @task
    async def recall(state):
        return await retrieve.ainvoke(state)

    @task(cache_policy=CachePolicy())
    async def outer(state):
        return await recall(state)

    @entrypoint(cache=InMemoryCache(), store=indexed_memory())
    async def app(state):
        return await outer(state)

    with pytest.raises(CachedNodeError):
        await app.ainvoke(TASK, config("ann"))


@pytest.mark.parametrize("call", [object(), lambda: None, partial(print), partial(print, lambda: None)])
def test_where_a_cache_cannot_be_seen_that_is_said_once(call, caplog):
    watch = Watch()
    for _ in range(2):
        assert not watch.sees_cache({"configurable": {"__pregel_call": call}})
    assert len(caplog.records) == 1
    assert "no cache_policy" in caplog.text
    assert "Error(" in caplog.text


def test_outside_a_graph_there_is_no_cache_and_nothing_to_say(caplog):
    assert not Watch().sees_cache({})
    assert caplog.records == []


def test_a_cached_task_beside_the_one_that_calls_a_node_refuses_nothing():
    retrieve = create_retrieve(namespace=NAMESPACE)

    @task(cache_policy=CachePolicy())
    def other(state):
        return {}

    @task
    def recall(state):
        return retrieve.invoke(state)

    @entrypoint(cache=InMemoryCache(), store=indexed_memory())
    def app(state):
        return other(state).result() | recall(state).result()

    assert app.invoke(TASK, config("ann"))["memories"] == []


def test_a_cached_solver_is_asked_again_where_the_lessons_differ():
    shown = []

    def solve(state):
        shown.append(bool(state["memory_prompt"]))
        return {"answer": "4"}

    builder = own_graph(solve, solve={"cache_policy": CachePolicy()})
    app = builder.compile(cache=InMemoryCache(), store=indexed_memory())
    for user, one in (("ann", "apples"), ("ann", "pears"), ("bob", "pears")):
        app.invoke({"task": f"add two {one}"}, {"configurable": {"user_id": user}})
    assert shown == [False, True, False]
    app.clear_cache()
