"""Messages of a trajectory as plain records, made from any form that LangChain and LangGraph users have."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from reprlib import Repr
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict

from reasoningbank_langgraph.errors import InvalidRecordError

_ROLES = {
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
    "FunctionMessageChunk": "function",
}


def well_formed(text: str) -> str:
    """Return the text without what some stores cannot hold.

    Lone surrogates, which UTF-8 cannot encode, and NUL, which Postgres refuses, become U+FFFD; pairs are joined.
    """
    if (text.isascii() and "\0" not in text) or not _REFUSED.search(text):  # the first is quicker and mostly so
        return text
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_REFUSED = re.compile("[\0\ud800-\udfff]")
_LEVELS, _LONGEST_NUMBER = 64, 2_000
"""Deepest level of nesting, and largest number of bits of a number, that are kept."""
_REPR = Repr()
_REPR.maxlevel, _REPR.maxstring, _REPR.maxother = 3, 80, 80
Text = Annotated[str, AfterValidator(well_formed)]


class Message(BaseModel):
    """One message: role as chat APIs name it (`user, assistant, system, tool, ...`), content and tool calls."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Text
    content: Text | list[Any] = ""
    name: Text | None = None
    tool_calls: tuple[dict[str, Any], ...] = ()
    tool_call_id: Text | None = None
    """In a tool's result: id of the call it answers."""
    status: Text | None = None
    """In a tool's result: `success` or `error`, if known."""

    @property
    def text(self) -> str:
        """The text of the content; blocks that are not text are named in brackets."""
        return content_text(self.content)

    def identity_json(self) -> str:
        """Return the message as JSON without the ids of tool calls and blocks, which differ in every run."""
        blocks = self.content if isinstance(self.content, str) else [_without_id(block) for block in self.content]
        calls = tuple(_without_id(call) for call in self.tool_calls)
        same = self.model_copy(update={"content": blocks, "tool_calls": calls})
        return same.model_dump_json(exclude={"tool_call_id", "status"})  # the identity of what older versions stored


def _without_id(block: Any) -> Any:
    return {name: value for name, value in block.items() if name != "id"} if isinstance(block, Mapping) else block


def length_as_json(messages: Iterable[Message]) -> int:
    """Return how many characters messages are as JSON."""
    return sum(len(message.model_dump_json()) for message in messages)


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON data of which every text is changed; the names of fields stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: with_texts(inner, change) for name, inner in value.items()}
    return [with_texts(inner, change) for inner in value] if isinstance(value, (list, tuple)) else value


def content_text(content: Any) -> str:
    """Return the readable text of message content: a string, a list of blocks, or None."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(_block_text(block) for block in content) if isinstance(content, (list, tuple)) else ""


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return ""
    kind, text = block.get("type", "text"), block.get("text")
    if not isinstance(kind, str):
        return ""
    if kind in ("text", "text-plain", "output_text", "input_text"):
        return text if isinstance(text, str) else ""
    if kind in ("reasoning", "thinking", "tool_use", "tool_call", "function_call"):
        return ""
    return f"[{kind}]"


def to_messages(value: Any) -> tuple[Message, ...]:
    """Return messages for a list of LangChain messages, dicts, `(role, content)` pairs or strings.

    Raises:
        InvalidRecordError: an element is none of these.
    """
    if value is None:
        return ()
    if isinstance(value, (str, Mapping)) or hasattr(value, "content"):
        value = [value]
    if not isinstance(value, Iterable):
        raise InvalidRecordError(f"messages must be a list of messages, got {type(value).__name__}")
    return tuple(_to_message(element) for element in value if not _is_removal(element))


def _is_removal(element: Any) -> bool:
    """A RemoveMessage is an instruction to the reducer, not a message."""
    kind = element.get("role", element.get("type")) if isinstance(element, Mapping) else getattr(element, "type", None)
    return kind == "remove"


def _to_message(element: Any) -> Message:
    if isinstance(element, Message):
        return element
    if isinstance(element, str):
        return Message(role="user", content=element)
    if isinstance(element, Mapping):
        return _from_mapping(element)
    if isinstance(element, Sequence) and len(element) == 2:
        return _make(element[0], element[1])
    if hasattr(element, "content") and hasattr(element, "type"):
        role = getattr(element, "role", None) or element.type
        calls = [*getattr(element, "tool_calls", ()), *getattr(element, "invalid_tool_calls", ())]
        details = {name: getattr(element, name, None) for name in ("name", "tool_call_id", "status")}
        return _make(role, element.content, calls, **details)
    raise InvalidRecordError(f"not a message: {short_repr(element)}")


def _from_mapping(element: Mapping[str, Any]) -> Message:
    role = element.get("role") or element.get("type")
    if role is None:
        raise InvalidRecordError(f"a message needs a 'role' or 'type': {short_repr(dict(element))}")
    details = {name: element.get(name) for name in ("name", "tool_call_id", "status")}
    return _make(role, element.get("content"), element.get("tool_calls") or (), **details)


def _make(role: Any, content: Any, tool_calls: Iterable[Mapping[str, Any]] = (), **details: Any) -> Message:
    if not isinstance(role, str):
        raise InvalidRecordError(f"a message role must be text, got {short_repr(role)}")
    plain = content if isinstance(content, str) else _plain(content if content is not None else "")
    calls = tuple(_plain(_call(call)) for call in tool_calls)
    texts = {name: str(value) for name, value in details.items() if value is not None}
    return Message(role=_ROLES.get(role, role), content=plain, tool_calls=calls, **texts)


def _call(call: Any) -> dict[str, Any]:
    """Return a tool call as a record. LangChain's have `name, args`; OpenAI's a `function` with `name, arguments`."""
    if not isinstance(call, Mapping):
        raise InvalidRecordError(f"a tool call must be a mapping, got {short_repr(call)}")
    function = call.get("function")
    if isinstance(function, Mapping):
        return {"id": call.get("id"), "name": function.get("name"), "args": function.get("arguments")}
    return {"id": call.get("id"), "name": call.get("name"), "args": call.get("args")}


def _plain(value: Any, levels: int = _LEVELS) -> Any:
    """Return JSON data that any store and checkpoint can hold; other values, such as image bytes, are named."""
    if not isinstance(value, (Mapping, list, tuple)):
        return _plain_scalar(value)
    if not levels:
        return "[too deep]"
    if isinstance(value, Mapping):
        return {str(_plain(key, 0)): _plain(inner, levels - 1) for key, inner in value.items()}
    return [_plain(inner, levels - 1) for inner in value]


def _plain_scalar(value: Any) -> Any:
    """Return a scalar; a number that JSON or 64 bits of a checkpoint cannot hold becomes text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return well_formed(str.__str__(value))
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, int) and value.bit_length() <= _LONGEST_NUMBER:
        return int(value) if value.bit_length() < 64 else str(value)
    return f"[{type(value).__name__}]"


def short_repr(value: Any) -> str:
    """Return a value for an error message: its `repr`, cut to 80 characters, however deep or long the value is."""
    try:
        return _REPR.repr(value)[:80]
    except ValueError:  # a number of more digits than Python writes
        return f"[{type(value).__name__}]"
