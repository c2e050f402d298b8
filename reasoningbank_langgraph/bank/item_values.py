"""How a lesson or an episode is laid out in a store: its record as JSON, and the fields that searches use."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from langgraph.store.base import PutOp, SearchOp

from reasoningbank_langgraph.errors import InvalidRecordError, StoreCorruptedError
from reasoningbank_langgraph.messages import length_as_json, to_messages, with_texts
from reasoningbank_langgraph.namespaces import bank_of
from reasoningbank_langgraph.records import (
    Episode,
    MemoryItem,
    PendingAttempt,
    Utility,
    has_visible_text,
    normalise_task,
    task_key,
    utc_now,
)
from reasoningbank_langgraph.text import redact_secrets
from reasoningbank_langgraph.text.fencing import cut
from reasoningbank_langgraph.text.visible import without_invisible

if TYPE_CHECKING:
    from langgraph.store.base import Item, Op

Match = Literal["both", "task", "lesson"]
"""What a task is compared with. `task`: the task a lesson was learned on, as in the paper; `lesson`: its title and
description; `both`: both of these, where the nearer one counts."""
Kept = TypeVar("Kept", MemoryItem, Episode, PendingAttempt)
Known = TypeVar("Known", MemoryItem, Episode)

Namespace = tuple[str, ...]

NEVER = 9_999_999_999_999_999
"""A time in the far future, in microseconds since 1970; as many digits as now, for stores that compare as text."""
_FIRST = 1_000_000_000_000_000
MATCHED_CHARS = 2_000
"""How much of a task is embedded; embedders cut or refuse long texts."""
EXAMPLE_CHARS = 6_000
"""Characters of an example, task and solution; as many as the lessons before a task may have."""
OVERTURNED, LATER, DISPROVED = "overturned", "later_verdict", "disproved"
"""Fields of lessons whose attempt was judged anew. `overturned`: the verdict a superseded one was learned under;
`later_verdict`: the one that a lesson learned after it belongs to."""
_FIELDS = {kind: tuple(kind.model_fields) for kind in (MemoryItem, Episode, PendingAttempt)}
TASK_VECTOR = "query"
"""The field whose vector is that of the task; one item of each experience carries it."""


def task_key_without_secrets(task: str) -> str:
    """Return the key of a task, made from its text without secrets, as the bank holds it."""
    return _key(redact_secrets(task).text)


def _key(task: str) -> str:
    """Return the key of a task; what a reader cannot see makes no other task of it."""
    return task_key(without_invisible(" ".join(task.split())))


def without_secrets(record: Known) -> Known:
    """Return a lesson or an episode as a bank may hold it: its texts contain no secret and stay within their caps."""
    texts: dict[str, Any] = {
        field: cut(redact_secrets(getattr(record, field)).text, cap) for field, cap in record.caps.items()
    }
    if isinstance(record, MemoryItem):
        texts["tags"] = tuple(redact_secrets(tag).text for tag in record.tags)
    else:
        steps = with_texts([step.model_dump() for step in record.steps], lambda text: redact_secrets(text).text)
        texts["steps"] = to_messages(steps)
    return record.model_copy(update=texts)


def check_match(match: Match) -> Match:
    """Return `match`. Raises `ValueError` if there is no such way to match."""
    if match not in get_args(Match):
        raise ValueError(f"match must be 'both', 'task' or 'lesson', got {match!r}")
    return match


def micros(moment: datetime) -> int:
    """Return a time as stores filter it: microseconds since 1970, at the earliest 2001 so that all have 16 digits."""
    return min(NEVER - 1, max(_FIRST, round(moment.timestamp() * 1_000_000)))


def matched_text(task: str) -> str:
    """Return the text of a task that is embedded, for writing and for searching."""
    return " ".join(task.split())[:MATCHED_CHARS]


def lesson_text(item: MemoryItem) -> str:
    """Return the text of a lesson that is embedded."""
    return f"{item.title}. {item.description}"


def content_key(item: MemoryItem) -> str:
    """Return what lessons have in common that say the same: texts, outcome, tags, scope and difficulty."""
    texts = [item.title, item.description, item.content, *sorted(item.tags), item.scope or "", item.difficulty or ""]
    said = "\x1f".join([item.outcome, *map(normalise_task, texts)])
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def tag_field(tag: str) -> str:
    """Return the field that rows with a tag have: stores filter by equal fields, and some refuse other letters."""
    return f"tag_{hashlib.sha256(normalise_task(tag).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def put(item: MemoryItem, namespace: Namespace, match: Match, *, carries_task_vector: bool, **more: Any) -> PutOp:
    """Return the operation that writes an item for the first time, with further fields of its row."""
    lesson = ["lesson"] if match != "task" else []
    index = [*([TASK_VECTOR] if carries_task_vector and match != "lesson" else []), *lesson]
    return PutOp(namespace, item.id, {**_row(item, namespace), **more, "index": index}, index or False)


def put_episode(episode: Episode, namespace: Namespace, **more: Any) -> PutOp:
    """Return the operation that writes an episode, with the vector of its task and further fields of its row."""
    value = {**_common(episode, namespace), "retired": NEVER, "example": "yes" if is_example(episode) else "no"}
    return PutOp(namespace, episode.id, {**value, **more}, [TASK_VECTOR])


def put_pending(attempt: PendingAttempt, namespace: Namespace) -> PutOp:
    """Return the operation that writes an attempt that waits: no search looks for it, so it has no vector."""
    value = {**_common(attempt, namespace), "retired": NEVER, "status": "waiting"}
    return PutOp(namespace, attempt.id, value, index=False)


def is_example(episode: Episode) -> bool:
    """Say whether an episode may be shown: a solution that succeeded and is whole; a cut one teaches to break off."""
    whole = has_visible_text(episode.solution) and not episode.cut
    length = len(episode.task) + len(episode.solution) + length_as_json(episode.steps)
    return episode.outcome == "success" and whole and length <= EXAMPLE_CHARS


def rewrite(namespace: Namespace, key: str, value: Mapping[str, Any]) -> PutOp:
    """Return the operation that writes a row again, with the vectors that its `index` names."""
    return PutOp(namespace, key, dict(value), list(value["index"]) or False)


def distinct(ops: Sequence[Op]) -> list[Op]:
    """Return a batch that embeds no text twice: equal texts get trailing blanks, which embedders ignore."""
    times: Counter[str] = Counter()
    return [_with_unique_texts(op, times) if isinstance(op, PutOp) and op.value and op.index else op for op in ops]


def _with_unique_texts(op: PutOp, times: Counter[str]) -> PutOp:
    value: dict[str, Any] = dict(op.value or {})
    for field in op.index or ():
        text = value[field].rstrip(" ")
        value[field] = text + " " * times[text]
        times[text] += 1
    return op._replace(value=value)


def delete(item_id: str, namespace: Namespace) -> PutOp:
    """Return the operation that removes an item."""
    return PutOp(namespace, item_id, None)


def find(namespace: Namespace, where: Mapping[str, Any], query: str | None, limit: int, offset: int = 0) -> SearchOp:
    """Return the operation that searches this namespace, and none of those below it."""
    return SearchOp(namespace, {**where, **name_of(namespace)}, limit, offset, query)


def name_of(namespace: Namespace) -> dict[str, str]:
    """Return how a row names its namespace. Older versions take every row that has a `bank` for a lesson."""
    return {"bank" if bank_of(namespace) == namespace else "beside": "/".join(namespace)}


def is_of_verdict(row: Item) -> bool:
    """Say whether a lesson was learned under a verdict that another one overturned, or under that other one."""
    return OVERTURNED in row.value or LATER in row.value


def attempt_of_row(row: Item) -> str:
    """Return what a lesson and an episode of one attempt have in common."""
    return str(row.value["attempt_digest"] or row.value["experience_id"])


def _row(item: MemoryItem, namespace: Namespace) -> dict[str, Any]:
    return {
        **_common(item.model_copy(update={"utility": Utility()}), namespace),
        "lesson": lesson_text(item),
        "content_key": content_key(item),
        **{tag_field(tag): "yes" for tag in item.tags},
        "retired": retired(item.status, item.retired_at),
        "expires": NEVER if item.valid_until is None else micros(item.valid_until),
    }


def _common(record: MemoryItem | Episode | PendingAttempt, namespace: Namespace) -> dict[str, Any]:
    return {
        **name_of(namespace),  # first, where a filter finds it without parsing the row
        **record.to_json(),
        TASK_VECTOR: matched_text(record.task),
        "task_key": _key(record.task),
        "since": micros(utc_now()),
        "thread_id": record.provenance.thread_id or "",
        "run_id": record.provenance.run_id or "",
        "attempt_digest": record.provenance.attempt_digest,
    }


def retired(status: str, moment: datetime | None) -> int:
    """Return the time, as stores filter it, since which an item has not been active."""
    return NEVER if status == "active" else micros(moment or utc_now())


def fields_of(row: Item, names: tuple[str, ...]) -> Mapping[str, Any]:
    """Return those of some fields that a row has; of a `ChromaStore`'s row, nothing else is parsed."""
    read = getattr(row, "fields", None)
    if read is None:
        return {name: row.value[name] for name in names if name in row.value}
    found: Mapping[str, Any] = read(names)
    return found


def source_of(row: Item) -> tuple[str, str]:
    """Return the experience and the outcome of a lesson or an episode. Raises `StoreCorruptedError` for others."""
    found = fields_of(row, ("experience_id", "outcome"))
    try:
        return found["experience_id"], found["outcome"]
    except KeyError as error:
        raise _no_record(row, "a lesson or an episode", error) from error


def to_item(row: Item) -> MemoryItem:
    """Return the lesson a row holds. Raises `StoreCorruptedError` if it holds none."""
    return _record(row, MemoryItem, "a lesson")


def to_episode(row: Item) -> Episode:
    """Return the episode a row holds. Raises `StoreCorruptedError` if it holds none."""
    return _record(row, Episode, "an episode")


def to_pending(row: Item) -> PendingAttempt:
    """Return the attempt a row holds. Raises `StoreCorruptedError` if it holds none."""
    return _record(row, PendingAttempt, "an attempt that waits")


def _record(row: Item, kind: type[Kept], name: str) -> Kept:
    found = fields_of(row, _FIELDS[kind])
    try:
        return kind(**found)
    except (KeyError, TypeError, InvalidRecordError) as error:
        raise _no_record(row, name, error) from error


def _no_record(row: Item, name: str, error: Exception) -> StoreCorruptedError:
    return StoreCorruptedError(f"row {row.key!r} of namespace {row.namespace!r} is not {name}: {error!r:.200}")
