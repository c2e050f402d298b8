"""The text of a reply, its tool calls and how it ended, wherever its server put them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from reasoningbank_langgraph.parsing.json_text import DEEPEST, deeper_than

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
_CHANNEL_STARTS = ("<|channel|>", "<|start|>")
_TURN_END = re.compile(r"<\|(?:im_end|eot_id|end|return|endoftext)\|>|<end_of_turn>|</s>|\[TOOL_CALLS\]")
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
    whole: str = ""
    """All of the text, where thinking was left out that did not begin at the start: perhaps a quoted tag ended it."""


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
    text = _printable(_join(content, "text"))
    if not text.strip() and not calls and ending == "stop":
        text = _printable(_reasoning(content, extra))
    read = _read_text(text)
    refused = ending == "filter" or bool(extra.get("refusal")) or bool(_join(content, "refusal"))
    return read._replace(calls=calls, ending=ending, refused=refused)


def looks_like_refusal(text: str) -> bool:
    """Say whether a reply that holds no answer opens with a refusal."""
    return bool(_REFUSAL.search(text[:300].replace("’", "'").strip()))


def _read_text(text: str) -> Reply:
    whole, in_channel = text.replace(_FINAL_CHANNEL, "\n"), False
    if _FINAL_CHANNEL in text and not _STARTS_WITH_JSON.match(text):
        before, _, text = text.partition(_FINAL_CHANNEL)
        in_channel = not before.lstrip().startswith(_CHANNEL_STARTS)
    text, in_thought, cut = _without_thinking(text)
    return Reply(_plain_ends(text), cut=cut, whole=_plain_ends(whole) if in_channel or in_thought else "")


def _plain_ends(text: str) -> str:
    return _TURN_END.sub("\n", text)


def _without_thinking(text: str) -> tuple[str, bool, bool]:
    """Drop thinking, also where the prompt holds its opening tag. A tag after the start of JSON is part of a string.

    Returns:
        The answer; whether more was left out than a block at the start; whether the thinking never closes.
    """
    kept, said, left_out = list[str](), False, False
    position, opened, end = 0, False, len(text.rstrip())
    for tag in _THINKING.finditer(text):
        if not opened and not said and _STARTS_WITH_JSON.match(text, position):
            break
        if tag["open"] or tag["open2"]:
            if not opened:
                kept.append(text[position : tag.start()])
                said = said or bool(kept[-1].strip())
            opened = True
        elif opened:
            left_out = left_out or said
            position, opened = tag.end(), False
        elif tag.end() < end:
            left_out, kept, said, position = True, [], False, tag.end()
    return "".join([*kept, "" if opened else text[position:]]), left_out, opened


def _join(content: Any, kind: str) -> str:
    """Join the blocks of one kind: `text` (strings too), `refusal`, or the model's thinking."""
    if isinstance(content, str):
        return content if kind == "text" else ""
    blocks = [content] if isinstance(content, Mapping) else _sequence(content)
    return "".join(_block(block, kind) for block in blocks)


def _block(block: Any, kind: str) -> str:
    if isinstance(block, str):
        return block if kind == "text" else ""
    block_kind = _mapping(block).get("type", "text")
    if not isinstance(block_kind, str):
        return ""
    if kind == "text":
        return _first_text(block, "text") if block_kind in ("text", "output_text") else ""
    wanted = (kind,) if kind == "refusal" else ("thinking", "reasoning")
    return _first_text(block, block_kind, "text") if block_kind in wanted else ""


def _reasoning(content: Any, extra: Mapping[str, Any]) -> str:
    """Some servers file a short answer as reasoning; with no content and a normal stop it is the answer."""
    return _first_text(extra, "reasoning_content", "reasoning") or _join(content, "thinking")


def _first_text(block: Any, *names: str) -> str:
    """Return the first of the named fields that holds a text."""
    found = (_mapping(block).get(name) for name in names)
    return next((text for text in found if isinstance(text, str) and text), "")


def _calls(reply: object, extra: Mapping[str, Any]) -> Iterable[Any]:
    """Yield the arguments of tool calls, decoded and as the JSON text they were sent as; odd ones as no arguments."""
    found = [*_sequence(getattr(reply, "tool_calls", None)), *_sequence(getattr(reply, "invalid_tool_calls", None))]
    for call in [*found, *_sequence(extra.get("tool_calls")), extra.get("function_call")]:
        if not isinstance(call, Mapping):
            continue
        arguments = call.get("args") or call.get("arguments") or _mapping(call.get("function")).get("arguments")
        odd = not isinstance(arguments, (dict, list, str)) or deeper_than(arguments, DEEPEST)
        yield {} if odd else _printable(arguments) if isinstance(arguments, str) else arguments


def _ending(metadata: Mapping[str, Any]) -> Ending:
    """Read how the reply ended, in the words of OpenAI, Anthropic, Google and Ollama servers."""
    details = _mapping(metadata.get("incomplete_details"))
    named = (metadata.get("finish_reason"), metadata.get("stop_reason"), metadata.get("done_reason"),
             details.get("reason"), metadata.get("status"))  # fmt: skip
    for name in named:
        ending = _ENDINGS.get(_name(name).rpartition(".")[2].strip().casefold())
        if ending:
            return ending
    return "unknown"


def _name(value: Any) -> str:
    """Return a text; Google's client has an enum in place of one."""
    return value if isinstance(value, str) else str(getattr(value, "name", ""))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _printable(text: str) -> str:
    """Replace lone surrogates, which no record and no store can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
