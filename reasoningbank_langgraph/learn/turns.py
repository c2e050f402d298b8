"""The attempts that a state of a thread holds: one for each turn of the user."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage

from reasoningbank_langgraph.errors import InvalidTaskError
from reasoningbank_langgraph.learn.coverage import SkipReason
from reasoningbank_langgraph.matts.contrast import group_digest, judged_rollouts
from reasoningbank_langgraph.messages import Message, to_messages
from reasoningbank_langgraph.records import TASK_CAP, Attempt, RetrievedMemory, has_visible_text, task_key
from reasoningbank_langgraph.solvers.inserted_messages import CHECK, EXAMPLE, LESSONS, is_inserted
from reasoningbank_langgraph.state import ChannelNames
from reasoningbank_langgraph.state.attempts import (
    attempt_of,
    conversation,
    is_empty,
    messages_of,
    model_of,
    recalled_lessons,
    structured_answer,
    without_lessons,
)
from reasoningbank_langgraph.state.channels import Earlier
from reasoningbank_langgraph.text import without_blocks

Values = Mapping[str, Any]
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OF_LOOP = ("attempt", "memories", "memory_examples")
"""Channels that mean something else in the state of another graph."""


class Turn(NamedTuple):
    """An attempt in a thread."""

    attempt: Attempt | None
    """None where there is none to learn from."""
    skip: SkipReason | None = None
    """Why there is nothing to learn, if that can be seen."""
    model: str = ""
    """The model that answered, as its replies name it."""
    shown: tuple[Mapping[str, str], ...] = ()
    """The lessons that messages of the attempt showed, as far as their text tells."""
    known_as: str = ""
    """Digest that its run gave it in the bank, where that says so: of all its rollouts, or of what waits."""
    name: str = ""
    """Its name on the line of the thread, where its run has written something into the bank."""


def marks(values: Values, names: ChannelNames) -> frozenset[str]:
    """Return what the attempts in a state are known by in those that follow it."""
    asked = [_key(place, one) for place, one in enumerate(conversation(values, names)) if _may_ask(one)]
    task = _task(values, names)
    own = [f"attempt {_name(values)}"] if _name(values) else [_task_mark(task, values, names)] if task else []
    return frozenset([*asked, *own, *_records(values)])


def turns(values: Values, before: frozenset[str], names: ChannelNames, thread_id: str) -> list[Turn]:
    """Return the attempts of a state that the states before it do not hold, oldest first.

    Args:
        values: the state at the end of a run.
        before: the marks of the state at the end of the run before it on the same branch.
        names: channels of the graph.
        thread_id: the thread.
    """
    if (name := _name(values)) and f"attempt {name}" not in before:
        turn = _turn(values, names, _known_as(values, thread_id))
        return [turn._replace(name=name if _records(values) - before else "")]
    task = "" if name else _task(values, names)
    if task and _task_mark(task, values, names) not in before:
        found = [_turn({**values, **dict.fromkeys(_OF_LOOP)}, names)]
    else:
        found = _of_messages(conversation(values, names), before)
    if _records(values) - before:  # a loop inside the graph has learned in this run
        found = [turn._replace(skip="already_learned") for turn in found]
    return found if found or before else [Turn(None, "no_task")]


def _records(values: Values) -> frozenset[str]:
    """Return marks of what the loop has written into the bank, where the state holds the ids.

    Another graph may keep something else under these names, the files that it has written for example.
    """
    lists = (values.get(name) for name in ("written", "kept"))
    names = (str(name) for names in lists if isinstance(names, list) for name in names)
    return frozenset(f"record {name}" for name in names if _ID.fullmatch(name))


def _name(values: Values) -> str:
    """Return the name of the attempt that the loop began last, "" without one."""
    attempt = values.get("attempt")
    if not isinstance(attempt, Mapping) or "messages_before" not in attempt:
        return ""
    return str(attempt["line"][-1][0]) if attempt.get("line") else ""


def _known_as(values: Values, thread_id: str) -> str:
    """Return the digest under which the run of an attempt left what waits, or else its rollouts; "" without both."""
    if pending := values.get("pending"):  # of this attempt: the next one begins without it
        return str(pending["provenance"]["attempt_digest"])
    group = judged_rollouts(values) if values.get("rollouts") and values.get("selection") else []
    return group_digest(group, thread_id) if group else ""


def _task(values: Values, names: ChannelNames) -> str:
    """Return the task in its channel, "" if it comes as a message or an earlier run of the loop left it."""
    task = names.read("task", values)
    return task if isinstance(task, str) and not isinstance(task, Earlier) and has_visible_text(task) else ""


def _task_mark(task: str, values: Values, names: ChannelNames) -> str:
    answer = names.read("answer", values)
    return f"task {task_key(f'{task} {answer}')}"


def _turn(values: Values, names: ChannelNames, known_as: str = "") -> Turn:
    if values.get("structured_response") is not None and values.get("answer") is None:
        names = names._replace(answer=structured_answer)
    shown = (one for one in values.values() if isinstance(one, Mapping) and "memory_prompt" in one)
    try:
        attempt = attempt_of({**next(shown, {}), **values}, names)
    except InvalidTaskError:
        return Turn(None, "no_task")
    return Turn(attempt, _skip(attempt), model_of(messages_of(values, names)), known_as=known_as)


def _skip(attempt: Attempt) -> SkipReason | None:
    if len(attempt.task) > TASK_CAP:
        return "no_task"
    return "no_answer" if is_empty(attempt) else None


def _of_messages(raw: Sequence[Any], before: frozenset[str]) -> list[Turn]:
    """Return the turns of a conversation: from a message of the user up to the next one."""
    starts: list[int] = []
    for place in reversed(range(len(raw))):
        if _may_ask(raw[place]):
            if _key(place, raw[place]) in before:
                break
            if _asks(raw[place]):
                starts.insert(0, place)
    begins = [_with_notes(raw, place) for place in starts]
    ends = [*begins, len(raw)][1:]
    last = len(starts) - 1
    return [
        _of_slice(raw[begin:end], raw[start], is_last=number == last)
        for number, (begin, start, end) in enumerate(zip(begins, starts, ends, strict=True))
    ]


def _with_notes(raw: Sequence[Any], place: int) -> int:
    """Return where the messages begin that show lessons for the task of a message, or its own place."""
    while place and _may_ask(raw[place - 1]) and not _asks(raw[place - 1]):
        place -= 1
    return place


def _of_slice(raw: Sequence[Any], asking: Any, *, is_last: bool) -> Turn:
    shown: list[Mapping[str, str]] = []
    messages = [_without_blocks(message, shown) for message in to_messages(list(map(without_lessons, raw)))]
    recalled = {memory["item"]["id"]: RetrievedMemory(**memory) for memory in recalled_lessons(raw)}
    task = without_blocks(to_messages([asking])[0].text)[0].strip() if shown else to_messages([asking])[0].text
    replies = [message for message in messages if message.role == "assistant"]
    said = [message.text for message in replies if message.text.strip()]
    answer = said[-1] if said else None
    attempt = Attempt(task=task, messages=messages, answer=answer, memories=recalled.values())
    broken_off = bool(replies) and not is_last and bool(messages[-1].tool_calls or messages[-1].role != "assistant")
    return Turn(attempt, "unfinished" if broken_off else _skip(attempt), model_of(raw), tuple(shown))


def _without_blocks(message: Message, shown: list[Mapping[str, str]]) -> Message:
    """Return a message without the lessons it shows, which are added to those shown."""
    if message.role != "user":
        return message

    def clean(text: str) -> str:
        rest, lessons = without_blocks(text, "(notes from earlier attempts)")
        shown.extend(lessons)
        return rest

    if isinstance(message.content, str):
        return message.model_copy(update={"content": clean(message.content)})
    blocks = [
        {**block, "text": clean(block["text"])}
        if isinstance(block, Mapping) and isinstance(block.get("text"), str)
        else block
        for block in message.content
    ]
    return message.model_copy(update={"content": blocks})


def _may_ask(raw: Any) -> bool:
    """Say whether a message is in the user's name."""
    if isinstance(raw, BaseMessage) and raw.type in ("ai", "tool", "system"):
        return False
    return any(message.role == "user" for message in to_messages([raw]))


def _asks(raw: Any) -> bool:
    """Say whether a message in the user's name is the user's: nothing that the loop or another middleware added."""
    more = getattr(raw, "additional_kwargs", None) or {}
    if is_inserted(raw, LESSONS, EXAMPLE, CHECK) or more.get("lc_source"):
        return False
    return has_visible_text(without_blocks(to_messages([raw])[0].text)[0])


def _key(place: int, raw: Any) -> str:
    name = raw.get("id") if isinstance(raw, Mapping) else getattr(raw, "id", None)
    return f"message {name}" if name else f"message {place} {task_key(to_messages([raw])[0].text)}"
