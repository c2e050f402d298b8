"""From a judged attempt to a few general lessons (paper section 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.chat.dialogue import Dialogue
from reasoningbank_langgraph.chat.model_caller import ModelCaller
from reasoningbank_langgraph.chat.models import ModelLike, chat_model
from reasoningbank_langgraph.extraction.acceptance import Extraction
from reasoningbank_langgraph.extraction.asking import ModelLimits, ask_formula, ask_lessons
from reasoningbank_langgraph.extraction.formulas import has_formula
from reasoningbank_langgraph.records import ITEMS_PER_ATTEMPT, Attempt, Verdict
from reasoningbank_langgraph.text import clean_line
from reasoningbank_langgraph.text.trajectory import answer_block, task_block, trajectory_block

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

PROMPT_HASH = prompts.prompt_hash(
    prompts.EXTRACT_SYSTEM,
    prompts.EXTRACT_USER,
    prompts.TIP_SYSTEM,
    prompts.TIP_USER,
    prompts.TIP_USER_SHORT,
    prompts.TIP_PROGRAM,
    prompts.TIP_AGAIN,
    prompts.GENERAL_USER,
    prompts.EXTRACT_SUCCESS,
    prompts.EXTRACT_FAILURE,
)

_REFERENCE = 500
"""Characters of a right answer that are shown."""


class Judged(NamedTuple):
    """An attempt and the verdict on it."""

    attempt: Attempt
    verdict: Verdict


class LessonExtractor(Runnable[Judged, Extraction]):
    """Asks a model for at most three lessons; success and failure each have their prompt.

    A weak model (see `chat.parameters`) is asked for one lesson, and only about successes: what models of 1.5 billion
    parameters say of their mistakes is mostly wrong, also when they are told the right answer. Where the answer is a
    number, it writes the solution as a short program in named quantities, which becomes the lesson if it computes the
    right answer; it is read and never run. Else, and for all other tasks, it writes a tip in plain words; a model of
    less than a billion parameters writes none where its program is not right. One of fewer than 300 million is asked
    nothing. With an indeterminate verdict no model is asked, and there are no lessons.

    Args:
        model: the chat model that distils.
        max_tokens: cap on the tokens of one reply.
        time_limit: seconds one call may take.
        weak: whether the model is a weak one, by default decided by its parameters; unknown ones are strong.
    """

    def __init__(
        self, model: ModelLike, *, max_tokens: int = 700, time_limit: float = 120.0, weak: bool | None = None
    ) -> None:
        chat = chat_model(model)
        self.limits = ModelLimits.of(chat, max_tokens, weak=weak)
        self.caller = ModelCaller(chat, "extract", time_limit=time_limit, plain=self.limits.weak)

    def invoke(self, input: Judged, config: RunnableConfig | None = None, **kwargs: Any) -> Extraction:
        """Distil lessons. A model that fails or gives no usable reply gives no lessons, and raises nothing."""
        return self.caller.run(self.dialogue(input), config)

    async def ainvoke(self, input: Judged, config: RunnableConfig | None = None, **kwargs: Any) -> Extraction:
        """Async form of `invoke`."""
        return await self.caller.arun(self.dialogue(input), config)

    def dialogue(self, judged: Judged) -> Dialogue[Extraction]:
        """Return the dialogue about one attempt; with an indeterminate verdict it asks nothing."""
        attempt, verdict = judged
        if verdict.status == "indeterminate":
            return Extraction([], "indeterminate")
        if not self.limits.learns_from([verdict.status]):
            return Extraction([], "weak_model")
        room, weak = self.limits.room, self.limits.weak
        if weak and has_formula(attempt):
            formula = yield from ask_formula(attempt, self.limits)
            if formula.items or formula.reason == "error" or self.limits.is_tiny:
                return formula
        rationale = clean_line(verdict.rationale) or "no reason was given"
        if verdict.status == "failure" and attempt.reference:
            right = clean_line(attempt.reference)[:_REFERENCE]
            rationale = f"{rationale.rstrip('.')}. The right answer, which no lesson may name: {right}"
        question = (self.limits.tip if weak else prompts.EXTRACT_USER).format(
            task=task_block(attempt, room.task),
            trajectory=trajectory_block(attempt, room.trajectory),
            answer=answer_block(attempt, room.answer),
            status=verdict.status,
            rationale=rationale,
            question=prompts.EXTRACT_SUCCESS if verdict.status == "success" else prompts.EXTRACT_FAILURE,
            max_items=ITEMS_PER_ATTEMPT,
        )
        prompt = [SystemMessage(prompts.TIP_SYSTEM if weak else prompts.EXTRACT_SYSTEM), HumanMessage(question)]
        return (yield from ask_lessons([attempt], prompt, self.limits, 1 if weak else ITEMS_PER_ATTEMPT))
