"""A server that goes away and comes back, is busy, silent or somebody else's; and a bank served from its folder."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from reasoningbank_langgraph.errors import (
    StoreCorruptedError,
    StoreError,
    StoreLockedError,
    StorePathError,
    StoreUnavailableError,
)
from reasoningbank_langgraph.store import ChromaStore, retry
from reasoningbank_langgraph.store.folder.serving import serve
from reasoningbank_langgraph.testing import HashEmbeddings

from .chroma_server import ChromaServer, Door, free_port, listens, wait_until

pytestmark = pytest.mark.network

HERE = ("a", "b")
CALLS = {
    "get": lambda store: store.get(HERE, "k"),
    "search": lambda store: store.search(HERE, query="before"),
    "list": lambda store: store.list_namespaces(),
    "put": lambda store: store.put(HERE, "k", {"text": "after"}),
    "delete": lambda store: store.delete(HERE, "k"),
}


@pytest.fixture
def server(tmp_path):
    server = ChromaServer(tmp_path / "data")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def door(server_port):
    door = Door(server_port)
    yield door
    door.close()


@pytest.fixture
def behind_the_door(door, request):
    name = f"door-{abs(hash(request.node.name))}"
    with ChromaStore.from_server(port=door.port, embeddings=HashEmbeddings(), collection=name) as store:
        store.put(HERE, "k", {"text": "before"})
        yield store


@pytest.mark.slow
def test_a_store_goes_on_after_its_server_was_killed_and_started_again(server):
    with ChromaStore.from_server(port=server.port, embeddings=HashEmbeddings()) as store:
        store.put(HERE, "k", {"text": "before"})
        for number in range(2):
            server.kill()
            server.start()
            assert store.get(HERE, "k").value == {"text": "before"}
            store.put(HERE, str(number), {"text": f"after {number}"})
        assert len(store.search(HERE, query="after 1")) == 3
        assert store.verify().ok


@pytest.mark.slow
def test_a_call_made_while_the_server_is_away_waits_for_it(server, monkeypatch):
    monkeypatch.setattr(retry, "PATIENCE", 120)  # a busy machine takes longer to start a server
    with ChromaStore.from_server(port=server.port, embeddings=HashEmbeddings()) as store:
        store.put(HERE, "k", {"text": "before"})
        server.kill()
        back = threading.Timer(0.5, server.start)
        back.start()
        store.put(HERE, "new", {"text": "written as soon as it was back"})
        back.join()
        assert sorted(item.key for item in store.search(HERE)) == ["k", "new"]


@pytest.mark.slow
def test_a_server_that_stays_away_is_named_with_the_number_of_tries(server, monkeypatch):
    assert retry.PATIENCE == 10
    with ChromaStore.from_server(port=server.port, embeddings=HashEmbeddings()) as store:
        store.put(HERE, "k", {"text": "before"})
        server.kill()
        monkeypatch.setattr(retry, "PATIENCE", 0.5)
        for call in CALLS.values():
            with pytest.raises(StoreUnavailableError, match=rf"127\.0\.0\.1:{server.port} .*tried ([2-9]|\d\d) times"):
                call(store)
        server.start()
        assert store.get(HERE, "k").value == {"text": "before"}


@pytest.mark.parametrize("failure", [429, 502, 503, 504, "cut", "lost"])
@pytest.mark.parametrize("name", CALLS)
def test_a_request_that_failed_on_the_way_is_repeated_and_done_once(behind_the_door, door, name, failure):
    door.failures = [failure, failure]
    CALLS[name](behind_the_door)
    assert door.failures == []
    found = behind_the_door.get(HERE, "k")
    assert (found and found.value) == {"put": {"text": "after"}, "delete": None}.get(name, {"text": "before"})
    assert behind_the_door.verify().ok


def test_a_refusal_is_not_repeated(behind_the_door, door):
    door.failures = [500, 500]
    with pytest.raises(StoreCorruptedError, match="HTTP 500"):
        behind_the_door.get(HERE, "k")
    assert door.failures == [500]
    with pytest.raises(StoreError, match="HTTP 500"):
        behind_the_door.put(HERE, "k", {"text": "after"})


def test_a_server_that_takes_requests_and_says_nothing_is_given_up(behind_the_door, door, monkeypatch):
    monkeypatch.setattr(retry, "PATIENCE", 0.5)
    client = behind_the_door._collection.rows.client
    for session in (client._server._session, client._admin_client._server._session):
        assert session.timeout.read == retry.ANSWER_WITHIN == 60
        session.timeout = 0.3
    door.failures = ["silent"] * 10
    with pytest.raises(StoreUnavailableError, match="ReadTimeout"):
        behind_the_door.get(HERE, "k")
    door.failures = []
    assert behind_the_door.get(HERE, "k").value == {"text": "before"}


def test_a_server_that_says_nothing_when_opened_is_given_up(door, monkeypatch):
    monkeypatch.setattr(retry, "PATIENCE", 0.5)
    monkeypatch.setattr("reasoningbank_langgraph.store.connect.ANSWER_WITHIN", 0.3)
    door.failures = ["silent"] * 10
    with pytest.raises(StoreUnavailableError, match=f"{door.port}.*ReadTimeout"):
        ChromaStore.from_server(port=door.port, embeddings=HashEmbeddings())


@pytest.mark.parametrize("status", [401, 404])
def test_a_server_that_is_no_chroma_or_refuses_is_named_at_once(door, status):
    door.failures = [status]
    with pytest.raises(StoreUnavailableError, match=f"127.0.0.1:{door.port} answered HTTP {status}"):
        ChromaStore.from_server(port=door.port, embeddings=HashEmbeddings())
    assert len(door.requests) == 1


def test_headers_go_with_every_request(door):
    headers = {"x-chroma-token": "ck-secret", "X-Team": "blue"}
    with ChromaStore.from_server(
        port=door.port, embeddings=HashEmbeddings(), headers=headers, collection="headers"
    ) as store:
        store.put(HERE, "k", {"text": "x"})
        assert store.search(HERE, query="x")
        assert store.verify().ok
    assert len(door.requests) > 10
    for path, sent in door.requests:
        lower = {name.lower(): value for name, value in sent.items()}
        assert (lower.get("x-chroma-token"), lower.get("x-team")) == ("ck-secret", "blue"), path
    assert headers == {"x-chroma-token": "ck-secret", "X-Team": "blue"}


def test_tenants_and_databases_are_kept_apart_and_must_exist(door):
    import chromadb

    settings = chromadb.Settings(
        chroma_api_impl="chromadb.api.fastapi.FastAPI",
        chroma_server_host="127.0.0.1",
        chroma_server_http_port=door.port,
    )
    admin = chromadb.AdminClient(settings)
    admin.create_tenant("acme")
    admin.create_database("lessons", "acme")
    door.requests.clear()
    place = {"tenant": "acme", "database": "lessons"}
    with (
        ChromaStore.from_server(port=door.port, embeddings=HashEmbeddings(), **place) as theirs,
        ChromaStore.from_server(port=door.port, embeddings=HashEmbeddings()) as ours,
    ):
        theirs.put(HERE, "k", {"text": "theirs"})
        assert ours.get(HERE, "k") is None
        theirs.rebuild_index()
        assert theirs.search(HERE, query="theirs")[0].value == {"text": "theirs"}
    assert any("/tenants/acme/databases/lessons/collections" in path for path, _ in door.requests)
    for wrong in ({"tenant": "nobody"}, {"tenant": "acme", "database": "nothing"}):
        with pytest.raises(StoreUnavailableError, match=f"{door.port} answered HTTP 404"):
            ChromaStore.from_server(port=door.port, embeddings=HashEmbeddings(), **wrong)
    admin._server._session.close()


@pytest.fixture
def bank(folder):
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        store.put(HERE, "embedded", {"text": "made embedded"})
    return folder


@pytest.fixture
def serving(bank):
    port = free_port()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "reasoningbank_langgraph.cli", "bank", "serve", "--path", str(bank)]
    with subprocess.Popen(
        [*command, "--port", str(port)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        said = []
        for line in process.stdout:
            said.append(line)
            if "from_server" in line:
                break
        process.said, process.port = "".join(said), port
        yield process
        process.kill()


@pytest.mark.slow
def test_a_served_bank_is_shared_and_goes_back_to_its_folder(serving, bank):
    assert f'ChromaStore.from_server("127.0.0.1", {serving.port})' in serving.said
    with pytest.raises(StoreLockedError, match=f"process {serving.pid}"):
        ChromaStore.from_path(bank, embeddings=HashEmbeddings())
    with (
        ChromaStore.from_server("127.0.0.1", serving.port, embeddings=HashEmbeddings()) as one,
        ChromaStore.from_server("127.0.0.1", serving.port, embeddings=HashEmbeddings()) as two,
    ):
        one.put(HERE, "served", {"text": "made through the server"})
        assert [item.key for item in two.search(HERE, query="made embedded")] == ["embedded", "served"]
        assert two.verify().ok
    serving.send_signal(signal.SIGTERM)
    assert serving.wait(30) == 0
    assert not listens(serving.port)
    with ChromaStore.from_path(bank, embeddings=HashEmbeddings()) as store:
        assert sorted(item.key for item in store.search(HERE)) == ["embedded", "served"]
        assert store.search(HERE, query="made through the server", limit=1)[0].key == "served"
        assert store.verify().ok


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_the_server_ends_with_the_command_however_that_ends(serving, bank, end):
    assert listens(serving.port)
    serving.send_signal(end)
    assert serving.wait(30) == (0 if end == signal.SIGINT else -end)
    wait_until(lambda: not listens(serving.port), 5)
    with ChromaStore.from_path(bank, embeddings=HashEmbeddings()) as store:
        assert store.get(HERE, "embedded") is not None
        assert store.verify().ok


def test_a_bank_that_is_open_is_not_served(bank):
    with ChromaStore.from_path(bank, embeddings=HashEmbeddings()), pytest.raises(StoreLockedError):
        serve(bank, free_port(), lambda: None)


def test_a_folder_without_a_bank_is_not_served_and_not_made(tmp_path):
    with pytest.raises(StorePathError, match="no bank yet"):
        serve(tmp_path / "none", free_port(), lambda: None)
    assert not (tmp_path / "none").exists()


def test_a_port_that_is_taken_is_named_and_the_bank_is_free_again(bank, server_port):
    with pytest.raises(StoreUnavailableError, match=f"port {server_port} cannot be listened on"):
        serve(bank, server_port, lambda: None)
    with ChromaStore.from_path(bank, embeddings=HashEmbeddings()) as store:
        assert store.verify().ok
