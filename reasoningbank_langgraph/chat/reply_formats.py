"""The formats in which a model can be asked for JSON, and what is known of those that one model accepts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from reasoningbank_langgraph.chat.variants import variant

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable

logger = logging.getLogger(__name__)

_CAPS = ("max_tokens", "max_completion_tokens", "num_predict", "max_output_tokens", "max_new_tokens")
"""What chat models call the field that caps their reply."""


class ReplyFormat(NamedTuple):
    """One format in which JSON can be asked for."""

    name: str
    bind: Callable[[BaseChatModel, dict[str, Any]], Runnable[Any, Any]]
    """From a model and the JSON schema of the reply to what is invoked with the messages."""


class KnownFormats:
    """The reply formats one model accepts, as far as it and its server have shown; shared by all callers of the model.

    Attributes:
        model: the chat model.
        formats: those not refused so far, best first; the last is plain text, which every model accepts.
        bad_cap: the name of the token cap that the server refused, `max_tokens` or `max_completion_tokens`.
        refused: how often a format or a name of the cap was refused, by name.
        answered: whether a reply has come in the first of the formats.
    """

    def __init__(self, model: BaseChatModel) -> None:
        self.model, self.formats = model, _formats_of(model)
        self.bad_cap: str | None = None
        self.refused: dict[str, int] = {}
        self.answered = False
        self._lock = threading.Lock()

    def record(self, refused: Sequence[str], bad_cap: str | None) -> None:
        """Record what was refused, once another format has worked: an outage refuses everything and shows nothing."""
        with self._lock:
            self.answered = True
            caps = [bad_cap] if bad_cap and bad_cap != self.bad_cap else []
            names = [*refused, *caps]
            new = [name for name in names if name not in self.refused]
            for name in names:
                self.refused[name] = self.refused.get(name, 0) + 1
            self.bad_cap = bad_cap or self.bad_cap
            self.formats = [candidate for candidate in self.formats if candidate.name not in refused]
        if new:
            asked = self.formats[0].name
            logger.info("%s is asked in the format %s: refused %s", model_name_of(self.model), asked, ", ".join(new))

    def asked_how(self) -> dict[str, Any]:
        """Return what events show: `asked`, the reply format in use (None before the first reply), and `fallbacks`."""
        return {"asked": self.formats[0].name if self.answered else None, "fallbacks": dict(self.refused)}


_SHARED: WeakValueDictionary[int, KnownFormats] = WeakValueDictionary()
"""By the model's id, which is not reused while the value holds the model."""


def known_formats(model: BaseChatModel) -> KnownFormats:
    """Return what is known of this model object, shared with its other callers."""
    known = _SHARED.get(id(model))
    if known is None:
        known = _SHARED[id(model)] = KnownFormats(model)
    return known


def model_name_of(model: BaseChatModel) -> str:
    """Return what the model calls itself."""
    named = getattr(model, "model_name", None) or getattr(model, "model", None)
    return str(named or type(model).__name__)


def capped(model: BaseChatModel, max_tokens: int, bad_cap: str | None = None) -> BaseChatModel:
    """Return the model with a cap on its reply, whatever its class calls it; the model itself where it knows none.

    Args:
        model: any chat model.
        max_tokens: the cap.
        bad_cap: a name of the cap that its OpenAI-compatible server refused.
    """
    return variant(model, token_cap(model, max_tokens, bad_cap))


def token_cap(model: BaseChatModel, max_tokens: int, bad_cap: str | None = None) -> dict[str, Any]:
    """Return the fields of a model that cap its reply, named as its class does; empty where it has none."""
    if _is_a(model, "ChatOpenAI"):
        return _chat_openai_cap(model, max_tokens, bad_cap)
    if bad_cap == "max_tokens" and speaks_openai(model):
        others = getattr(model, "model_kwargs", None) or {}
        return {"max_tokens": None, "model_kwargs": {**others, "max_completion_tokens": max_tokens}}
    fields = type(model).model_fields
    return dict.fromkeys([name for name in _CAPS if name in fields][:1], max_tokens)


def _chat_openai_cap(model: Any, max_tokens: int, bad_cap: str | None) -> dict[str, Any]:
    """`ChatOpenAI` sends its cap as `max_completion_tokens`, which servers other than OpenAI's may not know.

    Those get it under both names; OpenAI refuses that, and some servers refuse one of the two.
    """
    extra = getattr(model, "extra_body", None) or {}
    others = {name: value for name, value in extra.items() if name != "max_tokens"}
    both = bad_cap is None and not _at_openai(model)
    if both or bad_cap == "max_completion_tokens":
        return {"max_tokens": max_tokens if both else None, "extra_body": {**others, "max_tokens": max_tokens}}
    return {"max_tokens": max_tokens} | ({"extra_body": others} if others != extra else {})


def _at_openai(model: Any) -> bool:
    client = getattr(model, "root_client", None)  # knows OPENAI_BASE_URL as well
    base_url = str(client.base_url) if client is not None else getattr(model, "openai_api_base", None)
    host = urlsplit(base_url).hostname if base_url else None
    return host is None or f".{host}".endswith((".openai.com", ".openai.azure.com"))


def speaks_openai(model: BaseChatModel) -> bool:
    """Say whether the model's class sends requests in the form of OpenAI's chat completions."""
    return _is_a(model, "BaseChatOpenAI")


def _is_a(model: BaseChatModel, name: str) -> bool:
    return any(cls.__name__ == name for cls in type(model).__mro__)


def _formats_of(model: BaseChatModel) -> list[ReplyFormat]:
    """Return the formats to try, best first, without those that the model's profile rules out."""
    profile = getattr(model, "profile", None) or {}
    lacking = set() if profile.get("structured_output", True) else {"json_schema", "structured"}
    if not (profile.get("tool_calling", True) and profile.get("tool_choice", True) and _has_tools(model)):
        lacking.add("tool_call")
    formats = (
        (_JSON_SCHEMA, _TOOL_CALL, _JSON_OBJECT, _PLAIN) if speaks_openai(model) else (_STRUCTURED, _TOOL_CALL, _PLAIN)
    )
    return [candidate for candidate in formats if candidate.name not in lacking]


def _has_tools(model: BaseChatModel) -> bool:
    from langchain_core.language_models import BaseChatModel

    return type(model).bind_tools is not BaseChatModel.bind_tools


def _json_schema(model: BaseChatModel, schema: dict[str, Any]) -> Runnable[Any, Any]:
    return model.bind(response_format={"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}})


def _tool_call(model: BaseChatModel, schema: dict[str, Any]) -> Runnable[Any, Any]:
    function = {"name": "reply", "description": "Give the reply.", "parameters": schema}
    forced = "reply" if speaks_openai(model) else "any"
    return model.bind_tools([{"type": "function", "function": function}], tool_choice=forced)


def _json_object(model: BaseChatModel, schema: dict[str, Any]) -> Runnable[Any, Any]:
    """The schema inside the format is what llama.cpp's server enforces; others take it for plain JSON mode."""
    return model.bind(response_format={"type": "json_object", "schema": schema})


def _structured(model: BaseChatModel, schema: dict[str, Any]) -> Runnable[Any, Any]:
    named = {"title": "reply", "description": "The reply.", **schema}
    return model.with_structured_output(named, include_raw=True)


def _plain(model: BaseChatModel, _: dict[str, Any]) -> Runnable[Any, Any]:
    return model


_JSON_SCHEMA = ReplyFormat("json_schema", _json_schema)
_STRUCTURED = ReplyFormat("structured", _structured)
_TOOL_CALL = ReplyFormat("tool_call", _tool_call)
_JSON_OBJECT = ReplyFormat("json_object", _json_object)
_PLAIN = ReplyFormat("plain", _plain)
