"""The graph of MaTTS: retrieve at most once, roll out, gather, select, extract, consolidate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, StateGraph

from reasoningbank_langgraph.bank import EXAMPLE_FLOOR
from reasoningbank_langgraph.chat.models import ModelLike, chat_model
from reasoningbank_langgraph.errors import MissingModelError
from reasoningbank_langgraph.matts.contrast import create_contrast, left_by_rollouts
from reasoningbank_langgraph.matts.fan_out import create_fan_out, create_gather, create_next
from reasoningbank_langgraph.matts.records import MattsState
from reasoningbank_langgraph.matts.refine import create_refine
from reasoningbank_langgraph.matts.rollout_graph import create_rollout_graph
from reasoningbank_langgraph.matts.rollout_node import create_rollout
from reasoningbank_langgraph.matts.scaling import MemoryUse, Mode, Scaling, Select
from reasoningbank_langgraph.matts.select_node import create_select
from reasoningbank_langgraph.matts.solver_channels import SolverChannels
from reasoningbank_langgraph.namespaces import DEFAULT_NAMESPACE
from reasoningbank_langgraph.nodes._base import MemoryNode
from reasoningbank_langgraph.nodes._defer import Learn, check_learn
from reasoningbank_langgraph.nodes._loop import LoopNodes, check_guard
from reasoningbank_langgraph.solvers import heard_by
from reasoningbank_langgraph.state import ChannelNames, Selector, loop_state

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import Match, Show, Where
    from reasoningbank_langgraph.extraction.metadata import Metadata
    from reasoningbank_langgraph.judges import JudgeLike
    from reasoningbank_langgraph.nodes.retrieve import Heard
    from reasoningbank_langgraph.policies import Guard, PolicyLike


def create_matts(
    solver: Any,
    *,
    model: ModelLike | None = None,
    judge: JudgeLike | None = None,
    judge_model: ModelLike | None = None,
    extract_model: ModelLike | None = None,
    namespace: str | Sequence[str] = DEFAULT_NAMESPACE,
    k: int = 3,
    mode: Mode = "parallel",
    select: Select = "verifier",
    min_attempts: int = 1,
    max_concurrency: int | None = None,
    temperatures: float | Sequence[float | None] | None = None,
    stop_after: int | None = None,
    checks: int | None = None,
    all_checks: bool = False,
    refiner: Any = None,
    verifiers: Collection[str] = ("reference",),
    rollout_time_limit: float | None = 600.0,
    memory: MemoryUse = "all",
    unaided: int | None = None,
    agreement: float = 1.0,
    learn: Learn = True,
    experiences: int = 1,
    max_items: int = 3,
    min_score: float | None = None,
    match: Match = "both",
    guard: Guard | None = None,
    time_limit: float = 120.0,
    task: Selector = "task",
    answer: Selector = "answer",
    messages: Selector = "messages",
    state_schema: type[Any] | None = None,
    episodes: bool = True,
    show: Show = "lessons",
    min_example_score: float | None = EXAMPLE_FLOOR,
    policy: PolicyLike = "append",
    metadata: Metadata | None = None,
    where: Where | None = None,
    levels: bool = False,
    weak: bool | None = None,
) -> StateGraph[Any, Any, Any, Any]:
    """Solve each task several times with the same memory, select the best, and learn from the differences.

    Memory-aware test-time scaling (paper section 4). The memory is read once, the rollouts share it, each is judged;
    one of them is selected and leaves its answer and messages in the graph as if it had been the only one; lessons
    from the contrast between all of them are written once, as one experience.

    Example:
        ```python
        graph = create_matts(solver, model=chat, k=5, mode="parallel", namespace=("math", "{user_id}"))
        app = graph.compile(checkpointer=saver, store=ChromaStore.from_path("./bank"))
        result = app.invoke({"task": "..."}, {"configurable": {"thread_id": "t1", "user_id": "u1"}})
        result["answer"], result["selection"]["why"]
        ```

    Args:
        solver: as in `create_reasoning_bank`. `config["configurable"]` tells it `rollout` (its number), `temperature`
            (left out for its own) and `seed` (made of that of the caller's `configurable`, or 0, the task and the
            number).
        model: judges, checks, compares and distils, unless an argument below says otherwise.
        judge: any judge, or a function from `Attempt` to `Verdict`, in place of `LLMJudge`.
        judge_model: model of the judge, which also compares attempts.
        extract_model: model that distils lessons.
        namespace: labels of the bank; labels in braces come from `config["configurable"]` or the runtime context,
            one bank a tenant.
        k: attempts; see `Scaling` for this and the arguments down to `agreement`.
        mode: `parallel`, `sequential` or `both`.
        select: `verifier`, `majority`, `model`, or a function from the judged rollouts to the index of the best.
        min_attempts: rollouts that must end without an error.
        max_concurrency: rollouts of one task at a time.
        temperatures: one for all rollouts, or several to be used in turn.
        stop_after: end early after that many proven successes, or when the majority stands.
        checks: checks of each rollout.
        all_checks: make all of them, also after two in a row that left the answer as it was.
        refiner: node that checks; the solver itself, where it goes on with the conversation in `messages`.
        verifiers: judges whose verdict is proof.
        rollout_time_limit: seconds one rollout may take.
        memory: which rollouts see the memory: `all`, `none`, `half`, or `on_disagreement` those after the first ones,
            run only if the first ones disagree; see `Scaling` for this and the next two.
        unaided: with `on_disagreement`, rollouts without memory that are run first.
        agreement: with `on_disagreement`, the share of them whose answer then stands.
        learn: as in `create_reasoning_bank`. Rollouts are judged before one is selected; with False and `"deferred"`
            only if there is a judge or a model.
        experiences: experiences to retrieve.
        max_items: lessons to show in all.
        min_score: floor of the similarity, 0..1.
        match: what a later task is matched with: the `task` a lesson was learned on, the `lesson`, or `both`.
        guard: has all rollouts of some tasks made without memory and switches it off where it hurts: see `Guard`. What
            counts is whether the selected rollout is right.
        time_limit: seconds one call of the judging, checking, comparing or distilling model may take.
        task: the solver's name for the task's channel, or a function from the state to the task.
        answer: likewise for the answer.
        messages: likewise for the conversation.
        state_schema: your own state, where the solver needs further channels or one of the three is a function.
        episodes: False keeps the lessons of a group and no rollout; else at most six of a group are kept.
        show: what is shown before a task: `lessons`, `examples` or `both`. An example is a success at the most similar
            other task, as a message of the user and one of the assistant (`memory_messages`).
        min_example_score: lowest similarity of the task of an example, 0..1; None for no limit.
        policy: what becomes of lessons the bank has already: `append` adds them all the same (as in the paper), `skip`
            leaves equal ones out, `link` also links near copies, of which a search shows one. Or a `Policy`, which can
            bound how many lessons there are.
        metadata: `tags`, `scope` and `difficulty` of new lessons, as a mapping or a function from a lesson to one.
        where: only lessons with these `tags`, this `scope` and `difficulty` are shown, as in `{"tags": "algebra"}`.
        levels: where no lesson is similar, general ones come first: see `MemoryBank.search`.
        weak: whether the solver's model is a weak one (see `create_extract`). A weak model is not asked to say of each
            lesson whether it applies: many end their reply there. By default, whether `model` is weak.

    Returns:
        An uncompiled graph. Compiled, it stands alone or is a node of another graph.

    Raises:
        MissingModelError: no model is given for what needs one.
        ValueError: a setting makes no sense, or `state_schema` has something of
            its own in a channel that the graph fills.
        NamespaceError: the namespace has a label that stores refuse.
        TooFewAttemptsError: when run, fewer than `min_attempts` rollouts ended without an error.
    """
    nodes = LoopNodes(
        maker="create_matts",
        model=model,
        judged_by=judge,
        judge_model=judge_model,
        extract_model=extract_model,
        namespace=namespace,
        k=experiences,
        max_items=max_items,
        min_score=min_score,
        match=match,
        guard=check_guard(guard, learn=check_learn(learn)),
        time_limit=time_limit,
        episodes=episodes,
        show=show,
        min_example_score=min_example_score,
        policy=policy,
        metadata=metadata,
        where=where,
        levels=levels,
        weak=weak,
        names=ChannelNames(task, answer, messages).of_state(state_schema),
    )
    scaling = Scaling(
        k=k,
        mode=mode,
        select=select,
        min_attempts=min_attempts,
        max_concurrency=max_concurrency,
        temperatures=temperatures,
        stop_after=stop_after,
        checks=checks,
        all_checks=all_checks,
        refiner=refiner,
        verifiers=verifiers,
        rollout_time_limit=rollout_time_limit,
        memory=memory,
        unaided=unaided,
        agreement=agreement,
    )
    return build_matts(solver, scaling, nodes, learn=learn, own=state_schema)


def build_matts(
    solver: Any, scaling: Scaling, nodes: LoopNodes, *, learn: Learn, own: type[Any] | None
) -> StateGraph[Any, Any, Any, Any]:
    """Return the graph of MaTTS.

    Args:
        solver: as in `create_reasoning_bank`.
        scaling: what is tried on one task.
        nodes: makes the nodes that MaTTS shares with the loop.
        learn: when it learns, False for not at all.
        own: the user's own state.
    """
    if nodes.guard is not None and scaling.memory == "none":
        raise ValueError(
            "a guard compares tasks with memory and without it, and memory='none' shows none: leave one out"
        )
    names, schema = nodes.names, loop_state(MattsState, nodes.names, own)
    judges = learn in (True, "background") or nodes.judged_by is not None or nodes.critic_like is not None
    attempt = create_rollout_graph(
        solver,
        checks=scaling.checks_each,
        all_checks=scaling.all_checks,
        refiner=_refiner(scaling, nodes),
        judge=nodes.judge() if judges else None,
        names=names,
        own=own,
    )
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(schema)
    channels = SolverChannels.of(builder, names, own, MattsState)
    builder.add_node("rollout", create_rollout(attempt, scaling, names, channels))
    builder.add_node("gather", create_gather(scaling))
    builder.add_node("select", _select(scaling, nodes), input_schema=schema)
    builder.add_edge("rollout", "gather")
    _add_memory(builder, scaling, nodes, heard_by(solver, names, attempt.builder.state_schema, show=nodes.show))
    if learn is True:
        compares = scaling.memory == "half"
        contrast = create_contrast(nodes.distiller(), names, compares=compares, time_limit=nodes.time_limit)
        builder.add_node("extract", contrast, input_schema=schema)
        builder.add_node("consolidate", nodes.consolidate(), input_schema=schema)
        builder.add_edge("select", "extract")
        builder.add_edge("extract", "consolidate")
    elif learn:
        steps = nodes.learning(learn, partial(left_by_rollouts, compares=scaling.memory == "half"))
        for name, node in steps:
            builder.add_node(name, node, input_schema=schema)
        for before, name in pairwise(["select", *(name for name, _ in steps)]):
            builder.add_edge(before, name)
    return builder


def _add_memory(builder: StateGraph[Any, Any, Any, Any], scaling: Scaling, nodes: LoopNodes, heard: Heard) -> None:
    """Look lessons up before the rollouts, or once those without any disagree, or not at all; send the waves."""
    fan_out = create_fan_out(scaling, nodes.names)
    next_step = create_next(scaling, fan_out)
    start, branches = RunnableLambda(_without_earlier_rollouts, name="start"), ["rollout", "select"]
    if scaling.memory in ("all", "half"):
        first = "retrieve"
        builder.add_node(first, nodes.retrieve(heard, to_all=scaling.memory == "all") | start)
    else:
        first = "begin"
        builder.add_node(first, nodes.begin() | start)
    if scaling.memory == "on_disagreement":
        branches.append("retrieve")
        late = nodes.retrieve(heard, begins=False, to_all=False)
        builder.add_node("retrieve", late, input_schema=builder.state_schema)  # the edge after it counts rollouts
        builder.add_conditional_edges("retrieve", fan_out, ["rollout"])
    builder.add_edge(START, first)
    builder.add_conditional_edges(first, fan_out, ["rollout"])
    builder.add_conditional_edges("gather", next_step, branches)


def _without_earlier_rollouts(update: dict[str, Any]) -> dict[str, Any]:
    """The rollouts of an earlier task of the thread are not those of this one."""
    return {**update, "rollouts": [], "rollout_values": {}, "selection": None}


def _select(scaling: Scaling, nodes: LoopNodes) -> MemoryNode:
    critic = nodes.critic_like
    if scaling.select == "model" and critic is None:
        raise MissingModelError(f"{nodes.maker} with select='model'", "compares", "model=... or judge_model=...")
    comparing = None if critic is None else chat_model(critic)
    return create_select(scaling, model=comparing, time_limit=nodes.time_limit, names=nodes.names)


def _refiner(scaling: Scaling, nodes: LoopNodes) -> Any:
    if scaling.refiner is not None or not scaling.checks_each:
        return scaling.refiner
    if nodes.model is None:
        raise MissingModelError(f"{nodes.maker} with checks", "checks", "model=..., or refiner=...")
    return create_refine(chat_model(nodes.model), nodes.names, time_limit=nodes.time_limit)
