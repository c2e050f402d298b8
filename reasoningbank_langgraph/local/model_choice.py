"""The model a command works with: the one named, else the best that the environment offers, else the packaged one."""

from __future__ import annotations

import contextlib
import json
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from reasoningbank_langgraph.chat.models import chat_model, openai_model, own_base_url
from reasoningbank_langgraph.chat.parameters import PARAMETERS
from reasoningbank_langgraph.errors import ModelServerError, ModelUnavailableError
from reasoningbank_langgraph.local.adapters import adapter_in_use, holds_adapters
from reasoningbank_langgraph.local.model import LocalModelServer, start_local_model
from reasoningbank_langgraph.local.model_files import PACKAGED, known_model_file
from reasoningbank_langgraph.local.tuned import CARD, SETTINGS, read_tuned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.language_models import BaseChatModel

OPENAI_DEFAULT = "gpt-4.1-mini"
_AT_ONCE = 5
"""Calls at a time where the model runs elsewhere and does not say how many it takes."""


@dataclass(frozen=True)
class ResolvedModel:
    """A chat model, why it is this one, and the server it needs; a context manager that stops that server."""

    chat: BaseChatModel
    description: str
    """One line for the user: which model, where, why, and how to get a better one."""
    server: LocalModelServer | None = None

    @property
    def at_once(self) -> int:
        """How many calls it takes at a time."""
        return self.server.slots if self.server else _AT_ONCE

    def close(self) -> None:
        """Stop the local server, where there is one."""
        if self.server is not None:
            self.server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def resolve_model(model: str | None = None, **settings: Any) -> ResolvedModel:
    """Return the model to work with, the first of: the one named, OPENAI_BASE_URL, OPENAI_API_KEY, the packaged one.

    Args:
        model: `PATH.gguf`; a folder that `reasoningbank tune` made; a folder of such folders, of which the adapter that
            is accepted is used, or the base where none is; a name of `reasoningbank model list` that was
            pulled; `NAME` or `openai:NAME` on the server at OPENAI_BASE_URL or else OpenAI; or any other
            `provider:NAME` of LangChain.
        settings: arguments of the chat model, such as `temperature`.

    Raises:
        AdapterError: a folder of adapters does not say which one to use, or that one has changed.
        ModelUnavailableError: the name means no model that can be used here.
        ModelServerError: a server did not start or did not answer.
        MissingDependencyError: the package that the choice needs is not installed.
    """
    base_url = own_base_url()
    if model:
        return _resolve_name(model, base_url, settings)
    if base_url:
        listing = _list_models(base_url)
        name = next(iter(listing))
        why = "the first model of the server at OPENAI_BASE_URL; choose another with --model"
        return ResolvedModel(_server_model(name, listing, settings), f"{name} at {base_url}: {why}")
    if os.environ.get("OPENAI_API_KEY"):
        why = "OPENAI_API_KEY is set; choose another with --model"
        return ResolvedModel(openai_model(OPENAI_DEFAULT, **settings), f"{OPENAI_DEFAULT} at OpenAI: {why}")
    better = "for a better one set OPENAI_API_KEY or OPENAI_BASE_URL, or run `reasoningbank model pull Qwen3-1.7B`"
    return _local_model(None, f"the packaged model, which is tiny; {better}", settings)


def _resolve_name(model: str, base_url: str | None, settings: dict[str, Any]) -> ResolvedModel:
    if model.lower().endswith(".gguf"):
        return _local_model(model, "the file you named", settings)
    if (Path(model) / CARD).is_file() or holds_adapters(Path(model)):
        return _tuned_model(Path(model), settings)
    if (Path(model) / SETTINGS).is_file():
        way_out = "`reasoningbank tune` with the same options finishes it"
        raise ModelUnavailableError(model, f"the training of this adapter has not come to its end: {way_out}")
    entry = known_model_file(model)
    if entry and entry.name == PACKAGED:
        return _local_model(None, "the packaged model, as you named it", settings)
    if entry and entry.path().exists():
        return _local_model(str(entry.path()), "downloaded earlier", settings)
    if entry and base_url is None:
        raise ModelUnavailableError(model, f"it is not on this disk: run `reasoningbank model pull {entry.name}` first")
    provider, _, name = model.partition(":")
    if name and provider != "openai":
        return ResolvedModel(chat_model(model, **settings), f"{name} at {provider}: the model you named")
    name = name or model
    listing: dict[str, dict[str, Any]] = {}
    if base_url:
        # A model that was named needs no list: the server may have none, or be about to start.
        with contextlib.suppress(ModelServerError):
            listing = _list_models(base_url)
    return ResolvedModel(
        _server_model(name, listing, settings), f"{name} at {base_url or 'OpenAI'}: the model you named"
    )


def _tuned_model(folder: Path, settings: dict[str, Any]) -> ResolvedModel:
    """Return the model of an adapter, or of a folder of them: with the one in use, or the base."""
    one = (folder / CARD).is_file()
    base, adapter = read_tuned(folder) if one else adapter_in_use(folder)
    of_several = f"the adapter in use in {folder}" if adapter else f"the base, as no adapter of {folder} is accepted"
    return _local_model(str(base), "the tuned model you named" if one else of_several, settings, adapter)


def _server_model(name: str, listing: Mapping[str, dict[str, Any]], settings: dict[str, Any]) -> BaseChatModel:
    """Return a model of a server, with what the server says of it."""
    return openai_model(name, **listing.get(name, {}) | settings)


def _local_model(path: str | None, why: str, settings: dict[str, Any], adapter: Path | None = None) -> ResolvedModel:
    server = start_local_model(path, adapter=adapter)
    try:
        chat = server.chat_model(**settings)
    except BaseException:
        server.close()
        raise
    return ResolvedModel(chat, f"{server.model_name} on this machine: {why}", server)


def _list_models(base_url: str) -> dict[str, dict[str, Any]]:
    """Return the names of a server's models, with what it says of them as settings of a chat model."""
    key = os.environ.get("OPENAI_API_KEY") or "none"
    way_out = "start it, unset OPENAI_BASE_URL, or name a model with --model"
    try:
        request = urllib.request.Request(  # noqa: S310 - the user's own address
            f"{base_url.rstrip('/')}/models", headers={"Authorization": f"Bearer {key}"}
        )
        with urllib.request.urlopen(request, timeout=15) as response:  # noqa: S310 - as above
            models = {str(model["id"]): _known_settings(model) for model in json.load(response)["data"] or ()}
    except urllib.error.HTTPError as error:
        error.close()
        problem = f"answers HTTP {error.code} {error.reason} when asked for its models"
        raise ModelServerError(f"{base_url} (OPENAI_BASE_URL) {problem}: set OPENAI_API_KEY, or {way_out}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelServerError(f"{base_url} (OPENAI_BASE_URL) does not list its models ({error}): {way_out}") from error
    if not models:
        raise ModelServerError(f"{base_url} (OPENAI_BASE_URL) has no models: load one, or {way_out}")
    return models


def _known_settings(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context and parameters of a model, where the server says: vLLM and llama-server do, each its way."""
    meta = model.get("meta") or {}
    context, parameters = model.get("max_model_len") or meta.get("n_ctx"), meta.get("n_params")
    settings: dict[str, Any] = {}
    if isinstance(context, int) and context > 0:
        settings["profile"] = {"max_input_tokens": context}
    if isinstance(parameters, int) and parameters > 0:
        settings["metadata"] = {PARAMETERS: parameters}
    return settings
