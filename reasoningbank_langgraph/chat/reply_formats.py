"""The ways of asking a model for JSON, and what is known of how one model can be asked."""

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


class Way(NamedTuple):
    """One way of asking."""

    name: str
    bind: Callable[[BaseChatModel, dict[str, Any]], Runnable[Any, Any]]
    """From a model and the JSON schema of the reply to what is invoked with the messages."""


class Manners:
    """How one model can be asked, as far as it and its server have shown; shared by those who speak to it at a time.

    Attributes:
        model: the chat model.
        ways: what was not refused yet, best first; the last is plain text, which every model takes.
        bad_cap: the spelling of the token cap that the server refused, `max_tokens` or `max_completion_tokens`.
        refused: how often a way or a spelling was refused, by name.
        answered: whether a reply has come by the first of the ways.
    """

    def __init__(self, model: BaseChatModel) -> None:
        self.model, self.ways = model, _ways_of(model)
        self.bad_cap: str | None = None
        self.refused: dict[str, int] = {}
        self.answered = False
        self._lock = threading.Lock()

    def learn(self, refused: Sequence[str], bad_cap: str | None) -> None:
        """Remember what was refused, now that another way worked: an outage of everything teaches nothing."""
        with self._lock:
            self.answered = True
            spelled = [bad_cap] if bad_cap and bad_cap != self.bad_cap else []
            found = [*refused, *spelled]
            new = [name for name in found if name not in self.refused]
            for name in found:
                self.refused[name] = self.refused.get(name, 0) + 1
            self.bad_cap = bad_cap or self.bad_cap
            self.ways = [way for way in self.ways if way.name not in refused]
        if new:
            logger.info("%s is asked by %s: refused %s", name_of(self.model), self.ways[0].name, ", ".join(new))

    def facts(self) -> dict[str, Any]:
        """Return what events and reports show: `asked`, the way in use (None before a reply), and `fallbacks`."""
        return {"asked": self.ways[0].name if self.answered else None, "fallbacks": dict(self.refused)}


_SHARED: WeakValueDictionary[int, Manners] = WeakValueDictionary()
"""By the model's id, which is not reused as long as its manners hold the model."""


def manners_of(model: BaseChatModel) -> Manners:
    """Return what is known of this model object, also by others who speak to it."""
    known = _SHARED.get(id(model))
    if known is None:
        known = _SHARED[id(model)] = Manners(model)
    return known


def name_of(model: BaseChatModel) -> str:
    """Return what the model calls itself."""
    named = getattr(model, "model_name", None) or getattr(model, "model", None)
    return str(named or type(model).__name__)


def capped(model: BaseChatModel, max_tokens: int, bad_cap: str | None = None) -> BaseChatModel:
    """Return the model with a cap on its reply, whatever its class calls it; the model itself where it knows none.

    Args:
        model: any chat model.
        max_tokens: the cap.
        bad_cap: a spelling its OpenAI-compatible server refused.
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

    Those get it in both spellings; OpenAI refuses that, and some servers refuse one of the two.
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


def _ways_of(model: BaseChatModel) -> list[Way]:
    """Return the ways to try, best first, without those that the model's profile says are not there."""
    profile = getattr(model, "profile", None) or {}
    lacking = set() if profile.get("structured_output", True) else {"json_schema", "structured"}
    if not (profile.get("tool_calling", True) and profile.get("tool_choice", True) and _has_tools(model)):
        lacking.add("tool_call")
    ways = (
        (_JSON_SCHEMA, _TOOL_CALL, _JSON_OBJECT, _PLAIN) if speaks_openai(model) else (_STRUCTURED, _TOOL_CALL, _PLAIN)
    )
    return [way for way in ways if way.name not in lacking]


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


_JSON_SCHEMA = Way("json_schema", _json_schema)
_STRUCTURED = Way("structured", _structured)
_TOOL_CALL = Way("tool_call", _tool_call)
_JSON_OBJECT = Way("json_object", _json_object)
_PLAIN = Way("plain", _plain)
