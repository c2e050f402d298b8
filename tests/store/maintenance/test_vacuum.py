"""What was deleted is in no file any more, what was kept is all there, and a crash on the way harms nothing."""

import json
import sqlite3

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.errors import NotOnServerError, StoreCorruptedError, StoreError
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.chroma_files import blank_unused, index_folders
from reasoningbank_langgraph.store.folder import cleaning
from reasoningbank_langgraph.store.row_layout import item_id, row_id
from reasoningbank_langgraph.testing import HashEmbeddings

INDEX = {"embed": HashEmbeddings(), "fields": ["text", "more"]}
KEPT, GONE = ("kept", "here"), ("nsmarker", "nsmärkér")
SECRETS = ["valuemarker", "välüemärkér", "oldmarker", "keymarker", "nsmarker", "nsmärkér", "longmarker", "塔標記"]
LONG = " ".join(f"longmarker{n} 塔標記{n}" for n in range(400))


def fill(store):
    kept = [PutOp(KEPT, str(n), {"text": f"living number {n}", "more": f"more of {n}", "n": n}) for n in range(30)]
    store.batch([*kept, PutOp(KEPT, "dark", {"text": "unseen"}, index=False)])
    store.put(KEPT, "mortal", {"text": "lives for a day"}, ttl=1440)
    store.put(KEPT, "changed", {"text": "oldmarker", "more": "oldmarker again", "n": 1})
    store.put(KEPT, "changed", {"text": "changed", "n": 2})
    gone = [
        PutOp(GONE, f"keymarker {n}", {"text": f"valuemarker {n}", "more": "välüemärkér", "l": LONG}) for n in range(40)
    ]
    store.batch(gone)


def remove(store):
    store.batch([PutOp(GONE, f"keymarker {n}", None) for n in range(40)])


def traces(folder):
    """Return the secrets found in the files of a bank, in every form a file may hold them in."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        for secret in SECRETS:
            escaped = json.dumps(secret)[1:-1]
            forms = {secret, escaped, json.dumps(escaped)[1:-1]}
            found += [f"{path.name}: {form}" for form in sorted(forms) if form.encode() in data]
    return found


def everything(store):
    items = [(i.namespace, i.key, i.value, i.created_at, i.updated_at) for i in store.search(KEPT, limit=1000)]
    scores = {i.key: i.score for i in store.search(KEPT, query="number 7", limit=1000)}
    return items, {key: score and round(score, 5) for key, score in scores.items()}


def test_no_file_holds_what_was_deleted_or_replaced_and_everything_else_is_there(folder):
    with ChromaStore.from_path(folder, index=INDEX) as store:
        fill(store)
        assert set(SECRETS) > {"oldmarker"} > set()
        assert any("keymarker" in trace for trace in traces(folder))
        remove(store)
        assert any("valuemarker" in trace for trace in traces(folder))
        before = everything(store)
        calls = len(INDEX["embed"].calls)
        store.vacuum()
        assert len(INDEX["embed"].calls) == calls
        assert traces(folder) == []
        assert everything(store) == before
        assert store.verify().ok
        assert len(index_folders(folder)) == 1
        store.put(KEPT, "later", {"text": "written after it"})
    assert traces(folder) == []
    with ChromaStore.from_path(folder, index=INDEX) as store:
        assert store.search(KEPT, query="written after it", limit=1)[0].key == "later"
        assert store.delete(KEPT, "later") is None
        assert everything(store) == before
        assert store.verify().ok


def test_the_full_text_index_forgets_as_well(folder):
    with ChromaStore.from_path(folder, index=INDEX) as store:
        store.put(GONE, "k", {"text": "qzxqzx"})
        store.put(KEPT, "k", {"text": "living"})
        assert trigrams(folder) >= {"qzx", "liv"}
        store.delete(GONE, "k")
        store.vacuum()
    assert trigrams(folder) & {"qzx", "zxq", "liv"} == {"liv"}


def trigrams(folder):
    """Return the terms of Chroma's full-text index, those of deleted texts included."""
    terms = set()
    database = sqlite3.connect(folder / "chroma.sqlite3")
    database.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, 'embedding_fulltext_search', 'instance')")
    terms |= {row[0] for row in database.execute("SELECT DISTINCT term FROM temp.terms")}
    for (block,) in database.execute("SELECT block FROM embedding_fulltext_search_data"):
        terms |= {term for term in ("qzx", "zxq") if term.encode() in block}
    database.close()
    return terms


def test_an_emptied_bank_is_usable_after_it(folder):
    with ChromaStore.from_path(folder, index=INDEX) as store:
        fill(store)
        remove(store)
        store.batch([PutOp(item.namespace, item.key, None) for item in store.search((), limit=1000)])
        store.vacuum()
        assert traces(folder) == []
        assert b"living number" not in (folder / "chroma.sqlite3").read_bytes()
        assert store.search((), query="living") == []
        store.put(KEPT, "k", {"text": "back again"})
    with ChromaStore.from_path(folder, index=INDEX) as store:
        assert store.search((), query="back again")[0].key == "k"
        assert store.verify().ok


def test_other_collections_of_the_folder_keep_working(folder):
    with ChromaStore.from_path(folder, index=INDEX, collection="other") as other:
        other.batch([PutOp(KEPT, str(n), {"text": f"other {n}"}) for n in range(20)])
    with ChromaStore.from_path(folder, index=INDEX) as store:
        fill(store)
        remove(store)
        store.vacuum()
        store.put(KEPT, "k", {"text": "back again"})
    assert traces(folder) == []
    with ChromaStore.from_path(folder, index=INDEX, collection="other") as other:
        other.put(KEPT, "new", {"text": "new in the other"})
        assert len(other.search(KEPT, query="new in the other", limit=100)) == 21
        assert other.verify().ok


def test_a_client_of_the_user_on_a_folder_is_vacuumed_while_it_is_open(folder):
    import chromadb

    folder.mkdir()
    client = chromadb.PersistentClient(str(folder), settings=chromadb.Settings(anonymized_telemetry=False))
    with ChromaStore.from_client(client, index=INDEX) as store:
        fill(store)
        remove(store)
        store.vacuum()
        assert traces(folder) == []
        assert store.verify().ok
    client.close()


def test_a_client_in_memory_has_no_files(embeddings):
    import chromadb

    client = chromadb.EphemeralClient()
    with ChromaStore.from_client(client, index=INDEX, collection="memory") as store:
        fill(store)
        before = everything(store)
        store.vacuum()
        assert everything(store) == before
    client.close()


@pytest.mark.network
def test_a_bank_on_a_server_is_refused_with_the_way_out(server_port):
    with (
        ChromaStore.from_server(port=server_port, index=INDEX, collection="vacuum") as store,
        pytest.raises(NotOnServerError, match="reasoningbank bank vacuum --bank"),
    ):
        store.vacuum()


def test_a_damaged_bank_is_refused_and_stays_as_it_was(folder):
    with ChromaStore.from_path(folder, index=INDEX) as store:
        fill(store)
        store._collection.rows.delete([row_id(item_id(KEPT, "3"), 1)])
        with pytest.raises(StoreCorruptedError, match="rebuild_index"):
            store.vacuum()
        assert store.get(KEPT, "3").value["n"] == 3
        assert [found.name for found in store._collection.rows.client.list_collections()] == ["reasoningbank"]
        store.rebuild_index()
        store.vacuum()
        assert store.verify().ok


@pytest.mark.slow
def test_a_database_that_cannot_be_written_anew_is_named_and_the_bank_goes_on(folder, monkeypatch):
    with ChromaStore.from_path(folder, index=INDEX) as store:
        fill(store)
        before = everything(store)
        monkeypatch.setattr(cleaning, "_PROGRAM", folder / "none.py")
        with pytest.raises(StoreError, match=r"chroma\.sqlite3 could not be cleaned"):
            store.vacuum()
        monkeypatch.undo()
        assert everything(store) == before
        assert store.verify().ok
        store.vacuum()
    assert len(index_folders(folder)) == 1


def test_rows_of_a_collection_whose_deletion_was_cut_off_go_too(folder):
    with ChromaStore.from_path(folder, index=INDEX) as store:
        fill(store)
    database = sqlite3.connect(folder / "chroma.sqlite3")
    lost = "persistent://default/default/00000000-1111-2222-3333-444444444444"
    database.execute(
        "INSERT INTO embeddings_queue (operation, topic, id, metadata) VALUES (0, ?, 'x', 'queuemarker')", [lost]
    )
    row = database.execute(
        "INSERT INTO embeddings (segment_id, embedding_id, seq_id) VALUES ('lost', 'x', 1)"
    ).lastrowid
    database.execute("INSERT INTO embedding_metadata (id, key, string_value) VALUES (?, 'k', 'metamarker')", [row])
    database.execute("INSERT INTO embedding_fulltext_search (rowid, string_value) VALUES (?, 'textmarker')", [row])
    database.commit()
    database.close()
    with ChromaStore.from_path(folder, index=INDEX) as store:
        remove(store)
        store.vacuum()
        assert store.verify().ok
        store.put(KEPT, "more", {"text": "still counted on"})
        assert store.verify().ok
    assert traces(folder) == []
    data = (folder / "chroma.sqlite3").read_bytes()
    assert [marker for marker in (b"queuemarker", b"metamarker", b"textmarker") if marker in data] == []


def test_memory_that_chroma_wrote_out_is_blanked_when_the_store_closes(folder):
    with ChromaStore.from_path(folder, index=INDEX) as store:
        fill(store)
        (index,) = index_folders(folder)
        reserved = [index / "data_level0.bin", index / "length.bin"]
        for path in reserved:
            path.write_bytes((b"valuemarker " * 10_000)[: path.stat().st_size])
    assert [set(path.read_bytes()) for path in reserved] == [{0}, {0}]
    with ChromaStore.from_path(folder, index=INDEX) as store:
        assert store.verify().ok


@pytest.mark.slow
def test_vectors_in_use_are_not_blanked(folder):
    with ChromaStore.from_path(folder, index=INDEX) as store:
        for start in range(0, 1200, 300):
            store.batch([PutOp(KEPT, str(n), {"text": f"number {n}"}) for n in range(start, start + 300)])
        (index,) = index_folders(folder)
        before = (index / "data_level0.bin").read_bytes()
    assert (index / "data_level0.bin").read_bytes() == before
    assert blank_unused(index)
    with ChromaStore.from_path(folder, index=INDEX) as store:
        assert store.verify().ok


@pytest.mark.parametrize("header", [b"", b"\x02" + b"\0" * 99], ids=["short", "another version"])
def test_an_index_of_unknown_layout_is_left_alone_and_said_so(tmp_path, header):
    (tmp_path / "header.bin").write_bytes(header)
    for name in ("data_level0.bin", "length.bin"):
        (tmp_path / name).write_bytes(b"x" * 10)
    assert not blank_unused(tmp_path)
    assert (tmp_path / "data_level0.bin").read_bytes() == b"x" * 10
