"""Stores on a client of the user and on a server."""

import pytest

from reasoningbank_langgraph.errors import StoreCorruptedError, StoreError, StoreUnavailableError
from reasoningbank_langgraph.store import ChromaStore, retry
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.store.folder.test_opening import HERE


def test_a_collection_that_is_no_bank_is_refused(embeddings):
    import chromadb

    client = chromadb.EphemeralClient()
    client.get_or_create_collection("foreign-collection", embedding_function=None, configuration={"hnsw": {}})
    with pytest.raises(StoreCorruptedError, match="no bank"):
        ChromaStore.from_client(client, embeddings=embeddings, collection="foreign-collection")
    metadata = {"schema": 1, "embedder": "HashEmbeddings(hash-embeddings)", "dims": 64, "state": "complete"}
    client.get_or_create_collection(
        "l2-collection", embedding_function=None, configuration={"hnsw": {"space": "l2"}}, metadata=metadata
    )
    with pytest.raises(StoreError, match="'l2'"):
        ChromaStore.from_client(client, embeddings=embeddings, collection="l2-collection")
    client.close()


@pytest.mark.parametrize("thing", [object(), HashEmbeddings()])
def test_what_is_no_client_is_refused_with_a_way_out(thing, embeddings):
    with pytest.raises(TypeError, match="pass the client it was made with"):
        ChromaStore.from_client(thing, embeddings=embeddings)


def test_stores_on_one_client_see_each_others_writes(embeddings):
    import chromadb

    client = chromadb.EphemeralClient()
    one, two = (ChromaStore.from_client(client, embeddings=embeddings, collection="both") for _ in range(2))
    assert one.search(HERE, query="x") == []
    two.put(HERE, "k", {"text": "x"})
    assert one.search(HERE, query="x")[0].key == "k"
    one.delete(HERE, "k")
    assert two.search(HERE) == []
    client.close()


@pytest.mark.network
def test_a_server_that_does_not_answer_is_named(embeddings, monkeypatch):
    monkeypatch.setattr(retry, "PATIENCE", 0.3)
    with pytest.raises(StoreUnavailableError, match=r"127\.0\.0\.1:9"):
        ChromaStore.from_server(port=9, embeddings=embeddings)


@pytest.mark.network
def test_two_stores_on_a_server_see_each_others_writes(server_port, embeddings):
    with (
        ChromaStore.from_server(port=server_port, embeddings=embeddings, collection="pair") as one,
        ChromaStore.from_server(port=server_port, embeddings=embeddings, collection="pair") as two,
    ):
        for n in range(5):
            one.put(HERE, f"one {n}", {"text": f"first {n}"})
            two.put(HERE, f"two {n}", {"text": f"second {n}"})
        assert len(one.search(HERE)) == len(two.search(HERE, query="first")) == 10
        two.delete(HERE, "one 0")
        assert one.get(HERE, "one 0") is None
        assert one.verify().ok
