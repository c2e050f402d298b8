"""Where an attempt begins and ends in a graph's state, and what it contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from reasoningbank_langgraph.errors import InvalidTaskError
from reasoningbank_langgraph.messages import content_text, to_messages
from reasoningbank_langgraph.records import TASK_CAP, Attempt, Verdict, has_visible_text, task_key, utc_now
from reasoningbank_langgraph.records.usage import add_counts
from reasoningbank_langgraph.state.channels import Earlier, Given
from reasoningbank_langgraph.state.lineage import micros, next_line
from reasoningbank_langgraph.state.schema import ChannelNames, StartedAttempt
from reasoningbank_langgraph.text import without_memories

RECALLED = "reasoningbank"
"""The artifact of a tool's result holds under this name the lessons it showed (`RetrievedMemory` as JSON)."""
_ANY = TypeAdapter(Any)
_LABEL = 200
"""Characters of a model's name."""


def read_task(state: Mapping[str, Any], names: ChannelNames) -> str:
    """Return the task text: the channel's text or, if it holds messages, the user's last message.

    If the run's input has no task but a message, as in a chat, the user's newest message is the task.

    Raises:
        InvalidTaskError: it is missing, blank, too long or not text.
    """
    value = names.read("task", state)
    if value is None or isinstance(value, Earlier) or _is_left_over(value, state, names):
        newest = _newest(conversation(state, names), state)
        value = str(value) if newest is None and _is_resumed(value, state, names) else newest
    elif isinstance(value, Sequence) and not isinstance(value, str):
        value = _newest(list(value), state)
    elif hasattr(value, "content"):
        value = content_text(value.content)
    if value is None or (isinstance(value, str) and not has_visible_text(value)):
        raise InvalidTaskError(
            f"the task is empty: put its text into {names.task!r} (the `task` argument names it), or a new message of "
            f"the user into {names.messages!r}; invoke(None, ...) goes on with a run that was broken off"
        )
    if not isinstance(value, str):
        raise InvalidTaskError(f"the task must be text, got {type(value).__name__}: {value!r:.80}")
    if len(value) > TASK_CAP:
        raise InvalidTaskError(f"the task has {len(value)} characters and may have {TASK_CAP}: shorten it")
    return value


def _is_resumed(value: Any, state: Mapping[str, Any], names: ChannelNames) -> bool:
    """Say whether an earlier run's task is that of the run which goes on: no attempt at it has begun, nor an answer.

    LangGraph also ends the channels of a run that waits, for a person say, while it has sends to carry out.
    """
    if not isinstance(value, Earlier):
        return False
    if before := state.get("attempt"):
        return bool(value != before["task"])
    return all(message.role != "assistant" for message in to_messages(conversation(state, names)))


def _is_left_over(value: Any, state: Mapping[str, Any], names: ChannelNames) -> bool:
    """Say whether a task is left over from an interrupted run and the user has said something new since."""
    before = state.get("attempt") or {}
    unfinished = isinstance(names.task, str) and _may_be_of(before, value) and value == before["task"]
    said = _newest(conversation(state, names), {"attempt": {**before, "over": 0}}) if unfinished else None
    return said is not None and task_key(said) != before.get("start_key")  # else the same input was given again


def _may_be_of(before: Mapping[str, Any], value: Any) -> bool:
    """Say whether a value may have come with an attempt whose run has not ended: it was not given since."""
    return before.get("over", 0) is None and not (before.get("found") and isinstance(value, Given))


def _newest(messages: Sequence[Any], state: Mapping[str, Any]) -> str | None:
    """Return the user's last message; after a finished run, only if nothing has answered it."""
    entries, before = to_messages(messages), state.get("attempt") or {}
    places = [place for place, message in enumerate(entries) if message.role == "user"]
    if not places:
        return None
    last = places[-1]
    if before.get("over") is not None:
        answered = any(message.role == "assistant" for message in entries[last:])
        if answered or _started_with(before, last, getattr(messages[last], "id", None), entries[last].text):
            return None
    return entries[last].text


def _started_with(before: Mapping[str, Any], place: int, name: str | None, text: str) -> bool:
    """Say whether an attempt began with this message; a message without an id is known by its place and text."""
    if name or before["start_id"]:
        return bool(name == before["start_id"])
    key = task_key(text)
    return (place, key) == (before["start"], before.get("start_key", key))


def start_attempt(
    state: Mapping[str, Any], names: ChannelNames, began: datetime | None = None, *, newest: bool = False
) -> StartedAttempt:
    """Return what the later nodes need to know of an attempt that begins now (JSON data).

    The user's message that asks for it is part of it; messages and an answer left over from an earlier task are not.
    """
    task = read_task(state, names)
    messages = conversation(state, names)
    entries, answer = to_messages(messages), names.read("answer", state)
    roles = [message.role for message in entries]
    resumed = _is_resumed(given := names.read("task", state), state, names) and given == task
    start = _start(roles, first=not state.get("attempt"))
    reference = _input_value("reference", state, task, resumed=resumed)
    ids = [getattr(message, "id", None) for message in messages]
    began = began or utc_now()
    line = next_line(state, began, answer, messages, newest=newest).record()
    return {
        "task": task,
        "task_id": str(_input_value("task_id", state, task, resumed=resumed) or task_key(task)),
        "reference": None if reference is None else str(reference),
        "start": start,
        "start_id": ids[start] if start < len(ids) else None,
        "start_key": task_key(entries[start].text) if start < len(entries) else None,
        "messages_before": len(roles),
        "last_id": ids[-1] if ids else None,
        "line": line["line"],
        "origin": line["origin"],
        "after": line["after"],
        "began": micros(began),
        "answer_before": None if str(names.answer) in stale_channels(state, names) else _text(answer),
    }


def _input_value(name: str, state: Mapping[str, Any], task: str, *, resumed: bool) -> Any:
    """Return the value that came with the task, or None if an earlier or interrupted run left it for another task."""
    value, before = state.get(name), state.get("attempt") or {}
    broken_off = _may_be_of(before, value) and before["task"] != task and str(value) == before[name]
    return None if broken_off or (isinstance(value, Earlier) and not resumed) else value


def task_update(state: Mapping[str, Any], names: ChannelNames, attempt: StartedAttempt) -> dict[str, str]:
    """Return the update that puts a task that came as a message into the task's channel, for the solver to read."""
    if not isinstance(names.task, str) or names.task == names.messages or names.read("task", state) == attempt["task"]:
        return {}
    current = state.get(names.task)
    return {names.task: attempt["task"]} if current is None or isinstance(current, str) else {}


def stale_channels(state: Mapping[str, Any], names: ChannelNames) -> dict[str, None]:
    """Return the update that clears the answer, id and reference of an earlier task.

    On the first task of a thread there is no earlier one: these values came with the input.
    """
    stale = state.get("attempt") and isinstance(names.answer, str) and isinstance(state.get(names.answer), str)
    left = [name for name in ("task_id", "reference") if isinstance(state.get(name), Earlier)]
    return dict.fromkeys([*left, *([str(names.answer)] if stale else [])])


def _start(roles: Sequence[str], *, first: bool) -> int:
    """Return the index of the first message of an attempt that begins after these messages."""
    if "user" not in roles or (roles[-1] != "user" and not first):
        return len(roles)
    return len(roles) - 1 - roles[::-1].index("user")


def attempt_of(state: Mapping[str, Any], names: ChannelNames) -> Attempt:
    """Return the attempt in the state, from its beginning to now."""
    started = state.get("attempt") or _finished(state, names)
    raw = conversation(state, names)
    start, new = _places(raw, started)
    shown = [*(state.get("memories") or ()), *recalled_lessons(raw[start:])]
    return Attempt(
        task=started["task"],
        task_id=started["task_id"],
        messages=[without_lessons(message) for message in raw[start:]],
        answer=_answer(names.read("answer", state), started, raw[new:]),
        reference=started["reference"],
        memories={memory["item"]["id"]: memory for memory in shown}.values(),
        examples=state.get("memory_examples") or (),
        usage=_usage(raw[start:]),
    )


def given_verdict(state: Mapping[str, Any]) -> Verdict | None:
    """Return the verdict that came with the attempt, if one did."""
    given = (state.get("attempt") or {}).get("verdict")
    return Verdict(**given) if given else None


def structured_answer(state: Mapping[str, Any]) -> str | None:
    """Return the structured response of an agent as text; None without one, and the last message is the answer."""
    response = state.get("structured_response")
    return None if response is None else _ANY.dump_json(response, fallback=str).decode()


def recalled_lessons(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the lessons that an agent asked a tool for (`RetrievedMemory` as JSON)."""
    artifacts = [getattr(message, "artifact", None) for message in messages]
    known = [artifact for artifact in artifacts if isinstance(artifact, Mapping)]
    return [memory for artifact in known for memory in artifact.get(RECALLED) or ()]


def without_lessons(message: Any) -> Any:
    """Return a message without the lessons it shows: they are no step, and their fence differs in every run."""
    if lessons := recalled_lessons([message]):
        return message.model_copy(update={"content": without_memories(content_text(message.content), lessons)})
    return message


def is_empty(attempt: Attempt) -> bool:
    """Say whether an attempt left nothing to judge: no answer and no message of the model."""
    answered = attempt.answer is not None and attempt.answer.strip()
    return not answered and all(message.role != "assistant" for message in attempt.messages)


def _finished(state: Mapping[str, Any], names: ChannelNames) -> StartedAttempt:
    """Return what `retrieve` would have recorded of a conversation that came in whole: its last task and the reply."""
    started, raw = start_attempt(state, names), conversation(state, names)
    start = started["start"] if started["start"] < len(raw) else -1  # nobody asked: all of it answers
    return {**started, "start": max(start, 0), "last_id": None, "messages_before": start + 1, "answer_before": None}


def messages_of(state: Mapping[str, Any], names: ChannelNames) -> list[Any]:
    """Return the messages of the attempt in the state, unchanged."""
    raw = conversation(state, names)
    return raw[_places(raw, state.get("attempt") or _finished(state, names))[0] :]


def solving_model(state: Mapping[str, Any], names: ChannelNames) -> str:
    """Return the model that solved, as the last reply that names it does (`response_metadata`), or ""."""
    return model_of(messages_of(state, names))


def model_of(messages: Sequence[Any]) -> str:
    """Return the model that the last of these messages names which names one, or ""."""
    for message in reversed(messages):
        told = getattr(message, "response_metadata", None) or {}
        if name := told.get("model_name") or told.get("model"):
            return str(name)[:_LABEL]
    return ""


def conversation(state: Mapping[str, Any], names: ChannelNames) -> list[Any]:
    """Return the messages unchanged, as a list; a single message, text for example, counts as one."""
    value = names.read("messages", state) or []
    alone = isinstance(value, (str, Mapping)) or hasattr(value, "content")
    return [value] if alone else list(value)


def _places(raw: Sequence[Any], started: StartedAttempt) -> tuple[int, int]:
    """Return the index of the attempt's first message and that of the first message after it began.

    A solver may have shortened the history meanwhile. Then the ids decide; if they are gone, every message is new.
    """
    if started.get("last_id") is None:
        known = len(raw) >= started["messages_before"]
        return (started["start"], started["messages_before"]) if known else (0, 0)
    ids = [getattr(message, "id", None) for message in raw]
    new = ids.index(started["last_id"]) + 1 if started["last_id"] in ids else 0
    return (ids.index(started["start_id"]) if started["start_id"] in ids[:new] else new), new


def _answer(value: Any, started: StartedAttempt, new: Sequence[Any]) -> str | None:
    """Return the answer channel, unless it still holds the answer to an earlier task; else the model's last message."""
    answer = _text(value)
    replies = [message.text for message in to_messages(new) if message.role == "assistant" and message.text.strip()]
    if answer is not None and (answer != started["answer_before"] or not replies):
        return answer
    return replies[-1] if replies else None


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "content"):
        return content_text(value.content)
    return str(value)


def _usage(messages: Sequence[Any]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for message in messages:
        add_counts(totals, getattr(message, "usage_metadata", None) or {})
    return totals
