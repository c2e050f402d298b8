"""Where an attempt begins and ends in a graph's state, and what it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reasoningbank_langgraph.errors import InvalidTaskError
from reasoningbank_langgraph.messages import content_text, to_messages
from reasoningbank_langgraph.records import TASK_CAP, Attempt, has_visible_text, task_key
from reasoningbank_langgraph.state import Names


def read_task(state: Mapping[str, Any], names: Names) -> str:
    """Return the task text: the channel's text or, where it holds messages, the last one of the user.

    Raises:
        InvalidTaskError: it is missing, blank, too long or not text.
    """
    value = names.read("task", state)
    if isinstance(value, Sequence) and not isinstance(value, str):
        asked = [message for message in to_messages(value) if message.role == "user"]
        value = asked[-1].text if asked else None
    elif hasattr(value, "content"):
        value = content_text(value.content)
    if value is None or (isinstance(value, str) and not has_visible_text(value)):
        raise InvalidTaskError(f"the task is empty: put its text into {names.task!r} (the `task` argument names it)")
    if not isinstance(value, str):
        raise InvalidTaskError(f"the task must be text, got {type(value).__name__}: {value!r:.80}")
    if len(value) > TASK_CAP:
        raise InvalidTaskError(f"the task has {len(value)} characters and may have {TASK_CAP}: shorten it")
    return value


def begin(state: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Return what the later nodes need to know of an attempt that begins now (JSON data).

    The user's message that asks for it belongs to it; messages and an answer left over from an earlier task do not.
    """
    task = read_task(state, names)
    messages = _conversation(state, names)
    roles = [message.role for message in to_messages(messages)]
    start, reference = _start(roles, first=not state.get("attempt")), state.get("reference")
    ids = [getattr(message, "id", None) for message in messages]
    return {
        "task": task,
        "task_id": str(state.get("task_id") or task_key(task)),
        "reference": None if reference is None else str(reference),
        "start": start,
        "start_id": ids[start] if start < len(ids) else None,
        "messages_before": len(roles),
        "last_id": ids[-1] if ids else None,
        "answer_before": None if forgotten(state, names) else _text(names.read("answer", state)),
    }


def forgotten(state: Mapping[str, Any], names: Names) -> dict[str, None]:
    """Return the update that takes an answer to an earlier task out of its channel, if there is one.

    The first task of a thread has none before it: what stands there came in with the input.
    """
    stale = state.get("attempt") and isinstance(names.answer, str) and isinstance(state.get(names.answer), str)
    return {str(names.answer): None} if stale else {}


def _start(roles: Sequence[str], *, first: bool) -> int:
    """Index of the first message of an attempt that begins after these."""
    if "user" not in roles or (roles[-1] != "user" and not first):
        return len(roles)
    return len(roles) - 1 - roles[::-1].index("user")


def attempt_of(state: Mapping[str, Any], names: Names) -> Attempt:
    """Return the attempt that the state holds, from its beginning to now."""
    begun = state.get("attempt") or begin(state, names)
    raw = _conversation(state, names)
    start, new = _places(raw, begun)
    return Attempt(
        task=begun["task"],
        task_id=begun["task_id"],
        messages=raw[start:],
        answer=_answer(names.read("answer", state), begun, raw[new:]),
        reference=begun["reference"],
        memories=state.get("memories") or (),
        usage=_usage(raw[start:]),
    )


def messages_of(state: Mapping[str, Any], names: Names) -> list[Any]:
    """Return the messages of the attempt that the state holds, as they are."""
    raw = _conversation(state, names)
    return raw[_places(raw, state["attempt"])[0] :]


def _conversation(state: Mapping[str, Any], names: Names) -> list[Any]:
    """The messages as they are; one that stands alone, as text, say, is one."""
    value = names.read("messages", state) or []
    alone = isinstance(value, (str, Mapping)) or hasattr(value, "content")
    return [value] if alone else list(value)


def _places(raw: Sequence[Any], begun: Mapping[str, Any]) -> tuple[int, int]:
    """Index of the attempt's first message and of the first one that came after it began.

    A solver may have shortened the history meanwhile: then the ids tell, and where these are gone, all of it is new.
    """
    if begun.get("last_id") is None:
        known = len(raw) >= begun["messages_before"]
        return (begun["start"], begun["messages_before"]) if known else (0, 0)
    ids = [getattr(message, "id", None) for message in raw]
    new = ids.index(begun["last_id"]) + 1 if begun["last_id"] in ids else 0
    return (ids.index(begun["start_id"]) if begun["start_id"] in ids[:new] else new), new


def _answer(given: Any, begun: Mapping[str, Any], new: Sequence[Any]) -> str | None:
    """The answer channel, unless it still holds the answer to an earlier task; else the last message of the model."""
    answer = _text(given)
    said = [message.text for message in to_messages(new) if message.role == "assistant" and message.text.strip()]
    if answer is not None and (answer != begun["answer_before"] or not said):
        return answer
    return said[-1] if said else None


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "content"):
        return content_text(value.content)
    return str(value)


def _usage(messages: Sequence[Any]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for message in messages:
        add_usage(totals, getattr(message, "usage_metadata", None) or {})
    return totals


def add_usage(totals: dict[str, int], used: Mapping[str, Any]) -> None:
    """Add the tokens of one call; what is no count, such as details by kind, is passed over."""
    for name, count in used.items():
        if isinstance(count, int):
            totals[name] = totals.get(name, 0) + count
