"""The formats in which a model can be asked for JSON, and those that a model is known to accept."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from reasoningbank_langgraph.chat.models import model_name_of, speaks_openai

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable

logger = logging.getLogger(__name__)


class ReplyFormat(NamedTuple):
    """One format in which JSON can be asked for."""

    name: str
    bind: Callable[[BaseChatModel, Any], Runnable[Any, Any]]
    """Makes a Runnable, invoked with the messages, from a model and the JSON schema of the reply."""


class KnownFormats:
    """The reply formats one model accepts, as far as is known; shared by all callers of the model.

    Attributes:
        model: the chat model.
        formats: formats not refused so far, best first; the last is plain text, which every model accepts.
        bad_cap: name of the token cap that the server refused, `max_tokens` or `max_completion_tokens`.
        refused: how often each format or name of the cap was refused.
        answered: whether a reply has come in the first format.
    """

    def __init__(self, model: BaseChatModel, formats: Sequence[ReplyFormat]) -> None:
        self.model, self.formats = model, list(formats)
        self.bad_cap: str | None = None
        self.refused: dict[str, int] = {}
        self.answered = False
        self._lock = threading.Lock()

    def record(self, refused: Sequence[str], bad_cap: str | None) -> None:
        """Record what was refused, once another format has worked. An outage refuses everything and proves nothing."""
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
"""Keyed by the model's id, which is not reused while the value holds the model."""


def known_formats(model: BaseChatModel) -> KnownFormats:
    """Return the formats known of this model object, shared with its other callers."""
    formats = _SHARED.get(id(model))
    if formats is None:
        formats = _SHARED[id(model)] = KnownFormats(model, _formats_of(model))
    return formats


def plain_text(model: BaseChatModel) -> KnownFormats:
    """Return the formats of a model that is asked for plain text only."""
    return KnownFormats(model, [_PLAIN])


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
    """Ask in JSON mode. llama.cpp's server enforces the schema inside the format; other servers ignore it."""
    return model.bind(response_format={"type": "json_object", "schema": schema})


def _structured(model: BaseChatModel, schema: dict[str, Any]) -> Runnable[Any, Any]:
    named = {"title": "reply", "description": "The reply.", **schema}
    return model.with_structured_output(named, include_raw=True)


def _plain(model: BaseChatModel, _: object) -> Runnable[Any, Any]:
    return model


_JSON_SCHEMA = ReplyFormat("json_schema", _json_schema)
_STRUCTURED = ReplyFormat("structured", _structured)
_TOOL_CALL = ReplyFormat("tool_call", _tool_call)
_JSON_OBJECT = ReplyFormat("json_object", _json_object)
_PLAIN = ReplyFormat("plain", _plain)
