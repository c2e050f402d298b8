"""Which embedder a bank was made with is known even where the embedder does not say what model it runs."""

import random

import pytest
from langchain_core.embeddings import Embeddings

from reasoningbank_langgraph.errors import EmbeddingMismatchError
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.indexing import SAMPLE_TEXT
from reasoningbank_langgraph.testing import HashEmbeddings

HERE = ("a",)
HASHES = HashEmbeddings()


class Nameless(Embeddings):
    """Says no model; embeds a query otherwise than a document, as many do."""

    def __init__(self, change=lambda vector: vector):
        self.change = change
        self.asked = []

    def embed_documents(self, texts):
        self.asked.append(texts)
        return [self.change(HASHES._embed(text)) for text in texts]

    def embed_query(self, text):
        return self.change(HASHES._embed(f"query: {text}"))


def turned(vector):
    return vector[1:] + vector[:1]


def noisy(vector):
    chance = random.Random(1)
    return [7 * part + chance.gauss(0, 0.003) for part in vector]


def same_function(change):
    def embed(texts):
        return [change(HASHES._embed(text)) for text in texts]

    return embed


def same_async_function(change):
    async def embed(texts):
        return [change(HASHES._embed(text)) for text in texts]

    return embed


class Named(Nameless):
    model_name = "named"


OWN = {"object": Nameless, "function": same_function, "async function": same_async_function}


def plain(vector):
    return vector


def fill(store):
    for n in range(5):
        store.put(HERE, f"k{n}", {"text": f"word{n}"})


@pytest.mark.parametrize("dims", [{}, {"dims": 64}], ids=["length found out", "length given"])
@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
def test_another_model_behind_the_same_name_is_refused_and_the_bank_left_as_it_was(folder, own, dims):
    with ChromaStore.from_path(folder, index={"embed": own(plain), **dims}) as store:
        fill(store)
    with pytest.raises(EmbeddingMismatchError, match=r"another one of that name .*bank reindex"):
        ChromaStore.from_path(folder, index={"embed": own(turned), **dims})
    with ChromaStore.from_path(folder, index={"embed": own(noisy), **dims}) as store:
        assert len(store.search(HERE, query="word3")) == 5
        assert store.verify().ok
    with ChromaStore.from_path(folder, index={"embed": own(turned), **dims}, reindex=True) as store:
        assert len(store.search(HERE, query="word3")) == 5
    with pytest.raises(EmbeddingMismatchError):
        ChromaStore.from_path(folder, index={"embed": own(plain), **dims})


async def test_it_is_refused_inside_a_running_loop_as_well(folder):
    async with ChromaStore.from_path(folder, index={"embed": same_async_function(plain), "dims": 64}) as store:
        await store.aput(HERE, "k", {"text": "x"})
    with pytest.raises(EmbeddingMismatchError):
        ChromaStore.from_path(folder, index={"embed": same_async_function(turned), "dims": 64})


def test_a_named_model_that_is_served_by_other_weights_is_refused_where_it_is_asked_for_its_length(folder):
    with ChromaStore.from_path(folder, embeddings=Named()) as store:
        fill(store)
    with pytest.raises(EmbeddingMismatchError, match="Named"):
        ChromaStore.from_path(folder, embeddings=Named(turned))
    embeddings = Named(turned)
    with ChromaStore.from_path(folder, index={"embed": embeddings, "dims": 64}):
        assert embeddings.asked == []


def test_one_sentence_is_embedded_at_opening_and_none_for_it_later(folder):
    for _ in range(2):
        embeddings = Nameless()
        with ChromaStore.from_path(folder, index={"embed": embeddings, "dims": 64, "fields": ["text"]}) as store:
            store.put(HERE, "k", {"text": "x"})
            assert embeddings.asked == [[SAMPLE_TEXT], ["x"]]


def test_stores_on_one_client_and_a_vacuum_and_a_rebuild_keep_what_is_known(embeddings):
    import chromadb

    client = chromadb.EphemeralClient()

    def opened(change, **more):
        index = {"embed": Nameless(change), "dims": 64, **more}
        return ChromaStore.from_client(client, index=index, collection="identity")

    store = opened(plain)
    fill(store)
    for work in (store.vacuum, store.rebuild_index, lambda: store.reindex(Nameless(noisy))):
        work()
        with pytest.raises(EmbeddingMismatchError):
            opened(turned)
        assert opened(plain).search(HERE, query="word3")
    client.close()


def test_a_bank_from_before_takes_the_embedder_that_writes_first(folder):
    with ChromaStore.from_path(folder, embeddings=Nameless()) as store:
        fill(store)
        collection = store._collection.rows.collection
        collection.modify(metadata={key: collection.metadata[key] for key in ("schema", "embedder", "dims", "state")})
    with ChromaStore.from_path(folder, embeddings=Nameless(turned)) as store:
        assert store.search(HERE, query="word3")
    with ChromaStore.from_path(folder, embeddings=Nameless()) as store:
        store.put(HERE, "k5", {"text": "word5"})
    with pytest.raises(EmbeddingMismatchError):
        ChromaStore.from_path(folder, embeddings=Nameless(turned))


def test_an_embedder_that_cannot_embed_the_sentence_is_used_unchecked_and_said_so(folder, caplog):
    def table(texts):
        return [{"east": [1.0, 0.0], "north": [0.0, 1.0]}[text] for text in texts]

    for _ in range(2):
        with ChromaStore.from_path(folder, index={"embed": table, "dims": 2, "fields": ["text"]}) as store:
            store.put(HERE, "k", {"text": "east"})
            assert store.search(HERE, query="east")[0].score == pytest.approx(1.0)
    assert "could not be told from others of its name: KeyError" in caplog.text


def test_a_move_stopped_half_way_goes_on_with_the_same_model_only(folder):
    class StopError(Exception):
        pass

    def stop_after_first(done, total):
        if done:
            raise StopError

    with ChromaStore.from_path(folder, embeddings=Nameless()) as store:
        fill(store)
        with pytest.raises(StopError):
            store.reindex(Nameless(turned), stop_after_first)
        for change, calls in ((lambda vector: noisy(turned(vector)), 1), (plain, 2)):
            embeddings = Nameless(change)
            with pytest.raises(StopError):
                store.reindex(embeddings, stop_after_first)
            assert len(embeddings.asked) == calls
        again = Nameless(noisy)
        store.reindex(again, lambda done, total: None)
        assert len(again.asked) == 1


@pytest.mark.parametrize("dims", [64, 32])
def test_a_store_whose_bank_another_one_moved_is_refused_and_the_other_goes_on(dims):
    import chromadb

    client = chromadb.EphemeralClient()
    settings = {"embeddings": HashEmbeddings(64), "collection": f"moved{dims}"}
    with ChromaStore.from_client(client, **settings) as one, ChromaStore.from_client(client, **settings) as other:
        one.put(HERE, "k", {"text": "red apples"})
        moved = HashEmbeddings(dims)
        moved.model_name = "another"
        one.reindex(moved)
        with pytest.raises(EmbeddingMismatchError, match="another"):
            other.put(HERE, "l", {"text": "green pears"})
        with pytest.raises(EmbeddingMismatchError, match="another"):
            other.search(HERE, query="red apples")
        one.put(HERE, "l", {"text": "green pears"})
        assert [item.key for item in one.search(HERE)] == ["l", "k"]
        assert one.verify().ok
