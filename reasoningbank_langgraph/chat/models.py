"""Chat models by name: what every `model=` argument of the package accepts."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding
from pydantic import ValidationError

from reasoningbank_langgraph.chat.variants import variant
from reasoningbank_langgraph.errors import MissingDependencyError, ModelUnavailableError
from reasoningbank_langgraph.records import task_key

if TYPE_CHECKING:
    from langchain_openai.chat_models.base import BaseChatOpenAI

ModelLike = str | BaseChatModel | Runnable[Any, Any]
"""A chat model, its name, or a chat model with settings bound to it."""

_OPENAI = "https://api.openai.com/v1"


def chat_model(model: ModelLike, **settings: Any) -> BaseChatModel:
    """Return the chat model that a name stands for; a chat model is returned unchanged.

    Cap one call with `model.bind(max_tokens=N)`, which every model made here passes on.

    Args:
        model: `"openai:NAME"` for OpenAI or the server at OPENAI_BASE_URL, any other `"provider:NAME"` of
            LangChain's `init_chat_model`, or a chat model, with or without settings bound to it, as in
            `ChatOpenAI(...).bind(temperature=0)`.
        settings: arguments for a chat model made from a name, such as `temperature`.

    Raises:
        MissingDependencyError: the name needs the package `langchain`.
        ModelUnavailableError: the provider is unknown, its package is missing or its key is not set, or the name is
            empty; what the provider said is its cause.
        TypeError: `model` is neither a name nor a chat model, or has something bound that is not a setting of its
            class.
    """
    if isinstance(model, BaseChatModel):
        return model
    if not isinstance(model, str):
        return _with_settings(model)
    provider, _, name = model.partition(":")
    if not model.strip() or (provider == "openai" and ":" in model and not name):
        raise ModelUnavailableError(model, "it names no model: write 'PROVIDER:NAME', as in 'openai:gpt-4.1-mini'")
    if provider == "openai" and name:
        return openai_model(name, **settings)
    return _langchain_model(model, settings)


def _with_settings(model: Any) -> BaseChatModel:
    """Make the bound settings the model's own, so that structured output and tools, bound later, keep them."""
    if not isinstance(model, RunnableBinding):
        raise TypeError(
            f"model must be a chat model or the name of one, got {type(model).__name__}: pass the chat model itself; "
            "most classes take `max_retries=` in place of with_retry()"
        )
    chat = chat_model(model.bound)
    names = {name: name for name in type(chat).model_fields}
    names |= {field.alias: name for name, field in type(chat).model_fields.items() if field.alias}
    if unknown := [name for name in model.kwargs if name not in names]:
        raise TypeError(f"{', '.join(unknown)} bound to {type(chat).__name__} is none of its settings: pass it unbound")
    fields: dict[str, Any] = {names[name]: value for name, value in model.kwargs.items()}
    fields |= {name: value for name, value in model.config.items() if name in ("tags", "metadata", "callbacks")}
    return variant(chat, fields)


def openai_model(name: str, *, base_url: str | None = None, **settings: Any) -> BaseChatOpenAI:
    """Return a chat model on OpenAI, or on the OpenAI-compatible server at `base_url` or OPENAI_BASE_URL.

    Args:
        name: the server's name for the model.
        base_url: address, including `/v1`; default OPENAI_BASE_URL, then OpenAI itself.
        settings: arguments for the chat model; `api_key` defaults to OPENAI_API_KEY.

    Raises:
        ModelUnavailableError: OpenAI itself is meant and OPENAI_API_KEY is not set.
    """
    from langchain_openai import ChatOpenAI
    from langchain_openai.chat_models.base import BaseChatOpenAI

    base_url = base_url or own_base_url()
    key: Any = settings.pop("api_key", None) or os.environ.get("OPENAI_API_KEY")
    if base_url is None:
        if not key:
            raise ModelUnavailableError(name, "OPENAI_API_KEY is not set; set it, or OPENAI_BASE_URL for a server")
        return ChatOpenAI(model=name, base_url=_OPENAI, api_key=key, **{"stream_usage": True, **settings})
    # ChatOpenAI sends the cap as `max_completion_tokens`, which llama.cpp's Python server and others ignore:
    # the reply then fills the whole context. Its base class sends `max_tokens`, which all of them know.
    settings["api_key"] = key or "none"
    return BaseChatOpenAI(model=name, base_url=base_url, use_responses_api=False, **settings)


def sampling_seed(seed: int | str, task: str, number: int = 0) -> int:
    """Return the seed of one of several samples for a task, below 2**31: the same arguments give the same seed.

    One seed for all tasks would give each of them the same draws, and one unlucky first draw would spoil all
    replies: at temperature 0.7 Qwen2.5-Coder-0.5B solved 6 of 30 problems with seed 1 for all, and 20 and 15 with a
    different seed for each.

    Args:
        seed: seed of the run.
        task: text of the task; case and white space make no difference.
        number: number of the sample.
    """
    return int.from_bytes(hashlib.sha256(f"{seed}|{number}|{task_key(task)}".encode()).digest()[:4]) >> 1


def own_base_url() -> str | None:
    """Return OPENAI_BASE_URL, or None if it is not set or names OpenAI itself."""
    base_url = os.environ.get("OPENAI_BASE_URL") or None
    return None if base_url and urlsplit(base_url).hostname == urlsplit(_OPENAI).hostname else base_url


def model_name_of(model: BaseChatModel) -> str:
    """Return the model's name for itself."""
    named = getattr(model, "model_name", None) or getattr(model, "model", None)
    return str(named or type(model).__name__)


def speaks_openai(model: BaseChatModel) -> bool:
    """Say whether the model's class sends requests in the form of OpenAI's chat completions."""
    return has_class(model, "BaseChatOpenAI")


def has_class(model: BaseChatModel, name: str) -> bool:
    """Say whether the model is of a class of this name, without importing the package of the class."""
    return any(cls.__name__ == name for cls in type(model).__mro__)


def _langchain_model(model: str, settings: dict[str, Any]) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        instead = f"write 'openai:{model}' for OpenAI or the server at OPENAI_BASE_URL"
        raise MissingDependencyError("langchain", "agents", instead=instead) from error
    try:
        chat: BaseChatModel = init_chat_model(model, **settings)
    except Exception as error:
        raise ModelUnavailableError(model, _problem(model, error)) from error
    return chat


def _problem(model: str, error: Exception) -> str:
    """Return what a provider has against a model, and the way out: each has errors of its own for a missing key."""
    said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error).partition("\n")[0]
    if type(error) is not ValueError and ":" in model:
        return said
    return f"{said} (for a server at OPENAI_BASE_URL write 'openai:{model}', for another provider 'PROVIDER:NAME')"
