"""A judged attempt as it is kept beside its lessons: evidence, and material to distil anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from reasoningbank_langgraph.errors import BlankFieldError, FieldTooLongError
from reasoningbank_langgraph.messages import Message, Text
from reasoningbank_langgraph.records.base import Record, Score, UtcDatetime, utc_now
from reasoningbank_langgraph.records.lessons import TASK_CAP, Provenance, without_empty
from reasoningbank_langgraph.records.tasks import has_visible_text, task_key
from reasoningbank_langgraph.records.verdicts import Verdict

SOLUTION_CAP, ANSWER_CAP, RATIONALE_CAP = 8_000, 2_000, 1_000


class Episode(Record):
    """A judged attempt: what was to be done, how it was done, and what the judge said of it.

    Only successes and failures are kept: an indeterminate verdict is no evidence.
    """

    caps: ClassVar[Mapping[str, int]] = {
        "task": TASK_CAP,
        "solution": SOLUTION_CAP,
        "answer": ANSWER_CAP,
        "rationale": RATIONALE_CAP,
    }

    id: str = Field(min_length=1)
    """Made from the content of the attempt: the same attempt has the same id, however often it is replayed."""
    task: Text
    task_id: str = Field(default_factory=lambda data: task_key(data.get("task", "")))
    solution: Text
    """The last message of the model, or the answer where no messages were kept; at most 8,000 characters."""
    steps: tuple[Message, ...] = ()
    """The calls of tools that led there, each with its result; those that failed are left out."""
    cut: bool = False
    """Whether the solution was longer than that, or its steps are not all here."""
    answer: Text = ""
    """At most 2,000 characters."""
    outcome: Literal["success", "failure"]
    score: Score | None = None
    """How sure the judge was."""
    rationale: Text = ""
    """Why it decided so; at most 1,000 characters."""
    earlier: tuple[Verdict, ...] = ()
    """Verdicts that later ones overturned, oldest first."""
    shown: tuple[str, ...] = ()
    """Ids of what the attempt was shown from the bank."""
    model: str = ""
    """The model that solved, as its replies name it; empty where they do not."""
    experience_id: str = Field(default_factory=lambda data: data.get("id", ""))
    """The experience that the lessons of this attempt belong to."""
    lesson_forgotten: bool = False
    """Whether a lesson of it was forgotten: none is made of it anew."""
    provenance: Provenance = Provenance()
    created_at: UtcDatetime = Field(default_factory=utc_now)

    @property
    def messages(self) -> tuple[Message, ...]:
        """What is left of the trajectory: the calls of tools, and the solution as the last message."""
        reply = (Message(role="assistant", content=self.solution),) if self.solution.strip() else ()
        return (*self.steps, *reply)

    @model_serializer(mode="wrap")
    def _as_older_versions_read_it(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_empty(serialise(self), "earlier", "lesson_forgotten", "steps")

    @model_validator(mode="after")
    def _within_caps(self) -> Self:
        for field, cap in self.caps.items():
            if len(text := getattr(self, field)) > cap:
                raise FieldTooLongError("Episode", field, len(text), cap)
        if not has_visible_text(self.task):
            raise BlankFieldError("Episode", "task")
        return self


class RetrievedExample(Record):
    """One episode as it was retrieved for a task, to be shown as a worked example."""

    episode: Episode
    score: float | None = None
    """Similarity of its task to the task at hand, 0..1; None if the store does not score."""
    why: str = ""
