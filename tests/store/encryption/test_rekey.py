"""The key of a bank is changed: everything is there, the old key opens nothing, and no file holds what it read."""

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.errors import (
    EncryptionKeyError,
    MissingEncryptionKeyError,
    StoreLockedError,
    StorePathError,
    WrongEncryptionKeyError,
)
from reasoningbank_langgraph.store import rekey
from reasoningbank_langgraph.store.chroma_files import index_folders
from reasoningbank_langgraph.store.maintenance import migration
from tests.store.encryption.encrypted_bank import HERE, KEY, NEW_KEY, contents, opened, traces

MARKERS = ["textmarker", "moremarker", "secondmarker", "unseenmarker"]


def fill(store):
    store.batch([PutOp(HERE, str(n), {"text": f"textmarker {n}", "more": "moremarker", "n": n}) for n in range(20)])
    store.put(HERE, "dark", {"text": "unseenmarker"}, index=False)
    store.put(("c",), "mortal", {"text": "secondmarker"}, ttl=1440)


def everything(store):
    items = [(i.namespace, i.key, i.value, i.created_at, i.updated_at) for i in store.search((), limit=1000)]
    scores = {i.key: i.score and round(i.score, 5) for i in store.search((), query="textmarker 7", limit=1000)}
    return items, scores


def documents(folder, key):
    """Return what Chroma holds, as bytes of the files would."""
    with opened(folder, key) as store:
        return [
            text.encode() for text in store._collection.rows.collection.get(include=["documents"])["documents"] if text
        ]


@pytest.fixture(params=[None, KEY], ids=["unencrypted", "encrypted"])
def old_key(request):
    return request.param


@pytest.fixture
def filled(folder, old_key, monkeypatch):
    monkeypatch.setattr(migration, "AT_ONCE", 4)
    with opened(folder, old_key) as store:
        fill(store)
        return everything(store)


def test_only_the_new_key_opens_the_bank_and_nothing_is_left_that_the_old_one_reads(folder, filled, old_key):
    old_documents, seen = documents(folder, old_key), []
    report = rekey(folder, old_key, NEW_KEY, progress=lambda done, total: seen.append((done, total)))
    assert report.ok
    assert (seen[0], seen[-1]) == ((0, 22), (22, 22))
    with pytest.raises(EncryptionKeyError):
        opened(folder, old_key)
    with opened(folder, NEW_KEY) as store:
        assert everything(store) == filled
        assert store._collection.rows.collection.metadata.keys() >= {"key_mark", "embedder_sample"}
    assert traces(folder, MARKERS) == []
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert not any(document in data for document in old_documents for data in files)
    assert len(index_folders(folder)) == 1


def test_a_second_call_with_the_same_keys_changes_nothing(folder, filled, old_key):
    rekey(folder, old_key, NEW_KEY)
    before, seen = documents(folder, NEW_KEY), []
    assert rekey(folder, old_key, NEW_KEY, progress=lambda *now: seen.append(now)).ok
    assert seen == []
    assert documents(folder, NEW_KEY) == before


def test_a_key_that_fits_neither_before_nor_after_is_refused_and_nothing_is_written(folder, filled, old_key):
    before = contents(folder)
    for wrong in (bytes(32), KEY if old_key is None else None):
        with pytest.raises(EncryptionKeyError):
            rekey(folder, wrong, NEW_KEY)
    with pytest.raises(EncryptionKeyError, match="16, 24 or 32"):
        rekey(folder, old_key, b"short")
    assert contents(folder) == before


class StoppedError(Exception):
    """Stands for whatever ends a call."""


def stop(folder, key, new_key, after):
    """Begin to change the key and stop after so many items."""

    def told(done, total):
        if done >= after:
            raise StoppedError

    with pytest.raises(StoppedError):
        rekey(folder, key, new_key, progress=told)


def test_a_stopped_change_goes_on_where_it_stopped_with_what_was_written_since(folder, filled, old_key, monkeypatch):
    stop(folder, old_key, NEW_KEY, 12)
    with opened(folder, old_key) as store:
        assert everything(store) == filled
        store.put(HERE, "0", {"text": "changed"})
        store.delete(HERE, "1")
        store.put(HERE, "late", {"text": "late"})
        now = everything(store)
    written, copy = [], migration._copy
    monkeypatch.setattr(migration, "_copy", lambda entries, _: written.extend(entries) or copy(entries, _))
    rekey(folder, old_key, NEW_KEY)
    assert 0 < len(written) < 22
    with opened(folder, NEW_KEY) as store:
        assert everything(store) == now
        assert store.verify().ok
    assert traces(folder, MARKERS) == []


def test_a_change_to_another_key_takes_over_nothing_of_a_stopped_one(folder, filled, old_key):
    stop(folder, old_key, NEW_KEY, 12)
    assert rekey(folder, old_key, bytes(24)).ok
    with pytest.raises(WrongEncryptionKeyError):
        opened(folder, NEW_KEY)
    with opened(folder, bytes(24)) as store:
        assert everything(store) == filled


def test_an_unfinished_change_is_dropped_by_a_vacuum(folder, filled, old_key):
    stop(folder, old_key, NEW_KEY, 12)
    with opened(folder, old_key) as store:
        store.vacuum()
        assert everything(store) == filled
    with opened(folder, old_key) as store:
        assert [found.name for found in store._collection.rows.client.list_collections()] == ["reasoningbank"]


def test_an_empty_bank_gets_a_key_too(folder):
    with opened(folder, None):
        pass
    assert rekey(folder, None, KEY).ok
    with pytest.raises(MissingEncryptionKeyError):
        opened(folder, None)
    with opened(folder, KEY) as store:
        store.put(HERE, "k", {"text": "words"})


def test_the_key_of_one_bank_of_a_folder_leaves_the_others_as_they_are(folder):
    for name in ("reasoningbank", "other"):
        with opened(folder, KEY, collection=name) as store:
            fill(store)
            before = everything(store)
    assert rekey(folder, KEY, NEW_KEY, collection="other").ok
    for name, key in (("reasoningbank", KEY), ("other", NEW_KEY)):
        with opened(folder, key, collection=name) as store:
            assert store.search(HERE, filter={"n": 7})[0].value["text"] == "textmarker 7"
            assert store.verify().ok
    with opened(folder, NEW_KEY, collection="other") as store:
        assert everything(store) == before


def test_where_no_bank_is_none_is_made_and_an_open_one_is_left_alone(folder):
    with pytest.raises(StorePathError, match="no bank"):
        rekey(folder, None, KEY)
    assert not folder.exists()
    with opened(folder, None), pytest.raises(StoreLockedError):
        rekey(folder, None, KEY)


def test_the_search_for_old_texts_can_fail(folder):
    with opened(folder) as store:
        fill(store)
        (document,) = store._collection.rows.collection.get(limit=1, include=["documents"])["documents"]
    assert document.encode() in (folder / "chroma.sqlite3").read_bytes()
