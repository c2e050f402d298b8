"""Stores on a client of the user and on a server."""

import pytest

from reasoningbank_langgraph.errors import (
    EmbeddingError,
    StoreCorruptedError,
    StoreError,
    StoreSettingError,
    StoreUnavailableError,
)
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


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"index": 3}, "index is an IndexConfig or None, got int 3"),
        ({"index": {"embed": HashEmbeddings(), "dims": "64"}}, "dims is a whole number, got str '64'"),
        ({"embeddings": 3}, "embeddings is an Embeddings, a function or 'PROVIDER:MODEL', got int 3"),
        ({"ttl": 5}, "ttl is a TTLConfig or None, got int 5"),
        ({"collection": 3}, "collection is a name, got int 3"),
        ({"cache_bytes": "1 GB"}, "cache_bytes is a number of bytes, got str '1 GB'"),
    ],
)
def test_a_setting_of_another_type_is_named_before_anything_is_opened(settings, said, tmp_path):
    with pytest.raises(StoreSettingError, match=f"^{said}$") as caught:
        ChromaStore.from_path(tmp_path / "bank", **settings)
    assert isinstance(caught.value, TypeError)


def test_a_server_is_named_by_a_text_and_a_number():
    with pytest.raises(StoreSettingError, match="host is a name or an address, got int 8000"):
        ChromaStore.from_server(8000)
    with pytest.raises(StoreSettingError, match="port is a whole number, got str '8000'"):
        ChromaStore.from_server("127.0.0.1", "8000")
    with pytest.raises(StoreSettingError, match="cache_bytes is a number of bytes"):
        ChromaStore.from_server("127.0.0.1", 1, cache_bytes="1 GB")


def test_an_embedder_that_no_name_makes_is_an_error_of_embedding(tmp_path):
    with pytest.raises(EmbeddingError, match="no embedder can be made from 'nobody:knows': ") as caught:
        ChromaStore.from_path(tmp_path / "bank", embeddings="nobody:knows")
    assert isinstance(caught.value.__cause__, Exception)


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
