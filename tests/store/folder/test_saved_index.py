"""An index that a kill cut off while it was saved is made anew; a whole one is left alone."""

import logging
import random

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph import ChromaStore
from reasoningbank_langgraph.errors import StoreCorruptedError, StoreError
from reasoningbank_langgraph.store.chroma_files import HEADER, LENGTHS, LINKS, NAMES, VECTORS, index_folders, is_whole
from reasoningbank_langgraph.store.folder.serving import serve
from reasoningbank_langgraph.store.without_embedder import open_without_embedder
from reasoningbank_langgraph.testing import HashEmbeddings

COUNT = 1_100
"""Chroma saves an index after a thousand rows."""


def opened(folder):
    return ChromaStore.from_path(folder, index={"embed": HashEmbeddings(), "fields": ["text"]})


@pytest.fixture
def folder(tmp_path):
    with opened(tmp_path / "bank") as store:
        store.batch([PutOp(("a",), str(number), {"text": f"word{number} more"}) for number in range(COUNT)])
        store.search(("a",), query="word1")
        store.verify()
    return tmp_path / "bank"


def index_of(folder):
    (index,) = index_folders(folder)
    assert (index / NAMES).exists()
    return index


def halve(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def count_one_more(path):
    content = bytearray(path.read_bytes())
    content[20:28] = (int.from_bytes(content[20:28], "little") + 1).to_bytes(8, "little")
    path.write_bytes(content)


TEARS = {
    "links cut": lambda index: halve(index / LINKS),
    "vectors cut": lambda index: halve(index / VECTORS),
    "lengths cut": lambda index: halve(index / LENGTHS),
    "header ahead": lambda index: count_one_more(index / HEADER),
    "header cut": lambda index: (index / HEADER).write_bytes(b"\x01"),
    "names missing": lambda index: (index / NAMES).unlink(),
    "names cut": lambda index: halve(index / NAMES),
}


@pytest.mark.slow
@pytest.mark.parametrize("tear", TEARS.values(), ids=TEARS)
def test_a_torn_index_is_made_anew_when_the_bank_is_opened(tear, folder, caplog):
    tear(index_of(folder))
    with pytest.raises(StoreCorruptedError, match="bank rebuild"):
        open_without_embedder(folder)
    with pytest.raises(StoreCorruptedError, match="bank rebuild"):
        serve(folder, 1, lambda: None)
    with caplog.at_level(logging.WARNING), opened(folder) as store:
        assert "was not saved to its end" in caplog.text
        assert store.verify().ok
        assert len(store.search(("a",), query="word7", limit=2 * COUNT)) == COUNT
        scores = {item.key: item.score for item in store.search(("a",), query="word7 more", limit=50)}
        assert scores["7"] == pytest.approx(1.0, abs=1e-5)
        store.put(("a",), "new", {"text": "after"})
    with opened(folder) as store:
        assert store.verify().ok


@pytest.mark.slow
def test_a_whole_index_is_left_alone_whatever_was_written(tmp_path, caplog):
    drawn = random.Random(1)
    for _ in range(6):
        with opened(tmp_path / "bank") as store:
            for size in (1, 150, 500):
                keys = [str(drawn.randrange(2_000)) for _ in range(size)]
                store.batch([PutOp(("a",), key, {"text": key} if drawn.random() < 0.7 else None) for key in keys])
        assert all(is_whole(index) for index in index_folders(tmp_path / "bank"))
    assert "not saved" not in caplog.text


def test_after_a_write_that_failed_nothing_is_written_until_the_bank_is_opened_anew(tmp_path, monkeypatch):
    from chromadb.errors import InternalError

    def full(*_, **__):
        raise InternalError("error returned from database: (code: 13) database or disk is full")

    with opened(tmp_path / "bank") as store:
        store.put(("a",), "before", {"text": "x"})
        with monkeypatch.context() as patched:
            patched.setattr(store._collection.rows.collection, "upsert", full)
            with pytest.raises(StoreError, match="make room"):
                store.put(("a",), "lost", {"text": "x"})
        with pytest.raises(StoreError, match="open it again"):
            store.put(("a",), "after", {"text": "x"})
        assert [item.key for item in store.search(("a",))] == ["before"]
    with opened(tmp_path / "bank") as store:
        store.put(("a",), "after", {"text": "x"})
        assert [item.key for item in store.search(("a",))] == ["after", "before"]
