"""The store contract, run on each way to open a bank; `test_langgraph_stores` has the stores of others."""

from typing import ClassVar
from uuid import uuid4

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.cache import collection
from reasoningbank_langgraph.testing import HashEmbeddings, StoreContract
from reasoningbank_langgraph.testing.store_contract import ttl, values
from tests.store.passed_time import PassedTime

HERE = ("users", "al")


def index():
    return {"dims": 64, "embed": HashEmbeddings(), "fields": ["text", "more"]}


def empty(store):
    """Delete every item: quicker than a new bank a test."""
    if items := store.search((), limit=100_000):
        store.batch([PutOp(item.namespace, item.key, None) for item in items])
    return store


class Chroma(StoreContract):
    """What every way to open a bank has to do; here from a folder."""

    __test__ = False
    supports_ttl = True
    clock = 0.1
    settings: ClassVar[dict] = {}

    @pytest.fixture(scope="class")
    @classmethod
    def banks(cls, tmp_path_factory):
        folder = tmp_path_factory.mktemp("banks")
        with (
            ChromaStore.from_path(folder / "bank", index=index(), **cls.settings) as indexed_store,
            ChromaStore.from_path(folder / "plain", index=None, **cls.settings) as plain_store,
        ):
            yield indexed_store, plain_store

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def waiting_takes_no_time(cls):
        passed = PassedTime()
        with pytest.MonkeyPatch.context() as patched:
            for module in (collection, ttl, values):
                patched.setattr(module, "time", passed)
            yield

    @pytest.fixture
    def indexed_store(self, banks):
        return empty(banks[0])

    @pytest.fixture
    def plain_store(self, banks):
        return empty(banks[1])

    def test_what_other_stores_may_refuse_is_kept(self, store):
        key, value = "k\x00\ud800", {"n": 2**80 + 1, "m": -(2**63) - 1, "text": "a\x00b\ud800c", "t": (1, (2,))}
        store.put(HERE, key, value)
        assert store.get(HERE, key).value == {**value, "t": [1, [2]]}

    @pytest.mark.parametrize("query", ["rain", "snow on hills", "red green blue", "heavy rain falls", "nothing of it"])
    def test_a_score_is_the_cosine_of_query_and_text_or_0(self, indexed_store, query):
        indexed_store.put(HERE, "k", {"text": "heavy rain falls on hills"})
        one, two = HashEmbeddings().embed_documents([query, "heavy rain falls on hills"])
        cosine = sum(a * b for a, b in zip(one, two, strict=True))
        assert indexed_store.search(HERE, query=query)[0].score == pytest.approx(max(0.0, cosine), abs=1e-5)


@pytest.mark.slow
class TestChromaInAFolder(Chroma):
    __test__ = True


class ChromaWithAnIndex(Chroma):
    """The other ways to open a bank differ in nothing that an index has to do with."""

    @pytest.fixture
    def store(self, indexed_store):
        return indexed_store


class TestEncryptedChroma(ChromaWithAnIndex):
    __test__ = True
    settings: ClassVar[dict] = {"encryption_key": bytes(range(32))}


@pytest.mark.slow
class TestEncryptedChromaWithoutMemory(ChromaWithAnIndex):
    """No namespace fits: everything is answered by Chroma's own index, and decrypted."""

    __test__ = True
    settings: ClassVar[dict] = {"encryption_key": bytes(range(32)), "cache_bytes": 1}


class TestChromaOverAClient(ChromaWithAnIndex):
    """Others may write: nothing is kept in memory, everything is answered by Chroma's own index."""

    __test__ = True

    @pytest.fixture(scope="class")
    @classmethod
    def banks(cls):
        import chromadb

        client = chromadb.EphemeralClient()
        with (
            ChromaStore.from_client(client, index=index(), collection=f"test-{uuid4().hex}") as indexed_store,
            ChromaStore.from_client(client, index=None, collection=f"test-{uuid4().hex}") as plain_store,
        ):
            yield indexed_store, plain_store
        client.close()


@pytest.mark.network
class TestChromaOnAServer(ChromaWithAnIndex):
    __test__ = True

    @pytest.fixture(scope="class")
    @classmethod
    def banks(cls, server_port):
        with (
            ChromaStore.from_server(port=server_port, index=index(), collection="bank") as indexed_store,
            ChromaStore.from_server(port=server_port, index=None, collection="plain") as plain_store,
        ):
            yield indexed_store, plain_store
