"""A lesson, where it comes from, and a lesson as it was retrieved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self
from uuid import uuid4

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from reasoningbank_langgraph.errors import BlankFieldError, FieldTooLongError
from reasoningbank_langgraph.messages import Text
from reasoningbank_langgraph.records.base import Count, Record, Score, UtcDatetime, utc_now
from reasoningbank_langgraph.records.tasks import has_visible_text, task_key

TITLE_CAP, DESCRIPTION_CAP, CONTENT_CAP = 200, 500, 4000
ITEMS_PER_ATTEMPT, ITEMS_PER_GROUP = 3, 5
NEVER_OUT: Mapping[str, Any] = {"overturned": None, "disproved": None, "pruned": 0}
"""What says how a lesson went out of use, and so what may bring it back, of one that never was."""
TASK_CAP = 100_000

Outcome = Literal["success", "failure", "contrast"]
"""What a lesson was learned from. `success`: an attempt that worked; `failure`: an attempt that did not;
`contrast`: several rollouts of a task, compared with each other."""
ItemStatus = Literal["active", "superseded", "quarantined"]
"""Whether a lesson is retrieved. `active`: it is; `superseded`: it is not, because another lesson took its place;
`quarantined`: it is not, because it was set aside."""


def without_empty(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the fields of a record, without those that older versions do not know if they say nothing."""
    return {key: value for key, value in fields.items() if key not in names or value}


class Provenance(Record):
    """Where an item comes from: the run that wrote it and what that run had read."""

    thread_id: str | None = None
    checkpoint_ns: str = ""
    checkpoint_id: str | None = None
    task_id: str | None = None
    """LangGraph's id of the node execution that minted the item."""
    run_id: str | None = None
    judge: str = ""
    model: str = ""
    prompt_hash: str = ""
    memory_ids_used: tuple[str, ...] = ()
    attempt_digest: str = ""
    """Content identity of the attempt: equal when the same attempt is replayed."""
    origin: str = ""
    """Id of the first attempt in the history of the thread, if it is known."""
    line: tuple[tuple[str, int, int | str | None], ...] = ()
    """The attempts up to this one, each with id, begin and end (microseconds since 1970; if the next one began before
    the end, a digest of what it had done). Tells branches of a thread apart; empty if there was no `retrieve`."""
    after: str | None = None
    """What came before these: nothing (""), the attempt that wrote the item with this id, or more than is kept."""


class Utility(Record):
    """What attempts at one task, some with an item and some without any, say of the item."""

    used: Count = 0
    """Attempts that were shown it, of those that were compared."""
    helped: Count = 0
    """Pairs in which only the attempt with it was right."""
    hurt: Count = 0
    """Pairs in which only the attempt without it was right."""
    ties: Count = 0
    """Pairs in which both were right, or neither."""

    @model_serializer(mode="wrap")
    def _as_older_versions_read_it(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_empty(serialise(self), "ties")


class MemoryItem(Record):
    """One lesson: the paper's title, description and content, and the facts needed to trust or remove it."""

    caps: ClassVar[Mapping[str, int]] = {
        "title": TITLE_CAP,
        "description": DESCRIPTION_CAP,
        "content": CONTENT_CAP,
        "task": TASK_CAP,
    }

    id: str = Field(default_factory=lambda: str(uuid4()), min_length=1)
    title: Text
    description: Text
    content: Text
    outcome: Outcome
    task: Text
    """Text of the task the lesson was learned on."""
    task_id: str = Field(default_factory=lambda data: task_key(data.get("task", "")))
    experience_id: str = Field(default_factory=lambda data: data.get("id", ""))
    """One attempt, or one MaTTS group: the items that were learned together."""
    tags: tuple[str, ...] = ()
    scope: str | None = None
    difficulty: str | None = None
    verifier_score: Score | None = None
    valid_until: UtcDatetime | None = None
    status: ItemStatus = "active"
    retired_at: UtcDatetime | None = None
    """When it stopped being active."""
    supersedes: tuple[str, ...] = ()
    """Ids of the lessons whose place it took."""
    redistil_run: str = ""
    """The run of `MemoryBank.redistil` that made it; empty for a lesson of the first distillation."""
    near: str = ""
    """Id of a lesson that says nearly the same, and stands for all that do; a search shows one of them."""
    contradicts: tuple[str, ...] = ()
    """Ids of older lessons for the same situation that give opposite advice, in the opinion of a model."""
    overturned: Outcome | None = None
    """The verdict it was learned under, if another one took it out of use; an equal one brings it back."""
    disproved: Outcome | None = None
    """The same, if it was out of use already: no undo brings it back then."""
    later_verdict: Outcome | None = None
    """The verdict it was learned under, if that one overturned another."""
    pruned: Count = 0
    """When a pruning last took it out of use, in microseconds since 1970."""
    provenance: Provenance = Provenance()
    utility: Utility = Utility()
    """Filled in when a bank is read. A bank keeps it apart from its lessons, and writes and imports none."""
    created_at: UtcDatetime = Field(default_factory=utc_now)
    updated_at: UtcDatetime = Field(default_factory=lambda data: data.get("created_at") or utc_now())

    @model_serializer(mode="wrap")
    def _as_older_versions_read_it(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_empty(serialise(self), "redistil_run", "near", "contradicts", "later_verdict", *NEVER_OUT)

    @model_validator(mode="after")
    def _within_caps(self) -> Self:
        for field, cap in self.caps.items():
            text: str = getattr(self, field)
            if not has_visible_text(text):
                raise BlankFieldError("MemoryItem", field)
            if len(text) > cap:
                raise FieldTooLongError("MemoryItem", field, len(text), cap)
        return self


class RetrievedMemory(Record):
    """One item as it was retrieved for a task."""

    item: MemoryItem
    score: float | None = None
    """Similarity of the experience to the task, 0..1; None if the store does not score."""
    why: str = ""
