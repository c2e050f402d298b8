"""The bundled solver: math problems, answered in a box, with a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langchain_core.messages import HumanMessage, SystemMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig, RunnableLambda

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.chat.models import ModelLike, chat_model
from reasoningbank_langgraph.chat.parameters import is_weak
from reasoningbank_langgraph.chat.token_caps import capped
from reasoningbank_langgraph.graph import create_reasoning_bank
from reasoningbank_langgraph.judges import EnsembleJudge, LLMJudge, ReferenceJudge
from reasoningbank_langgraph.matts import Scaling

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable
    from langgraph.graph import StateGraph

MATH_NAMESPACE = ("math",)


def create_math_solver(
    model: ModelLike,
    *,
    judge_model: ModelLike | None = None,
    namespace: str | Sequence[str] = MATH_NAMESPACE,
    learn: bool = True,
    max_tokens: int = 512,
    time_limit: float = 120.0,
    scaling: Scaling | None = None,
    **options: Any,
) -> StateGraph[Any, Any, Any, Any]:
    """Return the loop around one prompt: think step by step, box the answer.

    Where the input has a `reference`, the boxed answer is compared with it; otherwise a model judges.

    Args:
        model: solves, judges and distils.
        judge_model: judges and distils instead of `model`.
        namespace: labels of the bank.
        learn: False retrieves only.
        max_tokens: cap on the tokens of a solution.
        time_limit: seconds one call of the judging or distilling model may take.
        scaling: several attempts at each problem; its checks go on with the conversation, as a solver's would.
        options: passed on to `create_reasoning_bank`: `k, max_items, min_score, match, episodes, show,
            min_example_score, policy, metadata, where, weak`. A weak model is by default shown a solution of its own in
            place of lessons: see examples/experiments for what both brought.

    Returns:
        An uncompiled graph; its input is `{"task": ...}`, with `task_id` and `reference` where known.
    """
    chat = chat_model(model)
    weak = options.get("weak", is_weak(chat))
    critic = chat_model(judge_model) if judge_model is not None else chat
    if scaling is not None and scaling.refiner is None:
        scaling = replace(scaling, refiner=check_step(chat, max_tokens))
    return create_reasoning_bank(
        solve_step(chat, max_tokens),
        model=critic,
        judge=EnsembleJudge([ReferenceJudge(), LLMJudge(critic, time_limit=time_limit)]),
        namespace=namespace,
        learn=learn,
        time_limit=time_limit,
        scaling=scaling,
        **{"weak": weak, "show": "examples" if weak else "lessons", **options},
    )


def solve_step(chat: BaseChatModel, max_tokens: int, more: str = "") -> RunnableLambda[Any, dict[str, Any]]:
    """Return the node that asks the model, with the example and the lessons before the task; `more` are further rules.

    Among several attempts it takes the `temperature` and `seed` of its own from `config["configurable"]`.
    """

    def solve(state: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        model = _with_settings(chat, max_tokens, config)
        return _answer_update(state, model.invoke(solve_prompt(state, more), config))

    async def asolve(state: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        model = _with_settings(chat, max_tokens, config)
        return _answer_update(state, await model.ainvoke(solve_prompt(state, more), config))

    return RunnableLambda(solve, asolve, name="solve")


def check_step(chat: BaseChatModel, max_tokens: int) -> RunnableLambda[Any, dict[str, Any]]:
    """Return the node that goes on with the conversation, whose last message asks to check the answer."""

    def check(state: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        return _check_update(_with_settings(chat, max_tokens, config).invoke(check_prompt(state), config))

    async def acheck(state: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        return _check_update(await _with_settings(chat, max_tokens, config).ainvoke(check_prompt(state), config))

    return RunnableLambda(check, acheck, name="check")


def solve_prompt(state: dict[str, Any], more: str = "") -> list[BaseMessage]:
    """Return the messages for the model: rules and `more` of them, an example and lessons if there are some, task."""
    return [*_before_the_task(state, more), HumanMessage(state["task"])]


def check_prompt(state: dict[str, Any]) -> list[BaseMessage]:
    """Return the messages for the model: rules, an example and lessons where there are some, the attempt so far."""
    return [*_before_the_task(state), *state["messages"][state["attempt"]["start"] :]]


def _before_the_task(state: dict[str, Any], more: str = "") -> list[BaseMessage]:
    example = convert_to_messages(state.get("memory_messages") or [])
    lessons = [HumanMessage(state["memory_prompt"])] if state.get("memory_prompt") else []
    return [SystemMessage(f"{prompts.MATH_SOLVER_SYSTEM} {more}".strip()), *example, *lessons]


def _with_settings(chat: BaseChatModel, max_tokens: int, config: RunnableConfig) -> Runnable[Any, Any]:
    """The model with its cap and, where its class knows them, the temperature and seed asked for."""
    configurable: Mapping[str, Any] = config.get("configurable", {})
    fields = type(chat).model_fields
    sampling = {
        name: configurable[name]
        for name in ("temperature", "seed")
        if configurable.get(name) is not None and name in fields
    }
    return capped(chat, max_tokens).bind(**sampling)


def _answer_update(state: dict[str, Any], reply: Any) -> dict[str, Any]:
    return {"answer": reply.text, "messages": [HumanMessage(state["task"]), reply]}


def _check_update(reply: Any) -> dict[str, Any]:
    return {"answer": reply.text, "messages": [reply]}
