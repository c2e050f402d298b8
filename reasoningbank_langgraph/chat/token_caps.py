"""Caps on the tokens of a reply, named as the model's class and its server name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reasoningbank_langgraph.chat.models import has_class, speaks_openai
from reasoningbank_langgraph.chat.variants import variant

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_CAPS = ("max_tokens", "max_completion_tokens", "num_predict", "max_output_tokens", "max_new_tokens")
"""Names of the field that caps the reply, in various chat models."""


def capped(model: BaseChatModel, max_tokens: int, bad_cap: str | None = None) -> BaseChatModel:
    """Return the model with a cap on its reply, whatever its class calls it; unchanged if the class has no cap.

    Args:
        model: any chat model.
        max_tokens: the cap.
        bad_cap: a name of the cap that its OpenAI-compatible server refused.
    """
    return variant(model, token_cap(model, max_tokens, bad_cap))


def token_cap(model: BaseChatModel, max_tokens: int, bad_cap: str | None = None) -> dict[str, Any]:
    """Return the fields of a model that cap its reply, named as its class does; empty if it has none."""
    if has_class(model, "ChatOpenAI"):
        return _chat_openai_cap(model, max_tokens, bad_cap)
    if bad_cap == "max_tokens" and speaks_openai(model):
        others = getattr(model, "model_kwargs", None) or {}
        return {"max_tokens": None, "model_kwargs": {**others, "max_completion_tokens": max_tokens}}
    fields = type(model).model_fields
    return dict.fromkeys([name for name in _CAPS if name in fields][:1], max_tokens)


def _chat_openai_cap(model: Any, max_tokens: int, bad_cap: str | None) -> dict[str, Any]:
    """Return the fields that cap a `ChatOpenAI`, which sends its cap as `max_completion_tokens`.

    Servers other than OpenAI's may not know that name, so they get both. OpenAI refuses both, and some servers refuse
    one of the two.
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
