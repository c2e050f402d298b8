"""Sequential scaling: re-examine the attempt, then check again, until the answer stands (paper section 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.errors import NodeError
from langgraph.types import Command

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.chat.context import room_in
from reasoningbank_langgraph.chat.dialogue import Dialogue, Request
from reasoningbank_langgraph.chat.model_caller import ModelCaller
from reasoningbank_langgraph.math_answers import final_answer, same_answer
from reasoningbank_langgraph.matts.records import Failure
from reasoningbank_langgraph.parsing.answers import answer_object
from reasoningbank_langgraph.solvers.inserted_messages import CHECK, TASK, inserted, unstreamed
from reasoningbank_langgraph.state import ChannelNames
from reasoningbank_langgraph.state.attempts import attempt_of
from reasoningbank_langgraph.text.trajectory import answer_block, task_block, trajectory_block

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from reasoningbank_langgraph.records import Attempt

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"note": {"type": "string"}, "answer": {"type": "string"}},
    "required": ["note", "answer"],
}


def create_ask(checks: int, names: ChannelNames, *, all_checks: bool, quiet: bool) -> Callable[[Any], dict[str, Any]]:
    """Return the node that asks for the next check, or ends them.

    Checks end after `checks` of them, when one failed, or, unless `all_checks`, when two in a row changed nothing. An
    answer that a check does not state again stays as it was.

    Args:
        checks: how many at most.
        names: the channels of the graph.
        all_checks: whether to go on with an answer that stands.
        quiet: whether the conversation takes data for messages, which is not streamed.
    """
    answer, messages = str(names.answer), str(names.messages)

    def ask(state: Any) -> dict[str, Any]:
        attempt = attempt_of(state, names)
        drafts = [*(state.get("drafts") or []), attempt.answer]
        if state.get("drafts"):
            drafts[-1] = _restated(drafts[-2], drafts[-1])
        if state.get("check_error"):
            return {"drafts": drafts[:-1], "asking": False, answer: drafts[-2]}
        if len(drafts) > checks or (not all_checks and _stands(drafts)):
            return {"drafts": drafts, "asking": False, answer: drafts[-1]}
        check = prompts.CHECK_FIRST if len(drafts) == 1 else prompts.CHECK_AGAIN
        added = [*_task_message(attempt), inserted(CHECK, check)]
        update = [unstreamed(message) for message in added] if quiet else added
        return {"drafts": drafts, "asking": True, answer: None, messages: update}

    return ask


def _restated(before: str | None, after: str | None) -> str | None:
    """A check that only says "all is right" confirms the answer and is not itself one."""
    if before is None or after is None:
        return before if after is None else after
    marked = final_answer(before) != before
    return before if marked and final_answer(after) in (after, None) else after


def _stands(drafts: list[str | None]) -> bool:
    """Two checks in a row changed nothing."""
    last = [final_answer(draft) for draft in drafts[-3:]]
    if len(last) < 3 or None in last:
        return False
    first, second, third = (str(answer) for answer in last)
    return same_answer(first, second) and same_answer(second, third)


def _task_message(attempt: Attempt) -> list[HumanMessage | AIMessage]:
    """What the conversation lacks for a check to make sense, where the solver gave an answer and no messages."""
    roles = {message.role for message in attempt.messages}
    if "assistant" in roles or not attempt.answer:
        return []
    asked = [] if "user" in roles else [inserted(TASK, attempt.task)]
    return [*asked, AIMessage(attempt.answer)]


def check_failed(_: Any, error: NodeError) -> Command[str]:
    """Note that a check failed: what was solved before it is not lost."""
    return Command(update={"check_error": Failure.of(error.error).to_json()}, goto="ask")


def create_refine(
    model: BaseChatModel, names: ChannelNames, *, max_tokens: int = 1_000, time_limit: float = 120.0
) -> RunnableLambda[Any, dict[str, Any]]:
    """Return the node that has the model check its own attempt, with the lessons it had for solving.

    Args:
        model: the chat model that checks.
        names: the channels of the graph.
        max_tokens: cap on the tokens of one reply.
        time_limit: seconds one call may take.
    """
    caller, room = ModelCaller(model, "check", time_limit=time_limit), room_in(model, max_tokens)

    def dialogue(state: Any) -> Dialogue[dict[str, Any]]:
        attempt = attempt_of(state, names)
        *before, check = attempt.messages
        earlier = attempt.model_copy(update={"messages": tuple(before), "answer": state["drafts"][-1]})
        question = prompts.REFINE_USER.format(
            task=task_block(earlier, room.task),
            trajectory=trajectory_block(earlier, room.trajectory),
            answer=answer_block(earlier, room.answer),
            check=check.text,
        )
        lessons = [HumanMessage(state["memory_prompt"])] if state.get("memory_prompt") else []
        messages = [SystemMessage(prompts.REFINE_SYSTEM), *lessons, HumanMessage(question)]
        reply = yield Request(messages, _SCHEMA, max_tokens)
        return _update(reply, state["drafts"][-1], names)

    def refine(state: Any, config: RunnableConfig) -> dict[str, Any]:
        return caller.run(dialogue(state), config)

    async def arefine(state: Any, config: RunnableConfig) -> dict[str, Any]:
        return await caller.arun(dialogue(state), config)

    return RunnableLambda(refine, arefine, name="refine")


def _update(reply: AIMessage, before: str | None, names: ChannelNames) -> dict[str, Any]:
    """A reply that cannot be read is kept as a note; the answer before it stands."""
    fields = answer_object(reply, "answer")
    if fields is None:
        return {str(names.answer): before, str(names.messages): [reply]}
    answer = str(fields["answer"])
    note = AIMessage(f"{fields.get('note') or ''}\n\n{answer}".strip(), usage_metadata=reply.usage_metadata)
    return {str(names.answer): answer, str(names.messages): [note]}
