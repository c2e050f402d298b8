"""The bundled solver: math problems, answered in a box, with a memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.dialogue import token_cap
from reasoningbank_langgraph.graph import create_reasoning_bank
from reasoningbank_langgraph.judges import EnsembleJudge, LLMJudge, ReferenceJudge
from reasoningbank_langgraph.models import chat_model

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langgraph.graph import StateGraph

MATH_NAMESPACE = ("math",)


def create_math_solver(
    model: str | BaseChatModel,
    *,
    judge_model: str | BaseChatModel | None = None,
    namespace: str | Sequence[str] = MATH_NAMESPACE,
    learn: bool = True,
    max_tokens: int = 512,
    time_limit: float = 120.0,
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
        options: passed on to `create_reasoning_bank`: `k, max_items, min_score, match`.

    Returns:
        An uncompiled graph; its input is `{"task": ...}`, with `task_id` and `reference` where known.
    """
    chat = chat_model(model)
    critic = chat_model(judge_model) if judge_model is not None else chat
    return create_reasoning_bank(
        solve_step(chat, max_tokens),
        model=critic,
        judge=EnsembleJudge([ReferenceJudge(), LLMJudge(critic, time_limit=time_limit)]),
        namespace=namespace,
        learn=learn,
        time_limit=time_limit,
        **options,
    )


def solve_step(chat: BaseChatModel, max_tokens: int) -> RunnableLambda[Any, dict[str, Any]]:
    """Return the node that asks the model, with the lessons in a user message before the task."""
    capped = chat.bind(**token_cap(chat, max_tokens))

    def solve(state: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        return _answered(state, capped.invoke(solve_prompt(state), config))

    async def asolve(state: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        return _answered(state, await capped.ainvoke(solve_prompt(state), config))

    return RunnableLambda(solve, asolve, name="solve")


def solve_prompt(state: dict[str, Any]) -> list[BaseMessage]:
    """Return the messages for the model: rules, lessons where there are some, task."""
    lessons = [HumanMessage(state["memory_prompt"])] if state.get("memory_prompt") else []
    return [SystemMessage(prompts.MATH_SOLVER_SYSTEM), *lessons, HumanMessage(state["task"])]


def _answered(state: dict[str, Any], reply: Any) -> dict[str, Any]:
    return {"answer": reply.text, "messages": [HumanMessage(state["task"]), reply]}
