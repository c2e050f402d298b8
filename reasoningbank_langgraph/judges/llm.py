"""A language model as judge, without ground truth (paper section 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.messages import HumanMessage, SystemMessage

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.chat.context import room_in
from reasoningbank_langgraph.chat.dialogue import Dialogue, Request
from reasoningbank_langgraph.chat.model_caller import ModelCaller
from reasoningbank_langgraph.chat.models import ModelLike
from reasoningbank_langgraph.errors import ModelError
from reasoningbank_langgraph.judges.base import Judge, verdict_on_error
from reasoningbank_langgraph.parsing import parse_verdict
from reasoningbank_langgraph.records import Attempt, Verdict
from reasoningbank_langgraph.text.trajectory import answer_block, task_block, trajectory_block

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

VERDICT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "rationale": {"type": "string"},
        "status": {"type": "string", "enum": ["success", "failure"]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["rationale", "status", "confidence"],
}


class LLMJudge(Judge):
    """Asks a model whether the attempt succeeded, by a strict rubric: complete, grounded, on target.

    The reference answer is never shown. The attempt is fenced, so text in it that claims success stays text; of an
    attempt longer than the model's context, the head and the tail are shown. After a reply that cannot be read the
    model is asked once more, without that reply; if that fails too, or the model does, the verdict is `indeterminate`.
    A reply that contradicts itself is `indeterminate` at once: text of the attempt may have caused it.

    Args:
        model: the chat model that judges.
        max_tokens: cap on the tokens of one reply.
        time_limit: seconds one call may take.
    """

    def __init__(self, model: ModelLike, *, max_tokens: int = 400, time_limit: float = 120.0) -> None:
        self.caller = ModelCaller(model, "judge", time_limit=time_limit)
        self.max_tokens, self.room = max_tokens, room_in(self.caller.model, max_tokens)

    def invoke(self, input: Attempt, config: RunnableConfig | None = None, **kwargs: Any) -> Verdict:
        """Judge one attempt."""
        return self.caller.run(self._dialogue(input), config)

    async def ainvoke(self, input: Attempt, config: RunnableConfig | None = None, **kwargs: Any) -> Verdict:
        """Judge one attempt."""
        return await self.caller.arun(self._dialogue(input), config)

    def _dialogue(self, attempt: Attempt) -> Dialogue[Verdict]:
        question = prompts.JUDGE_USER.format(
            task=task_block(attempt, self.room.task),
            trajectory=trajectory_block(attempt, self.room.trajectory),
            answer=answer_block(attempt, self.room.answer),
        )
        prompt = [SystemMessage(prompts.JUDGE_SYSTEM.format()), HumanMessage(question)]
        try:
            verdict = parse_verdict((yield Request(prompt, VERDICT_SCHEMA, self.max_tokens)))
            if verdict.reason in ("unparsed", "truncated"):
                repair = HumanMessage(prompts.REPAIR_USER.format(reason=verdict.reason))
                verdict = parse_verdict((yield Request([*prompt, repair], VERDICT_SCHEMA, self.max_tokens)))
        except ModelError as error:
            return verdict_on_error("llm", error)
        return verdict.model_copy(update={"judge": "llm"})
