"""A judge that compares with the known answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.chat.threads import is_plain
from reasoningbank_langgraph.errors import JudgeError, ScriptError
from reasoningbank_langgraph.judges.base import Judge, failed_assertion, is_bool
from reasoningbank_langgraph.math_answers import equivalent, extract_answer
from reasoningbank_langgraph.records import Attempt, Verdict

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig


class ReferenceJudge(Judge):
    """Compares the attempt's final answer with its reference.

    Args:
        check: `check(reference, answer) -> bool`, where `answer` is the attempt's whole answer text. The default is
            for math: the last boxed (or otherwise marked) answer, compared by value; several boxes that form a list
            count as one.

    A task without a reference is `indeterminate` (`no_evidence`).

    An `assert` that fails inside the check is a failure of the attempt.

    Raises:
        TypeError: the check is async or no function (here), or returns something else than a bool (when run).
    """

    def __init__(self, check: Callable[[str, str], bool] | None = None) -> None:
        if check is not None and not is_plain(check):
            raise TypeError(f"check must be a plain function of the reference and the answer, got {check!r:.80}")
        self.check = check

    def invoke(self, input: Attempt, config: RunnableConfig | None = None, **kwargs: Any) -> Verdict:
        """Judge one attempt."""
        if input.reference is None or not input.reference.strip():
            return _no_evidence("the task has no reference answer (`reference`, a channel of the graph's state)")
        if input.answer is None or not input.answer.strip():
            return _no_evidence("the attempt gave no answer")
        if self.check is None:
            return _compare_math(input.reference, input.answer)
        try:
            right = self.check(input.reference, input.answer)
        except ScriptError:
            raise
        except AssertionError as error:
            return _verdict(False, failed_assertion(error))
        if not is_bool(right):
            raise JudgeError(f"check must return True or False, it returned {right!r:.80}")
        return _verdict(bool(right), "compared with the reference answer")


def _compare_math(reference: str, reply: str) -> Verdict:
    found = extract_answer(reply)
    if found.reason == "truncated":
        return _verdict(False, "the attempt breaks off before a final answer")
    if found.reason == "empty":
        return _verdict(False, "nothing stands where the final answer should")
    answer = reply if found.text is None else found.text
    if equivalent(reference, answer):
        return _verdict(True, f"the final answer {answer!r:.80} is right")
    marked = "" if found.text is not None else " (no final answer is marked)"
    return _verdict(False, f"the final answer {answer!r:.80} is wrong{marked}")


def _verdict(right: bool, rationale: str) -> Verdict:
    return Verdict(status="success" if right else "failure", confidence=1.0, rationale=rationale, judge="reference")


def _no_evidence(rationale: str) -> Verdict:
    return Verdict(status="indeterminate", reason="no_evidence", rationale=rationale, judge="reference")
