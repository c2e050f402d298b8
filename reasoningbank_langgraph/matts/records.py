"""One rollout as a record, and the channels the rollouts of a task are gathered in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from reasoningbank_langgraph.chat.refusals import kind_of_failure
from reasoningbank_langgraph.extraction import Judged
from reasoningbank_langgraph.messages import Message, Text
from reasoningbank_langgraph.records import Attempt, Count, FailureKind, Record, Verdict
from reasoningbank_langgraph.records.usage import Usage
from reasoningbank_langgraph.state import LoopState
from reasoningbank_langgraph.state.channels import Latest
from reasoningbank_langgraph.text import redact_secrets


class Failure(Record):
    """An error as it is recorded: its type and what it said, without secrets."""

    type: str
    message: Text
    kind: FailureKind = "other"

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Return the record of an error."""
        message = redact_secrets(_error_text(error)[:2_000]).text
        return cls(type=type(error).__name__, message=message, kind=kind_of_failure(error))

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


def _error_text(error: BaseException) -> str:
    """What an error says, those of a group with their causes; one that cannot say it, and that must not end the run."""
    try:
        text = str(error)
    except Exception as other:  # noqa: BLE001 - the text of a foreign error is foreign code
        return f"(its text could not be read: {type(other).__name__})"
    causes = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return "; ".join([text, *(f"{type(cause).__name__}: {_error_text(cause)}" for cause in causes)])


class Rollout(Record):
    """One attempt at the task among several."""

    number: Count
    temperature: float | None = None
    """What the solver was told, None for its own: a solver that does not pass it on samples as it always does."""
    seed: int = 0
    shown: tuple[str, ...] = ()
    """Ids of the lessons and examples the solver was shown; none where it ran without memory."""
    answer: Text | None = None
    messages: tuple[Message, ...] = ()
    """The trajectory, with the notes of every check."""
    verdict: Verdict | None = None
    checks: Count = 0
    """How often the answer was checked."""
    error: Failure | None = None
    """Why the rollout did not come to an end."""
    check_error: Failure | None = None
    """Why the last check did not: the answer before it counts."""
    usage: Mapping[str, int] = Field(default_factory=dict)
    """Tokens of all model calls of the rollout, judge included: `input_tokens, output_tokens, total_tokens`."""
    steps: Usage = Field(default_factory=dict)
    """The same by step: `judge` and `check` are memory's own, and `solve` is the solver's."""
    seconds: float = 0.0

    @property
    def judged(self) -> bool:
        """Whether there is a verdict to learn from."""
        return self.verdict is not None and self.verdict.status != "indeterminate"


def rollouts_of(state: Mapping[str, Any]) -> list[Rollout]:
    """Return the rollouts of the task at hand, in order."""
    return [Rollout(**entry) for entry in state.get("rollouts") or []]


def attempt_of_rollout(state: Mapping[str, Any], rollout: Rollout) -> Attempt:
    """Return a rollout as an attempt at the state's task."""
    attempt = state["attempt"]
    return Attempt(
        task=attempt["task"],
        task_id=attempt["task_id"],
        messages=rollout.messages,
        answer=rollout.answer,
        reference=attempt["reference"],
        memories=[memory for memory in state.get("memories") or () if memory["item"]["id"] in rollout.shown],
        examples=[each for each in state.get("memory_examples") or () if each["episode"]["id"] in rollout.shown],
        usage=rollout.usage,
    )


def judged_rollout(state: Mapping[str, Any], rollout: Rollout) -> Judged:
    """Return a rollout as an attempt with its verdict; one that was never judged is indeterminate."""
    unjudged = Verdict(status="indeterminate", reason="no_evidence", rationale="not judged", judge="none")
    return Judged(attempt_of_rollout(state, rollout), rollout.verdict or unjudged)


def add_rollouts(old: list[dict[str, Any]] | None, new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add rollouts, each number once; an empty list begins anew."""
    numbered = {entry["number"]: entry for entry in [*(old or []), *new]} if new else {}
    return [numbered[number] for number in sorted(numbered)]


def add_entries(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """Add entries; an empty mapping begins anew."""
    return {**(old or {}), **new} if new else {}


class MattsState(LoopState, total=False):
    """State of the graph that scales one task."""

    rollouts: Annotated[list[dict[str, Any]], add_rollouts]
    """`Rollout` as JSON, in order of their numbers; emptied when a task begins."""
    credit: Annotated[dict[str, Any] | None, Latest]
    """What the rollouts say of the lessons that half of them were shown (`GroupCredit` as JSON), or None."""
    rollout_values: Annotated[dict[str, Any], add_entries]
    """By number: the update each rollout would make to the solver's channels, until one is selected."""
    selection: dict[str, Any] | None
    """Which rollout was selected, by what and why; votes, scores, tokens, and how memory did (`Comparison`)."""
