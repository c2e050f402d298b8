"""The store contract, run on every store this package is used with."""

import re
from typing import ClassVar
from uuid import uuid4

import pytest
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.store.contract import StoreContract


def index():
    return {"dims": 64, "embed": HashEmbeddings(), "fields": ["text", "more"]}


def empty(store):
    """Delete every item: quicker than a new bank a test."""
    items = store.search((), limit=100_000)
    store.batch([PutOp(item.namespace, item.key, None) for item in items])
    assert store.list_namespaces() == []
    return store


class TestChromaInAFolder(StoreContract):
    settings: ClassVar[dict] = {}

    @pytest.fixture(scope="class")
    @classmethod
    def banks(cls, tmp_path_factory):
        folder = tmp_path_factory.mktemp("banks")
        with (
            ChromaStore.from_path(folder / "bank", index=index(), **cls.settings) as store,
            ChromaStore.from_path(folder / "plain", index=None, **cls.settings) as plain_store,
        ):
            yield store, plain_store

    @pytest.fixture
    def store(self, banks):
        return empty(banks[0])

    @pytest.fixture
    def plain_store(self, banks):
        return empty(banks[1])


class TestChromaInAFolderWithoutMemory(TestChromaInAFolder):
    """No namespace fits: everything is answered by Chroma's own index."""

    settings: ClassVar[dict] = {"cache_bytes": 1}


class TestChromaOverAClient(TestChromaInAFolder):
    @pytest.fixture(scope="class")
    @classmethod
    def banks(cls):
        import chromadb

        client = chromadb.EphemeralClient()
        with (
            ChromaStore.from_client(client, index=index(), collection=f"test-{uuid4().hex}") as store,
            ChromaStore.from_client(client, index=None, collection=f"test-{uuid4().hex}") as plain_store,
        ):
            yield store, plain_store
        client.close()


@pytest.mark.network
class TestChromaOnAServer(TestChromaInAFolder):
    @pytest.fixture(scope="class")
    @classmethod
    def banks(cls, server_port):
        with (
            ChromaStore.from_server(port=server_port, index=index(), collection="bank") as store,
            ChromaStore.from_server(port=server_port, index=None, collection="plain") as plain_store,
        ):
            yield store, plain_store


class TestInMemory(StoreContract):
    """LangGraph's own store, to show that the contract is LangGraph's; where it differs the reason is given."""

    different: ClassVar[dict] = {
        "keeps_no_hold": "get() hands out the stored dict itself",
        "overwrite_keeps_the_creation": "created_at is reset by an overwrite",
        "equal_texts_in_one_batch|before_the_limit": "two items with the same text in a batch raise",
        "direct_batches_are_checked": "batch() does not check labels",
        "namespace_without_items": "namespaces stay listed after their last item",
        "last_written_comes_first": "without a query the first written comes first",
        r"filters\[condition[4-9]-": "comparisons convert to float and raise on missing fields and texts",
        "pages_of_a_query": "items without vectors are repeated on every page",
        "leaves_no_vector_of_the_old": "old vectors stay after an overwrite",
    }

    @pytest.fixture(autouse=True)
    def known_difference(self, request):
        for pattern, reason in self.different.items():
            if re.search(pattern, request.node.name):
                request.node.add_marker(pytest.mark.xfail(strict=True, reason=reason))

    @pytest.fixture
    def store(self):
        return InMemoryStore(index=index())

    @pytest.fixture
    def plain_store(self):
        return InMemoryStore()
