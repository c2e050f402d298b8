"""Fixtures for the store tests: a bank in a folder, and a real Chroma server on loopback."""

import contextlib
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.cache import collection as cached_collection
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.benchmarks.langgraph_stores import PLUGIN


def pytest_collection_modifyitems(config, items):
    """Leave out what LangGraph's own stores are known to fail, and Postgres, unless that is what is tried."""
    if not config.pluginmanager.has_plugin(PLUGIN):
        items[:] = [item for item in items if not only_for_the_page(item)]


def only_for_the_page(item):
    return hasattr(item.cls, "known_failures") and (
        not getattr(item.cls, "quick", True) or item.cls._known_failure(item)
    )


@pytest.fixture
def embeddings():
    return HashEmbeddings()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "bank"


@pytest.fixture
def store(folder, embeddings):
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        yield store


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets, in seconds."""
    clock = SimpleNamespace(seconds=1_800_000_000)
    monkeypatch.setattr(cached_collection, "time", SimpleNamespace(time_ns=lambda: clock.seconds * 10**9))
    return clock


@pytest.fixture(scope="session")
def server_port(tmp_path_factory):
    """Port of a Chroma server that runs until the end of the tests."""
    from pytest_socket import enable_socket

    enable_socket()
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = shutil.which("chroma", path=str(Path(sys.executable).parent)) or "chroma"
    data = tmp_path_factory.mktemp("server")
    command = [program, "run", "--path", str(data), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for(port, server)
            yield port
        finally:
            server.terminate()


def _wait_for(port, server):
    end = time.monotonic() + 120
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise AssertionError(f"the Chroma server did not start: exit code {server.poll()}")
