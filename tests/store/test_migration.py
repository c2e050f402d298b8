"""Banks of earlier versions open and work; those of later versions are refused and left alone."""

import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.errors import StoreSchemaError
from reasoningbank_langgraph.store.collection import SCHEMA
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.data.make_bank import MEMORY, MINUTES, PLAIN, lesson, plain

ARCHIVES = sorted((Path(__file__).parent.parent / "data").glob("bank-*.tar.gz"))


@pytest.fixture(params=ARCHIVES, ids=[path.name for path in ARCHIVES])
def unpacked(request, folder):
    with tarfile.open(request.param) as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_the_first_version_is_among_the_banks_and_they_are_small():
    assert "bank-0.1.0.tar.gz" in [path.name for path in ARCHIVES]
    assert max(path.stat().st_size for path in ARCHIVES) < 100_000


def test_everything_in_a_bank_of_an_earlier_version_is_there(unpacked):
    with ChromaStore.from_path(unpacked, embeddings=HashEmbeddings()) as store:
        report = store.verify()
        assert report.ok, report
        assert (report.items, report.vectors, report.tombstones) == (30, 33, 0)
        assert store.list_namespaces() == [MEMORY, PLAIN]
        assert [store.get(PLAIN, str(number)).value for number in range(20)] == [plain(number) for number in range(20)]
        assert store.get(PLAIN, "").value == {"text": "the empty key"}
        assert store.get(PLAIN, "gone") is None
        mortal = store.get(PLAIN, "mortal", refresh_ttl=False)
        assert mortal.value == {"text": "lives for fifty years"}
        (entry,) = [one for one in store._collection.entries(store._collection.rows.scan(None)) if one.key == "mortal"]
        assert entry.ttl == MINUTES
        assert entry.expires - entry.updated == MINUTES * 60_000_000
        assert MemoryBank(store, MEMORY).items() == [lesson(number) for number in range(6)]


def test_a_bank_of_an_earlier_version_is_searched_by_meaning(unpacked):
    with ChromaStore.from_path(unpacked, embeddings=HashEmbeddings()) as store:
        assert store.search(PLAIN, query="note 7 about rivers", limit=1)[0].key == "7"
        assert store.search(PLAIN, query="blue", limit=1)[0].key == "paths"
        assert {item.key: item.score for item in store.search(PLAIN, query="x", limit=99)}["dark"] is None
        found = MemoryBank(store, MEMORY).search("add all pears on the table", k=1)
        assert {memory.item.id for memory in found} == {"lesson-1", "lesson-4"}


def test_a_bank_of_an_earlier_version_can_be_written_and_looked_after(unpacked):
    with ChromaStore.from_path(unpacked, embeddings=HashEmbeddings()) as store:
        store.put(PLAIN, "7", {"text": "changed"})
        store.delete(PLAIN, "8")
        again = MemoryBank(store, MEMORY).add([lesson(0), lesson(3)])
        assert len(MemoryBank(store, MEMORY).items()) == 6, again
        store.rebuild_index()
        store.vacuum()
        assert store.verify().ok
        store.reindex(HashEmbeddings(16))
    with ChromaStore.from_path(unpacked, embeddings=HashEmbeddings(16)) as store:
        assert store.search(PLAIN, query="changed", limit=1)[0].key == "7"
        assert store.get(PLAIN, "8") is None
        assert store.verify().ok


@pytest.mark.parametrize("name", ["reasoningbank", "reasoningbank.next"])
def test_a_bank_of_a_later_version_is_refused_and_left_as_it_was(folder, name):
    later = {"schema": SCHEMA + 1, "embedder": "x", "dims": 64, "state": "complete", "new": "setting"}
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        store.put(PLAIN, "k", {"text": "x"})
        store._collection.rows.collection.modify(metadata=later)
        if name != "reasoningbank":
            store._collection.rows.collection.modify(name=name)
    before = contents(folder)
    for settings in ({}, {"reindex": True}):
        with pytest.raises(StoreSchemaError, match=f"schema {SCHEMA + 1}, .* schemas up to {SCHEMA}") as caught:
            ChromaStore.from_path(folder, embeddings=HashEmbeddings(), **settings)
        assert (caught.value.schema, caught.value.known) == (SCHEMA + 1, SCHEMA)
    assert contents(folder) == before


def contents(folder):
    """Return all rows of the database but those in which Chroma counts its openings."""
    with closing(sqlite3.connect(folder / "chroma.sqlite3")) as database:
        return [line for line in database.iterdump() if "acquire_write" not in line]
