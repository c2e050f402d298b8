"""The program behind `local.model`: serves one GGUF model on loopback. Run as a script, never imported.

It is llama.cpp's own server. It runs in a process of its own, so that a crash of native code or the memory of a large
model cannot bring down the program that uses it.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

PREFIX = "/local"
"""Precedes every path: llama.cpp asks for no key at some of the paths that it knows by their plain name."""


def main() -> None:
    """Read the settings from the first line of stdin, load the model, write the address to stdout, and serve."""
    settings = json.loads(sys.stdin.buffer.readline())
    for watch in (_end_with_stdin, _end_with_parent):
        threading.Thread(target=watch, args=(settings["parent"],), daemon=True).start()
    address_pipe = _own_stdout()
    server = _serve(settings)
    # llama.cpp takes these over and would leave behind a process that serves nothing.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.write(address_pipe, f"{server.listening_address}{PREFIX}\n".encode())
    os.close(address_pipe)
    threading.Event().wait()


def _end_with_stdin(_: int) -> None:
    while os.read(0, 1):  # ends when the other end is closed, which the death of its process does
        pass
    os._exit(1)


def _end_with_parent(parent: int) -> None:
    # A fork of the parent holds the other end of stdin too, and may live longer. Windows keeps the number of a dead
    # parent and has no forks. The parent-death signal of Linux comes when the starting *thread* ends: too early.
    while os.name == "posix":
        if os.getppid() != parent:
            os._exit(1)
        time.sleep(0.25)


def _own_stdout() -> int:
    """Return a copy of stdout for the address alone; what llama.cpp writes there goes to stderr from now on."""
    address_pipe = os.dup(1)
    os.dup2(2, 1)
    return address_pipe


def _serve(settings: dict[str, Any]) -> Any:
    _find_openmp()
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = settings["model"], {settings["name"]}
    params.hostnames, params.port, params.api_prefix = ["127.0.0.1"], 0, PREFIX
    params.api_keys, params.cors_origins = [settings["api_key"]], ""
    params.ui = params.endpoint_slots = params.fit_params = params.cache_idle_slots = False
    params.offline, params.verbosity = True, 2
    # Each slot has its own part of the context, so that a long request takes nothing from another.
    params.n_parallel, params.n_ctx, params.kv_unified = settings["slots"], settings["slots"] * settings["n_ctx"], False
    params.cache_ram_mib = 0  # prompts of slots used anew would be kept aside, up to 8 GiB of them
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    if settings["adapter"]:
        params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(settings["adapter"], 1.0)]
    params.enable_reasoning = 0  # Qwen3 would spend its token cap on thoughts before the answer begins
    return xllamacpp.Server(params)


def _find_openmp() -> None:
    """Load PyTorch's OpenMP where the system has none, as in slim containers; llama.cpp finds it by its name."""
    spec = importlib.util.find_spec("torch")
    for folder in (spec and spec.submodule_search_locations) or ():
        if (library := Path(folder) / "lib" / "libgomp.so.1").exists():
            try:
                ctypes.CDLL("libgomp.so.1")
            except OSError:
                ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


if __name__ == "__main__":
    main()
