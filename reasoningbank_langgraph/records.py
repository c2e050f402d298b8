"""The records that travel through the loop: frozen, JSON in, JSON out.

A record that exists is valid: every cap is checked when it is made, so nothing downstream has to check again.
Invalid values raise `InvalidRecordError` or one of its kinds, never a bare pydantic error.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self
from uuid import uuid4

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from typing_extensions import dataclass_transform

from reasoningbank_langgraph.errors import BlankFieldError, FieldTooLongError, InvalidRecordError
from reasoningbank_langgraph.messages import Message, Text, short_repr, to_messages

TITLE_CAP, DESCRIPTION_CAP, CONTENT_CAP = 200, 500, 4000
ITEMS_PER_ATTEMPT, ITEMS_PER_GROUP = 3, 5
TASK_CAP = 100_000
MARKS_IN_A_ROW = 30

Outcome = Literal["success", "failure", "contrast"]
"""What a lesson was learned from. `success`: an attempt that worked; `failure`: an attempt that did not;
`contrast`: several rollouts of a task, compared with each other."""
ItemStatus = Literal["active", "superseded", "quarantined"]
"""Whether a lesson is retrieved. `active`: it is; `superseded`: it is not, because another lesson took its place;
`quarantined`: it is not, because it was set aside."""
VerdictStatus = Literal["success", "failure", "indeterminate"]
"""What a judge decided. `success`: the task is solved; `failure`: it is not; `indeterminate`: it could not be
decided, and nothing is learned."""
IndeterminateReason = Literal["unparsed", "conflict", "refused", "truncated", "error", "no_evidence"]
"""Why a verdict is indeterminate. `unparsed`: the judge's reply holds no readable verdict; `conflict`: it says two
different things; `refused`: the model refused to judge; `truncated`: the reply broke off; `error`: the call or the
judge itself failed; `no_evidence`: there is no basis for a decision, such as an answer, a reference or agreement."""

Score = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999 in UTC") from None


UtcDatetime = Annotated[AwareDatetime, AfterValidator(_in_utc)]


def normalise_task(task: str) -> str:
    """Return the task with case, width and white space folded: equal results mean the same task."""
    return " ".join(unicodedata.normalize("NFKC", _stream_safe(task)).casefold().split())


def _stream_safe(text: str) -> str:
    """Leave out combining marks after 30 in a row (UAX 15, section 13): sorting longer runs has no bound."""
    if text.isascii():
        return text
    run, kept = 0, []
    for char in text:
        run = run + 1 if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) else 0
        if run <= MARKS_IN_A_ROW:
            kept.append(char)
    return "".join(kept)


def task_key(task: str) -> str:
    """Return a short stable name for a task text; equal for texts that differ in case or spacing only."""
    return hashlib.sha256(normalise_task(task).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


@contextmanager
def _named_errors(record: str) -> Iterator[None]:
    """Turn pydantic's error into one of ours, with the field, the value and the rule in the message."""
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, InvalidRecordError):
            raise cause from None
        field = ".".join(str(part) for part in first["loc"]) or "value"
        raise InvalidRecordError(f"{record}.{field}: {first['msg']}, got {short_repr(first['input'])}") from error


if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
class _NamedErrors(ModelMetaclass):
    """Names the errors of direct construction, so that nested records need no extra Python call."""

    if not TYPE_CHECKING:  # type checkers would take what a metaclass returns for anything at all

        def __call__(cls, *args: Any, **data: Any) -> Any:  # noqa: N805 - of a metaclass
            if args:
                first = next(iter(vars(cls)["__pydantic_fields__"]))
                raise TypeError(f"{cls.__name__} takes its fields by name, as in {cls.__name__}({first}=...)")
            with _named_errors(cls.__name__):
                return super().__call__(**data)


class Record(BaseModel, metaclass=_NamedErrors):
    """Base of all records: frozen, closed to unknown fields, with named errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Make a record from a mapping or another record. Raises `InvalidRecordError`."""
        with _named_errors(cls.__name__):
            return super().model_validate(obj, **options)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Make a record from its JSON text. Raises `InvalidRecordError`."""
        with _named_errors(cls.__name__):
            return super().model_validate_json(json_data, **options)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data: what goes into graph channels and stores."""
        return self.model_dump(mode="json")


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
    """How often an item was shown, and how those attempts ended."""

    used: Count = 0
    helped: Count = 0
    hurt: Count = 0


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
    provenance: Provenance = Provenance()
    utility: Utility = Utility()
    created_at: UtcDatetime = Field(default_factory=utc_now)
    updated_at: UtcDatetime = Field(default_factory=lambda data: data.get("created_at") or utc_now())

    @model_validator(mode="after")
    def _within_caps(self) -> Self:
        for field, cap in self.caps.items():
            text: str = getattr(self, field)
            if not has_visible_text(text):
                raise BlankFieldError("MemoryItem", field)
            if len(text) > cap:
                raise FieldTooLongError("MemoryItem", field, len(text), cap)
        return self


class Verdict(Record):
    """What a judge decided about one attempt, and why."""

    status: VerdictStatus
    confidence: Score | None = None
    rationale: Text = ""
    judge: str = ""
    reason: IndeterminateReason | None = None
    """Why the verdict is indeterminate; None otherwise."""


class RetrievedMemory(Record):
    """One item as it was retrieved for a task."""

    item: MemoryItem
    score: float | None = None
    """Similarity of the experience to the task, 0..1; None if the store does not score."""
    why: str = ""


class Attempt(Record):
    """One pass at one task: what a judge looks at and an extractor learns from."""

    task: Text
    task_id: str = Field(default_factory=lambda data: task_key(data.get("task", "")))
    messages: Annotated[tuple[Message, ...], BeforeValidator(to_messages)] = ()
    """The trajectory, as plain records. LangChain messages, `(role, content)` pairs and dicts are converted."""
    answer: Text | None = None
    reference: Text | None = None
    """The known right answer, for judges that compare; it is never shown to a model."""
    memories: tuple[RetrievedMemory, ...] = ()
    usage: Mapping[str, int] = Field(default_factory=dict)
    """Tokens of the attempt: `input_tokens, output_tokens, total_tokens`."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            task: str,
            task_id: str = ...,
            messages: Iterable[Any] = ...,
            answer: str | None = ...,
            reference: str | None = ...,
            memories: Iterable[RetrievedMemory] = ...,
            usage: Mapping[str, int] = ...,
        ) -> None: ...

    def digest(self, thread_id: str | None) -> str:
        """Return the content identity of this attempt within one thread (32 hexadecimal digits)."""
        parts: Sequence[str] = [thread_id or "", self.task_id, normalise_task(self.task), self.answer or ""]
        whole = hashlib.sha256()
        for part in [*parts, *(message.identity_json() for message in self.messages)]:
            whole.update(part.encode("utf-8", "surrogatepass") + b"\x00")
        return whole.hexdigest()[:32]


def has_visible_text(text: str) -> bool:
    """Say whether a reader would see anything: more than spaces, controls and invisible characters."""
    return any(unicodedata.category(char)[0] not in "CZ" and char not in _INVISIBLE for char in text)


_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {chr(c) for c in range(0xFE00, 0xFE10)}
