"""An attempt that waits in the bank: for a verdict from outside, or for a model that could not be reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from reasoningbank_langgraph.errors import BlankFieldError, FieldTooLongError
from reasoningbank_langgraph.messages import Message, Text
from reasoningbank_langgraph.records.base import Record, UtcDatetime, utc_now
from reasoningbank_langgraph.records.lessons import TASK_CAP, Provenance, without_empty
from reasoningbank_langgraph.records.tasks import has_visible_text, task_key
from reasoningbank_langgraph.records.usage import Usage
from reasoningbank_langgraph.records.verdicts import Verdict

WaitsFor = Literal["verdict", "model"]
"""What an attempt waits for. `verdict`: for somebody to say whether it succeeded; `model`: only for a model that judges
it, if it has no verdict, and distils lessons from it."""


class KeptAttempt(Record):
    """What is kept of one attempt until it is learned from, without secrets."""

    messages: tuple[Message, ...] = ()
    """The last messages of the trajectory, 16,000 characters in all, and 8,200 of each."""
    answer: Text | None = None
    """At most 8,200 characters."""
    shown: tuple[str, ...] = ()
    """Ids of the lessons and examples it was shown."""
    verdict: Verdict | None = None


class PendingAttempt(Record):
    """An attempt that nothing was learned from so far; `MemoryBank.resolve` takes its id."""

    id: str = Field(min_length=1)
    """Also the id of the episode that it becomes."""
    task: Text
    task_id: str = Field(default_factory=lambda data: task_key(data.get("task", "")))
    reference: Text | None = None
    """The known right answer, for judges that compare."""
    group: tuple[KeptAttempt, ...] = Field(min_length=1)
    """The attempt. Of MaTTS also the other judged rollouts, after the one whose answer was given."""
    waits_for: WaitsFor = "verdict"
    keeps_episodes: bool = True
    """Whether the attempt itself is kept, as an episode, once it is learned from."""
    model: str = ""
    """The model that solved, as its replies name it."""
    trial: Mapping[str, Any] | None = None
    """What a guard decided for the task (`Trial` as JSON)."""
    usage: Usage = Field(default_factory=dict)
    """What the run used, by step."""
    experience_id: str = Field(default_factory=lambda data: data.get("id", ""))
    """The experience that its lessons will belong to."""
    provenance: Provenance = Provenance()
    created_at: UtcDatetime = Field(default_factory=utc_now)

    @property
    def thread_id(self) -> str | None:
        """The thread it belongs to, if there is one."""
        return self.provenance.thread_id

    @property
    def answer(self) -> str | None:
        """The answer that was given."""
        return self.group[0].answer

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on it, if only the lessons are missing."""
        return self.group[0].verdict

    @model_serializer(mode="wrap")
    def _as_older_versions_read_it(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_empty(serialise(self), "usage")

    @model_validator(mode="after")
    def _has_a_task(self) -> Self:
        if not has_visible_text(self.task):
            raise BlankFieldError("PendingAttempt", "task")
        if len(self.task) > TASK_CAP:
            raise FieldTooLongError("PendingAttempt", "task", len(self.task), TASK_CAP)
        return self
