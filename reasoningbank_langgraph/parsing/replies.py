"""What a model's reply says, apart from where its server put it: text, tool calls, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

Ending = Literal["stop", "tools", "length", "filter", "error", "unknown"]

_ENDINGS: dict[str, Ending] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "eos", "eos_token", "completed"), "stop"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tools"),
    **dict.fromkeys(
        ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"), "length"
    ),
    **dict.fromkeys(
        ("content_filter", "content_filtered", "safety", "refusal", "recitation", "blocklist", "prohibited_content",
         "spii", "guardrail_intervened"), "filter"
    ),
    **dict.fromkeys(("error", "failed"), "error"),
}  # fmt: skip

_THINKING = re.compile(
    r"(?:^|(?<=\n)|(?<=>))[ \t]*<(?P<open>think|thinking|thought|reasoning)>"
    r"|</(?:think|thinking|thought|reasoning)>|(?P<open2>\[THINK\])|\[/THINK\]",
    re.IGNORECASE,
)
_STARTS_WITH_JSON = re.compile(r"\s*(?:```\w*\s*)?(?:\{|\[\s*[{\]])")
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_TURN_END = re.compile(r"<\|(?:im_end|eot_id|end|return|endoftext)\|>|<end_of_turn>|</s>")
_REFUSAL = re.compile(
    r"(?:can(?:no|')t|can not|won't|will not|unable to|not able to|must decline to|decline to)\s+(?:\w+\s+){0,3}?"
    r"(?:help|assist|comply|fulfil|fulfill|provide|answer|do|continue|engage|discuss|complete|respond|judge|evaluate"
    r"|create|generate|produce|share|process|extract)\b|^(?:i'm|i am|we are|we're)?\s*(?:very |so |really )?sorry\b"
    r"|^i apologi[sz]e\b",
    re.IGNORECASE,
)


class Reply(NamedTuple):
    """One reply, read: the answer's text without thinking, arguments of tool calls, and how it ended."""

    text: str
    calls: tuple[Any, ...] = ()
    ending: Ending = "unknown"
    refused: bool = False
    cut: bool = False
    """The text stops inside the model's thinking."""


def read_reply(reply: object) -> Reply:
    """Read a string or a LangChain message; anything else is a reply that ended in an error. Never raises."""
    if isinstance(reply, str):
        return _read_text(_printable(reply))
    if not hasattr(reply, "content"):
        return Reply("", ending="error")
    content = reply.content
    extra = _mapping(getattr(reply, "additional_kwargs", None))
    calls = tuple(_calls(reply, extra))
    ending = _ending(_mapping(getattr(reply, "response_metadata", None)))
    text = _printable(_joined(content, "text"))
    if not text.strip() and not calls and ending == "stop":
        text = _printable(_reasoning(content, extra))
    read = _read_text(text)
    refused = ending == "filter" or bool(extra.get("refusal")) or bool(_joined(content, "refusal"))
    return read._replace(calls=calls, ending=ending, refused=refused)


def looks_refused(text: str) -> bool:
    """Say whether a reply that holds no answer opens with a refusal."""
    return bool(_REFUSAL.search(text[:300].replace("’", "'").strip()))


def _read_text(text: str) -> Reply:
    if _FINAL_CHANNEL in text:
        text = text.rpartition(_FINAL_CHANNEL)[2]
    text, cut = _without_thinking(text)
    return Reply(_TURN_END.sub("\n", text), cut=cut)


def _without_thinking(text: str) -> tuple[str, bool]:
    """Drop thinking, also where the prompt holds its opening tag; say whether it never closes."""
    if _STARTS_WITH_JSON.match(text):  # a tag in here is part of a string
        return text, False
    kept: list[str] = []
    position, inside = 0, False
    for tag in _THINKING.finditer(text):
        if tag["open"] or tag["open2"]:
            if not inside:
                kept.append(text[position : tag.start()])
            inside = True
        elif inside or text[tag.end() :].strip():
            kept = kept if inside else []
            position, inside = tag.end(), False
    return ("".join(kept), True) if inside else ("".join(kept) + text[position:], False)


def _joined(content: Any, kind: str) -> str:
    """Join the blocks of one kind: `text` (strings too), `refusal`, or the model's thinking."""
    if isinstance(content, str):
        return content if kind == "text" else ""
    if not isinstance(content, Iterable):
        return ""
    return "".join(_block(block, kind) for block in content)


def _block(block: Any, kind: str) -> str:
    if isinstance(block, str):
        return block if kind == "text" else ""
    if not isinstance(block, Mapping):
        return ""
    block_kind = str(block.get("type", "text"))
    if kind == "text":
        return str(block.get("text") or "") if block_kind in ("text", "output_text") else ""
    wanted = (kind,) if kind == "refusal" else ("thinking", "reasoning")
    return str(block.get(block_kind) or block.get("text") or "") if block_kind in wanted else ""


def _reasoning(content: Any, extra: Mapping[str, Any]) -> str:
    """Some servers file a short answer as reasoning; with no content and a normal stop it is the answer."""
    return str(extra.get("reasoning_content") or extra.get("reasoning") or "") or _joined(content, "thinking")


def _calls(reply: object, extra: Mapping[str, Any]) -> Iterable[Any]:
    """Yield the arguments of tool calls, decoded or as JSON text."""
    found = [*_sequence(getattr(reply, "tool_calls", None)), *_sequence(getattr(reply, "invalid_tool_calls", None))]
    found = found or [*_sequence(extra.get("tool_calls")), extra.get("function_call")]
    for call in found:
        function = _mapping(_mapping(call).get("function"))
        arguments = _mapping(call).get("args") or _mapping(call).get("arguments") or function.get("arguments")
        if isinstance(arguments, (dict, list, str)):
            yield arguments


def _ending(metadata: Mapping[str, Any]) -> Ending:
    """Read how the reply ended, in the words of OpenAI, Anthropic, Google and Ollama servers."""
    details = _mapping(metadata.get("incomplete_details"))
    named = (metadata.get("finish_reason"), metadata.get("stop_reason"), metadata.get("done_reason"),
             details.get("reason"), metadata.get("status"))  # fmt: skip
    for name in named:
        ending = _ENDINGS.get(str(name).rpartition(".")[2].strip().casefold())
        if ending:
            return ending
    return "unknown"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _printable(text: str) -> str:
    """Replace lone surrogates, which no record and no store can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
