"""What a store asks of its embedder, and what it does with the answers."""

import math

import pytest
from langgraph.store.base import PutOp, SearchOp

from reasoningbank_langgraph.errors import EmbeddingError
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings

HERE = ("a",)


class Counting(HashEmbeddings):
    """Counts calls of each kind; `calls` of the parent counts both."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def embed_documents(self, texts):
        self.asked.append(("documents", list(texts)))
        return [self._embed(text) for text in texts]

    def embed_query(self, text):
        self.asked.append(("query", text))
        return self._embed(text)

    async def aembed_documents(self, texts):
        self.asked.append(("adocuments", list(texts)))
        return [self._embed(text) for text in texts]

    async def aembed_query(self, text):
        self.asked.append(("aquery", text))
        return self._embed(text)


@pytest.fixture
def counting(folder):
    embeddings = Counting()
    with ChromaStore.from_path(folder, index={"embed": embeddings, "dims": 64, "fields": ["text", "more"]}) as store:
        assert embeddings.asked == []
        yield store


OPS = [
    PutOp(HERE, "1", {"text": "same", "more": "same"}),
    PutOp(HERE, "2", {"text": "same", "more": "other"}),
    PutOp(HERE, "3", {"text": "never embedded"}),
    PutOp(HERE, "3", {"text": "last"}),
    PutOp(HERE, "4", {"text": "also never"}, index=False),
    SearchOp(HERE, query="one"),
    SearchOp(("b",), query="one"),
    SearchOp(HERE, query="two"),
]


def test_a_batch_embeds_each_text_once_and_all_documents_together(counting):
    counting.batch(OPS)
    assert counting.embeddings.asked == [("documents", ["same", "other", "last"]), ("query", "one"), ("query", "two")]


async def test_an_asynchronous_batch_uses_the_asynchronous_methods(counting):
    await counting.abatch(OPS)
    assert counting.embeddings.asked == [
        ("adocuments", ["same", "other", "last"]),
        ("aquery", "one"),
        ("aquery", "two"),
    ]


def test_nothing_is_embedded_for_reads_deletions_and_blank_texts(counting):
    counting.put(HERE, "k", {"text": "  ", "more": None})
    counting.get(HERE, "k")
    counting.search(HERE)
    counting.delete(HERE, "k")
    assert counting.embeddings.asked == []


def test_a_refused_batch_is_not_embedded(counting):
    with pytest.raises(ValueError, match="cannot be stored"):
        counting.batch([PutOp(HERE, "1", {"text": "x"}), PutOp(HERE, "2", {"n": math.nan})])
    assert counting.embeddings.asked == []


class Broken(HashEmbeddings):
    """Answers with whatever it was given, from the second call on."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def embed_documents(self, texts):
        return self.answer

    def embed_query(self, text):
        return self.answer[0] if self.answer else self.answer


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [[1.0] * 63],
        [[1.0] * 64] * 2,
        [[math.nan] * 64],
        [[math.inf] * 64],
        [[0.0] * 64],
        [["a"] * 64],
        [[10**400] * 64],
        [None],
        [[[1.0]] * 64],
    ],
    ids=["none", "short", "too many", "nan", "infinite", "zero", "text", "huge integers", "null", "nested"],
)
def test_an_answer_that_is_no_vector_is_named_and_nothing_is_written(folder, answer):
    with ChromaStore.from_path(folder, index={"embed": Broken(answer), "dims": 64}) as store:
        with pytest.raises(EmbeddingError):
            store.put(HERE, "k", {"text": "x"})
        if len(answer) != 2:
            with pytest.raises(EmbeddingError):
                store.search(HERE, query="x")
        assert store.get(HERE, "k") is None
        assert store.verify().rows == 0


class Spoilt(HashEmbeddings):
    """Embeds like its parent, but a text that begins with "spoilt" as it was told to."""

    def __init__(self, vector):
        super().__init__()
        self.vector = vector

    def _embed(self, text):
        return self.vector if text.startswith("spoilt") else super()._embed(text)


@pytest.mark.parametrize("vector", [[0.0] * 64, [math.nan] * 64, [-math.inf] * 64, [1.0] * 63], ids=str)
@pytest.mark.parametrize("call", ["batch", "abatch"])
async def test_one_bad_vector_refuses_the_whole_batch_and_is_named_by_its_place(folder, vector, call):
    ops = [PutOp(HERE, str(n), {"text": "spoilt secret" if n == 2 else f"good {n}"}) for n in range(4)]

    async def carry_out(store, ops):
        return await store.abatch(ops) if call == "abatch" else store.batch(ops)

    with ChromaStore.from_path(folder, index={"embed": Spoilt(vector), "fields": ["text"]}) as store:
        with pytest.raises(EmbeddingError, match="document 3") as caught:
            await carry_out(store, ops)
        assert "secret" not in str(caught.value)
        assert store.search(HERE) == []
        store.put(HERE, "k", {"text": "good"})
        queries = [SearchOp(HERE, query="good"), SearchOp(HERE, query="spoilt secret")]
        with pytest.raises(EmbeddingError) as caught:
            await carry_out(store, queries)
        assert "secret" not in str(caught.value)
        assert store.verify().rows == 1


def test_a_rebuild_with_an_embedder_that_went_bad_leaves_the_bank_as_it_was(folder):
    embeddings = Spoilt([0.0] * 64)
    with ChromaStore.from_path(folder, index={"embed": embeddings, "fields": ["text"]}) as store:
        store.batch([PutOp(HERE, str(n), {"text": f"good {n}"}) for n in range(3)])
        embeddings._embed = lambda text: [0.0] * 64
        for work in (store.rebuild_index, lambda: store.reindex(embeddings)):
            with pytest.raises(EmbeddingError, match="zero"):
                work()
        del embeddings._embed
        assert [item.key for item in store.search(HERE, query="good 1", limit=1)] == ["1"]
        assert store.verify().ok


def test_huge_vectors_are_taken(folder):
    def embed(texts):
        return [[1e300, -1e300] if text == "huge" else [5e-324, 0.0] for text in texts]

    with ChromaStore.from_path(folder, index={"embed": embed, "fields": ["text"]}) as store:
        store.put(HERE, "tiny", {"text": "tiny"})
        store.put(HERE, "huge", {"text": "huge"})
        found = store.search(HERE, query="huge")
        assert [(item.key, item.score) for item in found] == [
            ("huge", pytest.approx(1.0)),
            ("tiny", pytest.approx(0.5**0.5)),
        ]


def test_opposite_vectors_score_0_and_rank_last(folder):
    def embed(texts):
        return [
            {"east": [1.0, 0.0], "north": [0.0, 1.0], "west": [-1.0, 0.0], "south-west": [-1.0, -1.0]}[t] for t in texts
        ]

    with ChromaStore.from_path(folder, index={"embed": embed, "dims": 2, "fields": ["text"]}) as store:
        for text in ("west", "south-west", "north", "east"):
            store.put(HERE, text, {"text": text})
        found = store.search(HERE, query="east")
        assert [item.key for item in found] == ["east", "north", "south-west", "west"]
        assert [item.score for item in found] == [1.0, 0.0, 0.0, 0.0]


async def async_embed(texts):
    return [HashEmbeddings()._embed(text) for text in texts]


async def test_an_asynchronous_function_serves_both_interfaces(folder):
    with ChromaStore.from_path(folder, index={"embed": async_embed}) as store:
        assert store.index_config["dims"] == 64
        store.put(HERE, "sync", {"text": "one"})
        await store.aput(HERE, "async", {"text": "two"})
        assert len(store.search(HERE, query="one")) == len(await store.asearch(HERE, query="one")) == 2


def test_an_embedder_that_raises_raises_through(folder):
    def embed(texts):
        raise ConnectionError("no route")

    with (
        ChromaStore.from_path(folder, index={"embed": embed, "dims": 8}) as store,
        pytest.raises(ConnectionError, match="no route"),
    ):
        store.put(HERE, "k", {"text": "x"})


@pytest.mark.filterwarnings("ignore:legacy embedding function config")
def test_chroma_is_never_left_to_embed(store):
    store.put(HERE, "k", {"text": "x"})
    collection = store._collection.rows.collection
    with pytest.raises(ValueError, match="embedding function"):
        collection.upsert(ids=["x"], documents=["a text"])
    with pytest.raises(ValueError, match="embedding function"):
        collection.query(query_texts=["a text"])


@pytest.mark.parametrize("place", ["folder", pytest.param("server", marks=pytest.mark.network)])
def test_stored_vectors_come_in_the_order_of_the_fields_and_nothing_is_embedded_for_them(place, folder, request):
    embeddings = Counting()
    settings = {"index": {"embed": embeddings, "dims": 64, "fields": ["text", "more"]}, "collection": "vectors"}
    port = request.getfixturevalue("server_port") if place == "server" else None
    with ChromaStore.from_server(port=port, **settings) if port else ChromaStore.from_path(folder, **settings) as store:
        elsewhere = PutOp((*HERE, "below"), "below", {"text": "same"}), PutOp(("b",), "3", {"text": "of another"})
        store.batch([*OPS[:2], PutOp(HERE, "plain", {"text": "same"}, index=False), *elsewhere])
        embeddings.asked.clear()
        found = store.stored_vectors(HERE, ["2", "1", "plain", "below", "3", "gone"])
        assert embeddings.asked == []
    assert found.keys() == {"1", "2"}
    for vector, text in zip([*found["1"], *found["2"]], ["same", "same", "other"], strict=True):
        assert vector.tolist() == pytest.approx(embeddings.embed_query(text), abs=1e-6)
