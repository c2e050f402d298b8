"""Saved prefixes of an encrypted bank are read with its key, and nothing in them can be exchanged."""

import json

import pytest

from reasoningbank_langgraph.errors import StoreCorruptedError
from reasoningbank_langgraph.store.cache.prefix_file import read_prefix, write_prefix
from reasoningbank_langgraph.store.cipher import BankCipher
from tests.store.cache.saved_bank import everything, fill, opened, saved
from tests.store.encryption.encrypted_bank import KEY, NEW_KEY, traces

TEXTS = ["number", "a second vector", "unseen"]


@pytest.fixture
def filled(folder, monkeypatch):
    monkeypatch.setattr("reasoningbank_langgraph.store.cache.saved_prefixes.FROM_ITEMS", 5)
    with opened(folder, encryption_key=KEY) as store:
        fill(store)
        return everything(store)


def test_a_search_is_answered_from_encrypted_files_as_before(folder, filled):
    assert len(saved(folder)) == 1
    assert traces(folder, TEXTS) == []
    with opened(folder, encryption_key=KEY) as store:
        assert everything(store) == filled
        assert store.verify().ok


def test_files_that_are_written_on_from_files_are_encrypted_too(folder, filled):
    with opened(folder, encryption_key=KEY) as store:
        store.search((), query="number 7", limit=3)
        store.put(("c",), "later", {"text": "latermarker"})
    assert len(saved(folder)) == 1
    assert traces(folder, [*TEXTS, "latermarker"]) == []
    with opened(folder, encryption_key=KEY) as store:
        assert store.search((), query="latermarker", limit=1)[0].value == {"text": "latermarker"}
        assert len(store.search((), limit=1000)) == 33


def test_a_file_is_read_with_its_key_only(folder, filled, tmp_path):
    with opened(folder, encryption_key=KEY) as store:
        ((_, contents),) = store._collection.prefixes()
        file = tmp_path / "prefix"
        footer = write_prefix(file, contents, "owner", BankCipher(KEY))
        for key, readable in [(KEY, True), (NEW_KEY, False)]:
            read = read_prefix(file, footer, "owner", 16, BankCipher(key))
            items = [item for _, cached in read.namespaces() for item in cached.items.values()]
            if readable:
                assert {json.loads(item.entry.document).get("n") for item in items} >= {1, 2}
            else:
                with pytest.raises(StoreCorruptedError, match="does not belong"):
                    [item.entry for item in items]
