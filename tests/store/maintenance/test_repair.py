"""Checking a bank, making its index anew, moving it to another embedder."""

import json
import shutil
import threading

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.errors import StoreCorruptedError
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.chroma_files import index_folders
from reasoningbank_langgraph.store.maintenance import migration
from reasoningbank_langgraph.store.row_layout import item_id, row_id
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.store.maintenance.test_reindex import HERE, fill

INDEX = {"embed": HashEmbeddings(), "fields": ["text", "more"]}


def everything(store):
    items = [(i.namespace, i.key, i.value, i.created_at, i.updated_at) for i in store.search((), limit=10_000)]
    scores = {i.key: i.score for i in store.search((), query="number 7", limit=10_000)}
    return items, scores


@pytest.fixture
def filled(folder):
    with ChromaStore.from_path(folder, index=INDEX) as store:
        fill(store)
        yield store


def test_a_whole_bank_is_reported_whole(filled):
    report = filled.verify()
    assert report.ok
    assert (report.items, report.vectors, report.rows, report.indexed) == (22, 42, 43, 43)
    assert (report.missing_vectors, report.orphans, report.tombstones, report.unreadable) == (0, 0, 0, 0)
    assert json.loads(report.model_dump_json())["ok"] is True


def test_damage_is_counted(filled):
    rows = filled._collection.rows
    ids = rows.ids(None)
    further = [row for row in ids if row.endswith("-1")]
    firsts = [row_id(row.removesuffix("-1"), 0) for row in further]
    rows.delete([further[0], firsts[1]])
    rows.collection.update(ids=[firsts[2]], metadatas=[{"head": "no json"}])
    rows.collection.update(ids=[firsts[3]], documents=["[1]"], embeddings=[[1.0] + [0.0] * 63])
    report = filled.verify()
    assert not report.ok
    assert (report.missing_vectors, report.orphans, report.unreadable) == (1, 2, 2)


def test_unreadable_rows_are_named_when_read(filled):
    first = row_id(item_id(HERE, "3"), 0)
    filled._collection.rows.collection.update(ids=[first], metadatas=[{"head": "{}"}])
    with pytest.raises(StoreCorruptedError, match="no item of a bank"):
        filled.get(HERE, "3")
    with pytest.raises(StoreCorruptedError, match="no item of a bank"):
        filled.search(HERE)


def test_a_rebuild_changes_nothing_a_reader_sees(filled, folder):
    before = everything(filled)
    filled.rebuild_index()
    assert everything(filled) == before
    assert filled.verify().ok
    filled.put(HERE, "new", {"text": "number 7"})
    filled.close()
    with ChromaStore.from_path(folder, index=INDEX) as store:
        assert len(store.search((), limit=100)) == 23
        assert store.verify().ok


@pytest.mark.slow
def test_a_rebuild_mends_a_bank_whose_index_files_are_gone(folder):
    with ChromaStore.from_path(folder, index=INDEX) as store:
        for start in range(0, 1200, 300):
            store.batch([PutOp(HERE, str(n), {"text": f"number {n}"}) for n in range(start, start + 300)])
        before = everything(store)
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    with ChromaStore.from_path(folder, index=INDEX) as store:
        damaged = store.verify()
        assert not damaged.ok
        assert damaged.indexed < damaged.rows == 1200
        assert store.get(HERE, "7").value == {"text": "number 7"}
        with pytest.raises(StoreCorruptedError, match="rebuild_index"):
            store.search(HERE, query="number 7")
        store.rebuild_index()
        assert store.verify().ok
        assert everything(store) == before


class StopError(Exception):
    pass


def stop(*_, **__):
    raise StopError


@pytest.mark.parametrize("where", ["_fill", "take_place", "_embed"])
def test_a_rebuild_that_fails_leaves_the_bank_as_it_was(filled, folder, monkeypatch, where):
    before = everything(filled)
    monkeypatch.setattr(migration, where, stop)
    with pytest.raises(StopError):
        filled.rebuild_index()
    assert everything(filled) == before
    filled.close()
    with ChromaStore.from_path(folder, index=INDEX) as store:
        assert everything(store) == before
        assert store.verify().ok


@pytest.mark.parametrize("steps", [1, 2], ids=["before the old one goes", "after it went"])
def test_a_rebuild_killed_during_the_change_over_leaves_one_whole_bank(filled, folder, monkeypatch, steps):
    before = everything(filled)

    def half(client, collection, name):
        collection.modify(metadata={**collection.metadata, "state": "complete"})
        if steps == 2:
            client.delete_collection(name)
        raise StopError

    monkeypatch.setattr(migration, "take_place", half)
    with pytest.raises(StopError):
        filled.rebuild_index()
    filled.close()
    with ChromaStore.from_path(folder, index=INDEX) as store:
        assert everything(store) == before
        assert store.verify().ok
        assert [found.name for found in store._collection.rows.client.list_collections()] == ["reasoningbank"]
        assert len(index_folders(folder)) == 1


def test_a_rebuild_leaves_no_old_index_behind(filled, folder):
    (old,) = index_folders(folder)
    filled.rebuild_index()
    (new,) = index_folders(folder)
    assert new != old
    assert filled.verify().ok


@pytest.mark.slow
@pytest.mark.parametrize("job", ["rebuild_index", "vacuum"])
def test_reads_during_the_change_over_see_the_bank(folder, job):
    with ChromaStore.from_path(folder, index=INDEX, cache_bytes=0) as store:
        fill(store)
        wanted = (20, {"text": "number 7", "more": "more of 7", "n": 7}, [("a", "b"), ("c",)])
        found, stop = [], threading.Event()

        def read():
            while not stop.is_set():
                try:
                    lit = [item for item in store.search(HERE, query="number 7", limit=100) if item.score is not None]
                    found.append((len(lit), store.get(HERE, "7").value, store.list_namespaces()))
                except Exception as error:  # noqa: BLE001 - shown by the assertion below
                    found.append(error)

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for _ in range(2):
            getattr(store, job)()
        stop.set()
        for reader in readers:
            reader.join()
    assert found
    assert [one for one in found if one != wanted] == []


def test_index_folders_nobody_uses_go_when_the_bank_is_opened_and_nothing_else_does(filled, folder):
    filled.close()
    (own,) = index_folders(folder)
    orphan = shutil.copytree(own, folder / "00000000-1111-2222-3333-444444444444")
    mine = shutil.copytree(own, folder / "my notes")
    odd = folder / "00000000-1111-2222-3333-555555555555"
    odd.mkdir()
    (odd / "letter.txt").write_text("keep")
    with ChromaStore.from_path(folder, index=INDEX) as store:
        assert not orphan.exists()
        assert own.exists()
        assert mine.exists()
        assert (odd / "letter.txt").read_text() == "keep"
        assert store.verify().ok


def test_an_index_folder_that_cannot_be_removed_is_no_reason_to_refuse_the_bank(filled, folder, monkeypatch, caplog):
    filled.close()
    (own,) = index_folders(folder)
    shutil.copytree(own, folder / "00000000-1111-2222-3333-444444444444")
    monkeypatch.setattr("sys.executable", "/no/such/python")
    with ChromaStore.from_path(folder, index=INDEX) as store:
        assert store.verify().ok
    assert "index folders that nothing uses stay" in caplog.text
