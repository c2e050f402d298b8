"""The loop, in order: retrieve, solve, judge, extract, consolidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langgraph.graph import START, StateGraph

from reasoningbank_langgraph.bank import EXAMPLE_FLOOR
from reasoningbank_langgraph.matts import Scaling
from reasoningbank_langgraph.matts.build import build_matts
from reasoningbank_langgraph.namespaces import DEFAULT_NAMESPACE
from reasoningbank_langgraph.nodes._defer import Learn, check_learn
from reasoningbank_langgraph.nodes._loop import LoopNodes, check_guard
from reasoningbank_langgraph.solvers import heard_by, solver_node
from reasoningbank_langgraph.state import ChannelNames, LoopState, Selector, loop_state

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import Match, Show, Where
    from reasoningbank_langgraph.chat.models import ModelLike
    from reasoningbank_langgraph.extraction.metadata import Metadata
    from reasoningbank_langgraph.judges import JudgeLike
    from reasoningbank_langgraph.policies import Guard, PolicyLike


def create_reasoning_bank(
    solver: Any,
    *,
    model: ModelLike | None = None,
    judge: JudgeLike | None = None,
    judge_model: ModelLike | None = None,
    extract_model: ModelLike | None = None,
    namespace: str | Sequence[str] = DEFAULT_NAMESPACE,
    learn: Learn = True,
    k: int = 1,
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
    scaling: Scaling | None = None,
) -> StateGraph[Any, Any, Any, Any]:
    """Wrap a solver into the loop of ReasoningBank (paper section 3.2, figure 2).

    A run goes on if the store, the judge or a model cannot be reached: `memory_error`, the verdict or `extraction` says
    so. Lessons that were not written wait for the thread's next run, and an attempt that was not judged or distilled
    waits in the bank (`MemoryBank.pending`). So a `retry_policy` on these nodes, also one
    set by `set_node_defaults`, never acts on an outage: let the model (`max_retries`) and the store's client retry.

    Example:
        ```python
        graph = create_reasoning_bank(solver, model=chat, namespace=("math", "{user_id}"))
        app = graph.compile(checkpointer=saver, store=ChromaStore.from_path("./bank"))
        app.invoke({"task": "..."}, {"configurable": {"thread_id": "t1", "user_id": "u1"}})
        ```

    Args:
        solver: a node function, Runnable or compiled graph. It reads `task`, `messages`, `memory_prompt` and
            `memory_messages`, and returns `answer` and/or `messages`. An agent, that is a compiled graph that reads
            `messages`, is shown the task as the user's last message (unless it is there already), and what the bank has
            for it before that. The lessons and the example do not stay in the conversation. Compile the agent without a
            checkpointer: it uses that of the graph, and with one of its own they would stay in its conversation.
            Several messages of one role may follow each other: lessons before the task, and the replies to several
            checks. If a model's prompt format wants roles to alternate, join them with LangChain's
            `merge_message_runs` before the call; in an agent, do so in a middleware made with `wrap_model_call`.
        model: judges and distils, unless one of the next three arguments replaces it.
        judge: any judge, or a function from `Attempt` to `Verdict`, in place of `LLMJudge`.
        judge_model: model of the judge.
        extract_model: model that distils lessons.
        namespace: labels of the bank; labels in braces come from `config["configurable"]` or the runtime context, so
            that each tenant has a bank.
        learn: whether to learn, and when. True: in the run. False: not at all, the graph only retrieves. `"deferred"`:
            the run ends after the answer, and the attempt waits for `MemoryBank.resolve`; no model is needed for that.
            `"background"`: the run ends likewise, and a worker of this process judges and distils (`learn.drain`).
        k: number of experiences to retrieve.
        max_items: largest number of lessons to show.
        min_score: lowest similarity, 0..1.
        match: what a later task is matched with: the `task` a lesson was learned on, the `lesson`, or `both`.
        guard: has some tasks solved without memory and switches it off where it hurts, on where it helps: see `Guard`.
        time_limit: seconds one call of the judging or distilling model may take.
        task: the solver's name for the task's channel, or a function from the state to the task.
        answer: likewise for the answer.
        messages: likewise for the conversation.
        state_schema: your own state, if the solver needs further channels or one of the three is a function.
        scaling: makes several attempts at each task, for example `Scaling(k=5, mode="parallel")`; the graph is then
            that of `create_matts`.
        episodes: False keeps the lessons of an attempt but not the attempt itself; it is then no example either.
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
        An uncompiled graph: choose checkpointer, store and name with `compile`.

    Raises:
        MissingModelError: `learn` is on and a node that needs a model has none.
        ValueError: `learn` is none of the four, or off beside a guard; the solver is a compiled graph that reads
            neither `messages` nor `task`; or `state_schema` has something of its own in a channel that the loop fills,
            such as `trial` or `episodes`.
        TypeError: `judge` is not a judge, `guard` is not a guard, or a model is not a model.
        NamespaceError: stores refuse a label of the namespace.
    """
    if scaling is not None and not isinstance(scaling, Scaling):
        raise TypeError(f"scaling must be a Scaling, for example Scaling(k=3), got {type(scaling).__name__}")
    nodes = LoopNodes(
        maker="create_reasoning_bank",
        model=model,
        judged_by=judge,
        judge_model=judge_model,
        extract_model=extract_model,
        namespace=namespace,
        k=k,
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
    if scaling is not None:
        return build_matts(solver, scaling, nodes, learn=learn, own=state_schema)

    schema = loop_state(LoopState, nodes.names, state_schema)
    steps: list[tuple[str, Any]] = [
        ("retrieve", nodes.retrieve(heard_by(solver, nodes.names, schema, show=show))),
        ("solve", solver_node(solver, nodes.names, schema)),
    ]
    if learn:
        steps += nodes.learning(learn)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(schema)
    builder.add_sequence(steps)
    builder.add_edge(START, "retrieve")
    return builder
