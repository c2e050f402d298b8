"""A verdict from what a tool said, for example the tool that runs the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.chat.threads import is_plain
from reasoningbank_langgraph.judges.base import Decision, Judge, as_verdict, verdict_on_error
from reasoningbank_langgraph.records import Attempt, Verdict

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from reasoningbank_langgraph.messages import Message

ToolCheck = Callable[[str], "Decision | None"]
"""From the text of a tool's result to a verdict, or True for success and False for failure; None for no opinion."""


class ToolResultJudge(Judge):
    """Judges by the results of tools: those of the last step of the agent that called the tool.

    One result that is a failure makes the attempt one. A result that is the tool's own error says nothing, and without
    a result the verdict is `indeterminate` (`no_evidence`).

    Args:
        checks: for each tool by its name, what its result says of the attempt.

    Raises:
        TypeError: a check is not a plain function (here), or returns something else (`JudgeError`, when run).
    """

    def __init__(self, checks: Mapping[str, ToolCheck]) -> None:
        for tool, check in checks.items():
            if not is_plain(check):
                raise TypeError(f"verdict_from[{tool!r}] must be a plain function of the tool's result, got {check!r}")
        self.checks = dict(checks)

    def invoke(self, input: Attempt, config: RunnableConfig | None = None, **kwargs: Any) -> Verdict:
        """Judge one attempt."""
        verdicts = [self._verdict(tool, result) for tool in self.checks for result in _last_results(input, tool)]
        decided = {verdict.status: verdict for verdict in verdicts if verdict is not None}
        for status in ("failure", "success", "indeterminate"):
            if status in decided:
                return decided[status]
        rationale = f"no tool gave a result that says whether it is solved: {', '.join(self.checks)}"
        return Verdict(status="indeterminate", reason="no_evidence", rationale=rationale, judge="tool")

    def _verdict(self, tool: str, result: Message) -> Verdict | None:
        name = f"tool:{tool}"
        try:
            decision = self.checks[tool](result.text)
        except AssertionError as error:
            return verdict_on_error(name, error)
        if decision is None:
            return None
        verdict = as_verdict(name, decision)
        said = verdict.rationale or f"{tool} said: {result.text[:500]}"
        return verdict.model_copy(update={"rationale": said, "judge": verdict.judge or name})


def _last_results(attempt: Attempt, tool: str) -> Iterator[Message]:
    """Yield the results of the last message that called the tool; several calls in it count alike."""
    for place, message in reversed(list(enumerate(attempt.messages))):
        called = {str(call["id"]) for call in message.tool_calls if call.get("name") == tool}
        if called:
            results = attempt.messages[place + 1 :]
            yield from (one for one in results if one.tool_call_id in called and one.status != "error")
            return
