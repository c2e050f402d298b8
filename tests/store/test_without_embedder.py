"""A bank opened without its embedder: everything is read, nothing is embedded, and no text gets another's vector."""

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.errors import EmbeddingError, StoreLockedError, StorePathError
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.collection import COMPLETE, REINDEX, begin_collection, drop, successor
from reasoningbank_langgraph.store.without_embedder import open_without_embedder
from reasoningbank_langgraph.testing import HashEmbeddings

HERE = ("a",)
OWN = {"embed": HashEmbeddings(16), "fields": ["text"]}


@pytest.fixture
def bank(folder):
    with ChromaStore.from_path(folder, index=OWN) as store:
        store.put(HERE, "both", {"text": "red", "more": "green", "n": 1}, index=["text", "more"])
        store.put(HERE, "one", {"text": "blue", "more": "x"}, index=["text"])
        store.put(HERE, "by default", {"text": "white"})
        store.put(HERE, "none", {"text": "black"}, index=False)
    return folder


def scores(folder, query):
    with ChromaStore.from_path(folder, index=OWN) as store:
        assert store.verify().ok
        return {item.key: item.score for item in store.search(HERE, query=query)}


def test_what_is_there_is_read_and_what_is_searched_by_meaning_names_the_embedder(bank):
    with open_without_embedder(bank) as store:
        assert store.get(HERE, "one").value == {"text": "blue", "more": "x"}
        assert len(store.search(HERE)) == 4
        assert store.verify().ok
        with pytest.raises(EmbeddingError, match=r"the bank's embedder, HashEmbeddings\(hash-embeddings\)"):
            store.search(HERE, query="red")


def test_a_value_that_changes_beside_its_texts_keeps_their_vectors(bank):
    before = scores(bank, "green")
    with open_without_embedder(bank) as store:
        store.put(HERE, "both", {"text": "red", "more": "green", "n": 2}, index=["more", "text"])
        assert store.get(HERE, "both").value["n"] == 2
    assert scores(bank, "green") == pytest.approx(before)
    assert before["both"] == pytest.approx(1.0)


async def test_a_text_moves_to_another_item_of_the_batch_and_deletions_need_no_vector(bank):
    async with open_without_embedder(bank) as store:
        await store.adelete(HERE, "by default")
        await store.abatch([put("new", "green"), put("both", None)])
        assert len(await store.asearch(HERE)) == 3
    assert scores(bank, "green")["new"] == pytest.approx(1.0)


def put(key, text):
    return PutOp(HERE, key, text and {"text": text}, ["text"])


@pytest.mark.parametrize(
    ("key", "text"), [("new", "blue"), ("one", "bluer"), ("by default", "white"), ("none", "black")]
)
def test_a_text_whose_vector_its_batch_does_not_hold_is_not_written(bank, key, text):
    with open_without_embedder(bank) as store:
        before = store.search(HERE)
        with pytest.raises(EmbeddingError):
            store.batch([put(key, text), put("both", None)])
        assert store.search(HERE) == before


def test_a_bank_without_vectors_is_written_as_ever(folder):
    with ChromaStore.from_path(folder, index=None) as store:
        store.put(HERE, "k", {"text": "x"})
    with open_without_embedder(folder) as store:
        store.put(HERE, "k2", {"text": "y"})
        assert len(store.search(HERE, query="x")) == 2
    with ChromaStore.from_path(folder, index=None) as store:
        assert store.verify().ok


def test_an_open_bank_is_refused(bank):
    with ChromaStore.from_path(bank, index=OWN), pytest.raises(StoreLockedError):
        open_without_embedder(bank)


def test_where_no_bank_is_none_is_made(bank, folder):
    with pytest.raises(StorePathError, match="no bank"):
        open_without_embedder(folder.parent / "none")
    assert not (folder.parent / "none").exists()
    with ChromaStore.from_path(bank, index=OWN) as store:
        drop(store._collection.rows.client, "reasoningbank")
    for _ in range(2):
        with pytest.raises(StorePathError, match="no collection 'reasoningbank'"):
            open_without_embedder(bank)


def test_a_replacement_that_was_cut_off_before_its_last_step_is_finished(bank):
    with ChromaStore.from_path(bank, index=OWN) as store:
        client = store._collection.rows.client
        ready = begin_collection(client, "reasoningbank", REINDEX, store._indexing, None)
        ready.modify(metadata={**ready.metadata, "state": COMPLETE})
        drop(client, "reasoningbank")
        assert successor("reasoningbank") in [found.name for found in client.list_collections()]
    with open_without_embedder(bank) as store:
        assert store.search(HERE) == []
        assert store.index_config["dims"] == 16
