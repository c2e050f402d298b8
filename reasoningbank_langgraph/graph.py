"""The loop, in order: retrieve, solve, judge, extract, consolidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langgraph.graph import START, StateGraph

from reasoningbank_langgraph.matts import Scaling, create_matts
from reasoningbank_langgraph.namespaces import DEFAULT_NAMESPACE
from reasoningbank_langgraph.nodes import create_consolidate, create_extract, create_judge, create_retrieve
from reasoningbank_langgraph.solvers import prepared, retrieving_for
from reasoningbank_langgraph.state import LoopState, Names, Selector, loop_state

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import Match
    from reasoningbank_langgraph.chat.models import ModelLike
    from reasoningbank_langgraph.judges import JudgeLike


def create_reasoning_bank(
    solver: Any,
    *,
    model: ModelLike | None = None,
    judge: JudgeLike | None = None,
    judge_model: ModelLike | None = None,
    extract_model: ModelLike | None = None,
    namespace: str | Sequence[str] = DEFAULT_NAMESPACE,
    learn: bool = True,
    k: int = 1,
    max_items: int = 3,
    min_score: float | None = None,
    match: Match = "both",
    time_limit: float = 120.0,
    task: Selector = "task",
    answer: Selector = "answer",
    messages: Selector = "messages",
    state_schema: type[Any] | None = None,
    scaling: Scaling | None = None,
) -> StateGraph[Any, Any, Any, Any]:
    """Wrap a solver into the loop of ReasoningBank (paper section 3.2, figure 2).

    A store, judge or model that is out of reach ends no run: `memory_error`, the verdict or `extraction` says so, and
    lessons that were not written wait for the thread's next run. So a `retry_policy` on these nodes, of their own or by
    `set_node_defaults`, never acts on an outage: let the model (`max_retries`) and the store's client try again.

    Example:
        ```python
        graph = create_reasoning_bank(solver, model=chat, namespace=("math", "{user_id}"))
        app = graph.compile(checkpointer=saver, store=ChromaStore.from_path("./bank"))
        app.invoke({"task": "..."}, {"configurable": {"thread_id": "t1", "user_id": "u1"}})
        ```

    Args:
        solver: a node function, Runnable or compiled graph. It reads `task`, `messages` and `memory_prompt` and
            returns `answer` and/or `messages`. An agent, that is a compiled graph that reads `messages`, is shown the
            task as the last message of the user (unless that is there already) and before it the lessons, which
            do not stay in the conversation. Keep the agent without a checkpointer of its own: it has that of the
            graph, and in a conversation of its own the lessons would stay. Messages of one role may stand in a row:
            lessons before the task, and the replies to several checks. Where a model's prompt format wants roles to
            take turns, join them with LangChain's `merge_message_runs` before the call, in an agent by a middleware
            made with `wrap_model_call`.
        model: judges and distils, unless one of the next three says otherwise.
        judge: any judge, or a function from `Attempt` to `Verdict`, in place of `LLMJudge`.
        judge_model: model of the judge.
        extract_model: model that distils lessons.
        namespace: labels of the bank; labels in braces come from `config["configurable"]` or the runtime context,
            one bank a tenant.
        learn: False retrieves only: the bank stays as it is.
        k: experiences to retrieve.
        max_items: lessons to show in all.
        min_score: floor of the similarity, 0..1.
        match: what a later task is matched with: the `task` a lesson was learned on, the `lesson`, or `both`.
        time_limit: seconds one call of the judging or distilling model may take.
        task: the solver's name for the task's channel, or a function from the state to the task.
        answer: likewise for the answer.
        messages: likewise for the conversation.
        state_schema: your own state, where the solver needs further channels or one of the three is a function.
        scaling: several attempts at each task in place of one, for example `Scaling(k=5, mode="parallel")`; the graph
            is then that of `create_matts`.

    Returns:
        An uncompiled graph: choose checkpointer, store and name with `compile`.

    Raises:
        ValueError: `learn` is on and no model is given for what needs one; or the solver is a compiled graph that
            reads neither `messages` nor `task`.
        TypeError: the judge or a model is none.
        NamespaceError: the namespace has a label that stores refuse.
    """
    names: dict[str, Any] = {"task": task, "answer": answer, "messages": messages}
    if scaling is not None and not isinstance(scaling, Scaling):
        raise TypeError(f"scaling must be a Scaling, for example Scaling(k=3), got {type(scaling).__name__}")
    if scaling is not None:
        return create_matts(
            solver,
            model=model,
            judge=judge,
            judge_model=judge_model,
            extract_model=extract_model,
            namespace=namespace,
            learn=learn,
            experiences=k,
            max_items=max_items,
            min_score=min_score,
            match=match,
            time_limit=time_limit,
            state_schema=state_schema,
            **names,
            **scaling.options(),
        )
    chosen = Names(**names).of_state(state_schema)
    names = chosen._asdict()
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(loop_state(LoopState, chosen, state_schema))
    builder.add_node("solve", prepared(solver, chosen, builder))
    retrieve = create_retrieve(namespace=namespace, k=k, max_items=max_items, min_score=min_score, **names)
    builder.add_node("retrieve", retrieving_for(solver, chosen, builder, retrieve))
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "solve")
    if learn:
        distiller = extract_model or model
        if distiller is None:
            raise ValueError("learning needs a model that distils: give model=... or extract_model=..., or learn=False")
        steps: list[tuple[str, Any]] = [
            ("judge", create_judge(judge_model or model, judge=judge, time_limit=time_limit, **names)),
            ("extract", create_extract(distiller, time_limit=time_limit, **names)),
            ("consolidate", create_consolidate(namespace=namespace, match=match)),
        ]
        builder.add_sequence(steps)
        builder.add_edge("solve", "judge")
    return builder
