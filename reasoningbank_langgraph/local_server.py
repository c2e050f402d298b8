"""The program behind `local.py`: serves one GGUF model on a socket it was handed. Run as a file, never imported.

It is not `python -m llama_cpp.server` because that one listens where the variables HOST and PORT say, reads every
other setting from the environment too, outlives the process that started it, and cuts off a streamed reply when
the next request arrives.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from typing import Any


def main() -> None:
    """Read the settings from stdin, load the model and serve until killed."""
    settings = json.load(sys.stdin)
    threading.Thread(target=_end_with, args=(settings["parent"],), daemon=True).start()

    import uvicorn

    config = uvicorn.Config(_app(settings), log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=settings["fd"])])


def _end_with(parent: int) -> None:
    # The parent-death signal of Linux comes when the starting *thread* ends, which is too early in a thread pool.
    while os.getppid() == parent:
        time.sleep(0.25)
    os._exit(1)


def _app(settings: dict[str, Any]) -> Any:
    from llama_cpp.server.app import create_app
    from llama_cpp.server.settings import ModelSettings, ServerSettings

    _forget_environment({*ModelSettings.model_fields, *ServerSettings.model_fields, "config_file"})
    model = {
        "model": settings["model"],
        "model_alias": settings["name"],
        "n_ctx": settings["n_ctx"],
        "n_threads": settings["threads"],
        "n_threads_batch": settings["threads"],
        # The scores of every token are only for log probabilities and take n_ctx x vocabulary x 4 bytes.
        "logits_all": False,
        "verbose": False,
    }
    if "chat_template_kwargs" in ModelSettings.model_fields:
        # Qwen3 would spend its token cap on thoughts before the answer begins.
        model["chat_template_kwargs"] = {"enable_thinking": False}
    server = ServerSettings(api_key=settings["api_key"], interrupt_requests=False)
    return create_app(server_settings=server, model_settings=[ModelSettings(**model)])


def _forget_environment(names: set[str]) -> None:
    """Drop variables such as MODEL, SEED or CACHE, which would silently become settings of the server."""
    for name in list(os.environ):
        if name.lower() in names:
            del os.environ[name]


if __name__ == "__main__":
    main()
