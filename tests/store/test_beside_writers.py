"""Reads on a server while another client changes what they read."""

import pytest
from chromadb.api.models.Collection import Collection
from chromadb.errors import InternalError

from reasoningbank_langgraph.errors import StoreCorruptedError
from reasoningbank_langgraph.store import ChromaStore, index_search, retry
from reasoningbank_langgraph.testing import HashEmbeddings

pytestmark = pytest.mark.network

HERE = ("a", "b")
MISSING = InternalError("Error executing plan: Internal error: Error finding id")


def opened(port, name):
    return ChromaStore.from_server(port=port, embeddings=HashEmbeddings(), collection=name)


@pytest.fixture
def store(server_port, request, monkeypatch):
    monkeypatch.setattr(index_search, "EXACT_UP_TO", 0)
    with opened(server_port, f"beside-{abs(hash(request.node.name))}") as store:
        store.put(HERE, "k", {"text": "before"})
        yield store


def test_a_row_that_another_client_removes_during_a_read_is_no_damage(store, monkeypatch):
    query, refusals = Collection.query, [MISSING, MISSING]

    def removed_meanwhile(self, **request):
        if refusals:
            raise refusals.pop()
        return query(self, **request)

    monkeypatch.setattr(Collection, "query", removed_meanwhile)
    assert [hit.key for hit in store.search(HERE, query="before")] == ["k"]


def test_a_row_that_stays_missing_is_damage_with_the_way_out(store, monkeypatch):
    def refuses(self, **request):
        tries.append(request)
        raise MISSING

    tries = []
    monkeypatch.setattr(Collection, "query", refuses)
    with pytest.raises(StoreCorruptedError, match=r"Error finding id; rebuild_index\(\) makes the index anew"):
        store.search(HERE, query="before")
    assert len(tries) == retry.READINGS


def test_vectors_that_another_client_writes_anew_during_a_read_are_read_again(store, server_port, monkeypatch):
    get, written = Collection.get, []

    def rewritten_meanwhile(self, **request):
        if "embeddings" in request["include"] and not written:
            written.append(1)
            with opened(server_port, self.name) as other:
                other.put(HERE, "k", {"text": "after"})
        return get(self, **request)

    monkeypatch.setattr(Collection, "get", rewritten_meanwhile)
    (vector,) = store.stored_vectors(HERE, ["k"])["k"]
    assert written
    assert (vector == store.stored_vectors(HERE, ["k"])["k"][0]).all()
