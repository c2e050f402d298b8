"""Messages of a trajectory as plain records, made from whatever form LangChain and LangGraph users have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
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
    """Return the text without lone surrogates, which UTF-8 cannot hold: pairs join, others become U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_SURROGATE = re.compile("[\ud800-\udfff]")
Text = Annotated[str, AfterValidator(well_formed)]


class Message(BaseModel):
    """One message: role as chat APIs name it (`user, assistant, system, tool, ...`), content and tool calls."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Text
    content: Text | list[Any] = ""
    name: str | None = None
    tool_calls: tuple[dict[str, Any], ...] = ()

    @property
    def text(self) -> str:
        """The text of the content; blocks that are not text are named in brackets."""
        return content_text(self.content)

    def said(self) -> str:
        """Return the message as JSON without the ids of tool calls and blocks, which every run makes up anew."""
        blocks = self.content if isinstance(self.content, str) else [_without_id(block) for block in self.content]
        calls = tuple(_without_id(call) for call in self.tool_calls)
        return self.model_copy(update={"content": blocks, "tool_calls": calls}).model_dump_json()


def _without_id(block: Any) -> Any:
    return {name: value for name, value in block.items() if name != "id"} if isinstance(block, Mapping) else block


def content_text(content: Any) -> str:
    """Return the readable text of message content: a string, a list of blocks, or None."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(_block_text(block) for block in content)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return ""
    kind = block.get("type", "text")
    if kind in ("text", "text-plain", "output_text", "input_text"):
        return str(block.get("text") or "")
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
        return _make(element[0], element[1], None, ())
    if hasattr(element, "content") and hasattr(element, "type"):
        role = getattr(element, "role", None) or element.type
        return _make(role, element.content, element.name, getattr(element, "tool_calls", ()))
    raise InvalidRecordError(f"not a message: {element!r:.80}")


def _from_mapping(element: Mapping[str, Any]) -> Message:
    role = element.get("role") or element.get("type")
    if role is None:
        raise InvalidRecordError(f"a message needs a 'role' or 'type': {dict(element)!r:.80}")
    return _make(role, element.get("content"), element.get("name"), element.get("tool_calls") or ())


def _make(role: Any, content: Any, name: str | None, tool_calls: Iterable[Mapping[str, Any]]) -> Message:
    if not isinstance(role, str):
        raise InvalidRecordError(f"a message role must be text, got {role!r:.80}")
    plain = content if isinstance(content, str) else _plain(content if content is not None else "")
    calls = tuple(_plain(_call(call)) for call in tool_calls)
    return Message(role=_ROLES.get(role, role), content=plain, name=name, tool_calls=calls)


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """LangChain calls have `name, args`, OpenAI's a `function` with `name, arguments` (JSON text)."""
    function = call.get("function")
    if isinstance(function, Mapping):
        return {"id": call.get("id"), "name": function.get("name"), "args": function.get("arguments")}
    return {"id": call.get("id"), "name": call.get("name"), "args": call.get("args")}


def _plain(value: Any) -> Any:
    """Return JSON data: what is not JSON (bytes of an image, say) is named by its type."""
    text = json.dumps(value, ensure_ascii=False, default=lambda other: f"[{type(other).__name__}]")
    return json.loads(well_formed(text))
