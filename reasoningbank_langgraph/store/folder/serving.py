"""A bank's folder behind a Chroma server in this very process, so that the server ends when the process does."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from reasoningbank_langgraph.errors import StorePathError, StoreUnavailableError
from reasoningbank_langgraph.loopback import LOOPBACK, listening
from reasoningbank_langgraph.store.chroma_files import DATABASE_FILE
from reasoningbank_langgraph.store.folder.cleaning import refuse_torn_indexes
from reasoningbank_langgraph.store.folder.lock import BankLock, prepare_folder
from reasoningbank_langgraph.store.folder.privacy import make_files_private, make_private


def serve(path: str | os.PathLike[str], port: int, ready: Callable[[], None]) -> None:
    """Run a Chroma server for a bank on loopback until SIGINT or SIGTERM, with the bank's lock held.

    Every program of this machine may use it: a Chroma server asks for no password.

    Args:
        path: folder of an existing bank.
        port: where to listen.
        ready: called once the server takes connections.

    Raises:
        StorePathError: there is no bank.
        StoreLockedError: a store has it open.
        StoreUnavailableError: the port is taken, or the server ended by itself.
        StoreCorruptedError: a kill cut off the index while it was saved; to make it anew takes the embedder.
    """
    if not (Path(path) / DATABASE_FILE).is_file():
        raise StorePathError(path, "there is no bank yet; make one with ChromaStore.from_path")
    folder = prepare_folder(path)
    make_private(path, folder)
    make_files_private(folder)
    lock = BankLock(folder)
    try:
        refuse_torn_indexes(folder)
        with listening(port):
            pass  # it is free
        _run(folder, port, ready)
    finally:
        lock.release()


def _run(folder: Path, port: int, ready: Callable[[], None]) -> None:
    import chromadb_rust_bindings  # type: ignore[import-untyped]

    started, ended = threading.Event(), threading.Event()
    threading.Thread(target=_report_ready, args=(port, ready, started, ended), daemon=True).start()
    try:
        # What the program `chroma` does. It takes the arguments of a command line, the program's name first.
        chromadb_rust_bindings.cli(["chroma", "run", "--path", str(folder), "--host", LOOPBACK, "--port", str(port)])
    finally:
        ended.set()
    if not started.is_set():
        raise StoreUnavailableError(f"the Chroma server for {str(folder)!r} ended before it took a connection")


def _report_ready(port: int, ready: Callable[[], None], started: threading.Event, ended: threading.Event) -> None:
    while not ended.wait(0.1):
        with suppress(OSError), socket.create_connection((LOOPBACK, port), 1):
            started.set()
            ready()
            break
