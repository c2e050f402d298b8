"""Moving a bank to another embedder: interrupted, changed meanwhile, gone on with."""

import signal
from collections import Counter

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.errors import EmbeddingMismatchError
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.chroma_files import index_folders
from reasoningbank_langgraph.store.maintenance import migration
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.killed import run_forked

HERE = ("a", "b")
FIELDS = ["text", "more"]
OLD = {"embed": HashEmbeddings(), "fields": FIELDS}


class Other(HashEmbeddings):
    """Another embedder, which may fail at one of its calls."""

    model_name = "other"

    def __init__(self, fails_at=-1):
        super().__init__(16)
        self.fails_at = fails_at

    def embed_documents(self, texts):
        if len(self.calls) == self.fails_at:
            raise ConnectionError("no route to the embedder")
        return super().embed_documents(texts)


def new(embedder=None):
    return {"embed": embedder or Other(), "dims": 16, "fields": FIELDS}


def embedded(embedder):
    return Counter(text for call in embedder.calls for text in call)


def fill(store, count=20):
    store.batch([PutOp(HERE, str(n), {"text": f"number {n}", "more": f"more of {n}", "n": n}) for n in range(count)])
    store.put(HERE, "dark", {"text": "hidden"}, index=False)
    store.put(("c",), "paths", {"tags": ["red", "blue"]}, index=["tags[*]"])


def everything(store):
    return [(i.namespace, i.key, i.value, i.created_at, i.updated_at) for i in store.search((), limit=10_000)]


@pytest.fixture
def filled(folder, monkeypatch):
    monkeypatch.setattr(migration, "AT_ONCE", 4)
    with ChromaStore.from_path(folder, index=OLD) as store:
        fill(store)
        yield store


def stopped(store, at=3):
    """Begin a move to another embedder, which fails at a call; the first call measures its dimensions."""
    with pytest.raises(ConnectionError):
        store.reindex(Other(at))


def test_a_bank_moves_to_another_embedder(filled, folder):
    before = everything(filled)
    filled.reindex(Other())
    assert everything(filled) == before
    assert filled.search(HERE, query="number 7", limit=1)[0].score == pytest.approx(1.0)
    filled.put(HERE, "new", {"text": "words"})
    assert len(index_folders(folder)) == 1
    filled.close()
    with pytest.raises(EmbeddingMismatchError):
        ChromaStore.from_path(folder, index=OLD)
    with ChromaStore.from_path(folder, index=new()) as store:
        assert len(store.search((), limit=100)) == 23
        assert store.verify().ok
        assert set(store._collection.rows.collection.metadata) == {
            "schema",
            "embedder",
            "embedder_sample",
            "dims",
            "state",
        }


def test_progress_is_told_from_the_first_item_to_the_last(filled):
    seen = []
    filled.reindex(Other(), lambda done, total: seen.append((done, total)))
    assert seen == [(done, 22) for done in (0, 4, 8, 12, 16, 20, 22)]


def test_an_empty_bank_moves_too(folder):
    seen = []
    with ChromaStore.from_path(folder, index=OLD) as store:
        store.reindex(Other(), lambda *now: seen.append(now))
        store.put(HERE, "k", {"text": "first"})
        assert store.verify().ok
    assert seen == [(0, 0)]


def test_opening_with_reindex_moves_a_bank_that_does_not_fit_and_tells_how_far_it_is(filled, folder):
    before = everything(filled)
    filled.close()
    seen = []
    for setting in (lambda *now: seen.append(now), True):
        with ChromaStore.from_path(folder, index=new(), reindex=setting) as store:
            assert everything(store) == before
            assert store.search(HERE, query="number 7", limit=1)[0].score == pytest.approx(1.0)
            assert store.verify().ok
    assert seen[0] == (0, 22)
    assert seen[-1] == (22, 22)


def test_a_bank_without_an_embedder_gets_one(folder):
    with ChromaStore.from_path(folder, index=None) as store:
        fill(store)
        assert store.verify().vectors == 0
    with ChromaStore.from_path(folder, index=OLD, reindex=True) as store:
        assert store.verify().vectors == 42
        assert store.search(HERE, query="number 7", limit=1)[0].key == "7"


def test_an_embedder_that_fails_leaves_the_old_bank_in_use(filled, folder):
    before = everything(filled)
    stopped(filled)
    assert everything(filled) == before
    assert filled.search(HERE, query="number 7", limit=1)[0].score == pytest.approx(1.0)
    assert filled.verify().ok
    filled.close()
    with ChromaStore.from_path(folder, index=OLD) as store:
        assert everything(store) == before


@pytest.mark.parametrize("reopened", [False, True], ids=["same store", "opened with the old embedder in between"])
def test_the_next_call_goes_on_where_one_stopped(filled, folder, reopened):
    stopped(filled)
    before = everything(filled)
    store = filled
    if reopened:
        filled.close()
        store = ChromaStore.from_path(folder, index=OLD)
    embedder, seen = Other(), []
    store.reindex(embedder, lambda *now: seen.append(now))
    assert len(embedded(embedder)) == 1 + 42 - 2 * 8
    assert seen[-1] == (22, 22)
    assert everything(store) == before
    assert store.verify().ok
    store.close()


def test_changes_made_while_a_move_is_half_done_are_seen(filled):
    stopped(filled, at=4)
    filled.put(HERE, "0", {"text": "changed", "n": 0})
    filled.put(HERE, "1", {"text": "number 1", "more": "more of 1", "n": "same texts, another value"})
    filled.delete(HERE, "2")
    filled.put(HERE, "2", {"text": "came back"})
    filled.delete(HERE, "3")
    filled.put(HERE, "late", {"text": "late"})
    before = everything(filled)
    embedder = Other()
    filled.reindex(embedder)
    assert everything(filled) == before
    assert filled.get(HERE, "3") is None
    for text, key in [("changed", "0"), ("came back", "2"), ("late", "late")]:
        assert filled.search(HERE, query=text, limit=1)[0].key == key
    assert "more of 0" not in embedded(embedder)
    assert embedded(embedder)["number 1"] == 1
    assert filled.verify().ok


def test_a_time_to_live_that_was_refreshed_meanwhile_is_kept(filled):
    filled.put(HERE, "mortal", {"text": "mortal"}, ttl=60)
    filled.put(HERE, "last", {"text": "last"})
    stopped(filled, at=6)
    filled.get(HERE, "mortal")
    (before,) = [e.expires for e in filled._collection.entries(filled._collection.rows.scan(None)) if e.key == "mortal"]
    filled.reindex(Other())
    (after,) = [e.expires for e in filled._collection.entries(filled._collection.rows.scan(None)) if e.key == "mortal"]
    assert before == after > 0


@pytest.mark.parametrize("change", ["embedder", "fields"])
def test_a_half_made_move_is_not_taken_over_by_another_one(filled, folder, change):
    stopped(filled)
    embedder = HashEmbeddings(8) if change == "embedder" else Other()
    if change == "fields":
        filled.close()
        filled = ChromaStore.from_path(folder, index={**OLD, "fields": ["more", "text"]})
    filled.reindex(embedder)
    assert len(embedded(embedder)) == 1 + 42
    assert filled.verify().ok
    filled.close()


@pytest.mark.parametrize("job", ["vacuum", "rebuild_index"])
def test_other_work_on_the_bank_drops_a_half_made_move(filled, folder, job):
    stopped(filled)
    getattr(filled, job)()
    assert [found.name for found in filled._collection.rows.client.list_collections()] == ["reasoningbank"]
    assert len(index_folders(folder)) == 1
    embedder = Other()
    filled.reindex(embedder)
    assert len(embedded(embedder)) == 1 + 42


MOVING = """
import os, signal, sys
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.maintenance import migration
from reasoningbank_langgraph.testing import HashEmbeddings

path, log, dies = sys.argv[1], sys.argv[2], int(sys.argv[3])
migration.AT_ONCE = 4

class Other(HashEmbeddings):
    model_name = "other"
    def embed_documents(self, texts):
        with open(log, "a") as file:
            file.writelines(f"{text}\\n" for text in texts)
        if len(self.calls) == dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed_documents(texts)

index = {"embed": Other(16), "dims": 16, "fields": ["text", "more"]}
with ChromaStore.from_path(path, index=index, reindex=True) as store:
    print(store.verify().ok, len(store.search((), limit=100)))
"""


@pytest.mark.slow
def test_a_move_killed_twice_embeds_each_text_once_except_those_in_flight(filled, folder, tmp_path):
    before = everything(filled)
    filled.close()
    said = [run_forked(MOVING, folder, tmp_path / "log", dies) for dies in (1, 2)]
    assert [code for code, _ in said] == [-signal.SIGKILL] * 2
    with ChromaStore.from_path(folder, index=OLD) as store:
        assert everything(store) == before
        assert store.verify().ok
    assert run_forked(MOVING, folder, tmp_path / "log", -1) == (0, "True 22\n")
    times = Counter((tmp_path / "log").read_text().splitlines())
    assert len(times) == 42
    assert sorted(times.values()) == [1] * (42 - 16) + [2] * 16
    with ChromaStore.from_path(folder, index=new()) as store:
        assert everything(store) == before


@pytest.mark.network
def test_a_bank_on_a_server_moves_and_goes_on_too(server_port, monkeypatch):
    monkeypatch.setattr(migration, "AT_ONCE", 4)
    with ChromaStore.from_server(port=server_port, index=OLD, collection="move") as store:
        fill(store)
        before = everything(store)
        stopped(store)
    with ChromaStore.from_server(port=server_port, index=OLD, collection="move") as store:
        embedder = Other()
        store.reindex(embedder)
        assert len(embedded(embedder)) == 1 + 42 - 2 * 8
        assert everything(store) == before
        assert store.verify().ok
