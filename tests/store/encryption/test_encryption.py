"""A bank with a key: opened with this one only, read like any other, and no row can stand for another."""

import sqlite3
import subprocess
import sys
from base64 import b64decode

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from reasoningbank_langgraph.errors import (
    EncryptionKeyError,
    MissingDependencyError,
    MissingEncryptionKeyError,
    StoreCorruptedError,
    StoreSchemaError,
    UnencryptedBankError,
    WrongEncryptionKeyError,
)
from reasoningbank_langgraph.store import AESGCMCipher, ChromaStore, collection
from reasoningbank_langgraph.store.chroma_files import LINKS, VECTORS, index_folders
from reasoningbank_langgraph.store.row_layout import item_id, row_id
from reasoningbank_langgraph.store.without_embedder import open_without_embedder
from tests.store.encryption.encrypted_bank import HERE, INDEX, KEY, NEW_KEY, contents, opened


@pytest.fixture
def bank(folder):
    with opened(folder) as store:
        store.put(HERE, "one", {"text": "first words", "n": 1})
        store.put(HERE, "two", {"text": "second words", "n": 2})
        store.put(("other",), "one", {"text": "of another"})
    return folder


def raw(store):
    return store._collection.rows.collection


def document(store, key):
    return raw(store).get(ids=[row_id(item_id(HERE, key), 0)])["documents"][0]


def replace(store, key, **parts):
    row = row_id(item_id(HERE, key), 0)
    vectors = raw(store).get(ids=[row], include=["embeddings"])["embeddings"]
    raw(store).update(ids=[row], embeddings=vectors, **{name: [value] for name, value in parts.items()})


@pytest.mark.parametrize("length", [16, 24, 32])
def test_a_bank_is_read_searched_and_filtered_with_the_key_that_made_it(folder, length):
    key = bytes(range(length))
    with opened(folder, key) as store:
        store.put(HERE, "k", {"text": "some words", "n": 2})
    with opened(folder, key) as store:
        (found,) = store.search(HERE, query="some words", filter={"n": {"$gt": 1}})
        assert (found.key, found.value) == ("k", {"text": "some words", "n": 2})
        assert found.score == pytest.approx(1.0)
        assert store.search(HERE, filter={"n": 1}) == []


REFUSED = [(None, MissingEncryptionKeyError), (NEW_KEY, WrongEncryptionKeyError), (bytes(32), WrongEncryptionKeyError)]


def plain(_):
    """Leave a bank as it is."""


def half_replaced(bank):
    with opened(bank) as store:
        rows = store._collection.rows
        ready = collection.begin_collection(rows.client, rows.name, "vacuum", store._indexing, rows.cipher)
        ready.modify(metadata={**ready.metadata, "state": "complete"})
        collection.drop(rows.client, rows.name)


def torn(bank):
    (index,) = index_folders(bank)
    for name in (VECTORS, LINKS):
        (index / name).write_bytes(b"cut off")


@pytest.mark.parametrize(("key", "error"), REFUSED, ids=["none", "another", "another of this length"])
@pytest.mark.parametrize("state", [plain, half_replaced, torn])
def test_no_key_and_another_one_are_refused_before_anything_is_written(bank, key, error, state):
    state(bank)
    before = contents(bank)
    for open_bank in (opened, open_without_embedder):
        with pytest.raises(error):
            open_bank(bank, key)
    assert contents(bank) == before
    with opened(bank) as store:
        assert store.verify().ok


HALF_WRITTEN = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA cache_size = 1")
rows = [(str(number) * 20,) for number in range(2000)]
connection.executemany("INSERT INTO embedding_metadata (id, key, string_value) VALUES (1, ?, 'x')", rows)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_another_key_is_refused_first_also_where_a_kill_left_a_half_written_database(bank):
    torn(bank)
    index = contents(bank)
    subprocess.run([sys.executable, "-c", HALF_WRITTEN, str(bank / "chroma.sqlite3")], check=False)
    assert (bank / "chroma.sqlite3-journal").exists()
    with pytest.raises(WrongEncryptionKeyError):
        opened(bank, NEW_KEY)
    assert contents(bank).keys() == index.keys()
    with opened(bank) as store:
        assert store.get(HERE, "one").value["n"] == 1


def test_a_bank_without_a_key_is_not_opened_with_one_and_the_way_is_named(folder):
    with opened(folder, None) as store:
        store.put(HERE, "k", {"text": "words"})
    before = contents(folder)
    for open_bank in (opened, open_without_embedder):
        with pytest.raises(UnencryptedBankError, match="reasoningbank bank rekey"):
            open_bank(folder, KEY)
    assert contents(folder) == before


@pytest.mark.parametrize("key", [b"", b"short", bytes(31), bytes(33), "x" * 32, bytearray(32)])
def test_what_is_no_key_is_refused_without_being_shown_and_makes_no_folder(folder, key):
    with pytest.raises(EncryptionKeyError, match="16, 24 or 32 random bytes") as caught:
        opened(folder, key)
    assert "short" not in str(caught.value)
    assert not folder.exists()


def test_without_the_package_the_line_that_installs_it_is_named_and_nothing_is_made(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'reasoningbank-langgraph\[encryption\]'"):
        opened(folder)
    assert not folder.exists()


def test_an_earlier_version_is_told_that_the_bank_is_newer(bank, monkeypatch):
    monkeypatch.setattr(collection, "SCHEMA", 1)
    with pytest.raises(StoreSchemaError, match="schema 2"):
        opened(bank)


def test_neither_the_store_nor_its_cipher_shows_the_key(bank):
    with opened(bank) as store:
        shown = repr(store) + repr(store._collection.rows.cipher) + repr(vars(store._collection.rows.cipher))
    assert repr(KEY)[2:-1] not in shown
    assert KEY.hex() not in shown


def test_each_text_has_a_nonce_of_its_own_also_when_it_is_written_again(bank):
    with opened(bank) as store:
        for _ in range(20):
            store.put(HERE, "one", {"text": "first words", "n": 1})
            store.put(HERE, "two", {"text": "first words", "n": 1})
        first, second = document(store, "one"), document(store, "two")
        store.vacuum()
        nonces = {b64decode(text)[:12] for text in (first, second, document(store, "one"), document(store, "two"))}
    assert len(nonces) == 4


def test_texts_of_two_rows_cannot_be_exchanged(bank):
    with opened(bank) as store:
        first, second = document(store, "one"), document(store, "two")
        replace(store, "one", documents=second)
        replace(store, "two", documents=first)
    with opened(bank) as store:
        for key in ("one", "two"):
            with pytest.raises(StoreCorruptedError, match="does not belong where it stands"):
                store.get(HERE, key)
        assert store.verify().unreadable == 2
        assert store.get(("other",), "one").value == {"text": "of another"}


def test_a_row_cannot_be_moved_to_another_namespace_or_time_or_back_to_an_earlier_text(bank):
    with opened(bank) as store:
        before = document(store, "one")
        store.put(HERE, "one", {"text": "changed"})
        replace(store, "one", documents=before)
        head = raw(store).get(ids=[row_id(item_id(HERE, "two"), 0)])["metadatas"][0]["head"]
        replace(store, "two", metadatas={"head": head.replace('"b"', '"c"')})
    with opened(bank) as store:
        assert store.verify().unreadable == 2
        with pytest.raises(StoreCorruptedError):
            store.search(HERE)


def test_a_plain_text_in_an_encrypted_bank_is_refused(bank):
    with opened(bank) as store:
        replace(store, "one", documents='{"text":"planted"}')
        replace(store, "two", documents="")
    with opened(bank) as store:
        assert store.verify().unreadable == 2


def test_the_time_to_live_of_an_encrypted_item_is_refreshed(folder, clock):
    with opened(folder, ttl={"omit_expired": True}) as store:
        store.put(HERE, "k", {"text": "words"}, ttl=10)
        clock.seconds += 500
        assert store.get(HERE, "k", refresh_ttl=True)
        clock.seconds += 500
    with opened(folder, ttl={"omit_expired": True}) as store:
        assert store.get(HERE, "k", refresh_ttl=False).value == {"text": "words"}
        clock.seconds += 500
        assert store.get(HERE, "k", refresh_ttl=False) is None


def test_two_stores_of_a_process_share_a_client_each_with_the_key():
    import chromadb

    client = chromadb.EphemeralClient()
    settings = {"index": INDEX, "collection": "encrypted"}
    with ChromaStore.from_client(client, encryption_key=KEY, **settings) as store:
        store.put(HERE, "k", {"text": "words"})
        with ChromaStore.from_client(client, encryption_key=KEY, **settings) as other:
            assert other.get(HERE, "k").value == {"text": "words"}
        with pytest.raises(WrongEncryptionKeyError):
            ChromaStore.from_client(client, encryption_key=NEW_KEY, **settings)
        with pytest.raises(MissingEncryptionKeyError):
            ChromaStore.from_client(client, **settings)
        assert store.get(HERE, "k").value == {"text": "words"}
    client.close()


@pytest.mark.network
def test_a_server_gets_no_plain_text_and_every_client_needs_the_key(server_port):
    settings = {"index": INDEX, "collection": "encrypted"}
    with ChromaStore.from_server(port=server_port, encryption_key=KEY, **settings) as store:
        store.put(HERE, "one", {"text": "words"})
        assert b"words" not in b64decode(document(store, "one"), validate=True)
        assert store.search(HERE, query="words", filter={"text": "words"})[0].key == "one"
    for key, error in REFUSED:
        with pytest.raises(error):
            ChromaStore.from_server(port=server_port, encryption_key=key, **settings)


def test_the_cipher_encrypts_checkpoints_as_well():
    serializer = EncryptedSerializer(AESGCMCipher(KEY))
    kind, data = serializer.dumps_typed({"task": "secret words"})
    assert kind.endswith("+aesgcm")
    assert b"secret" not in data
    assert serializer.loads_typed((kind, data)) == {"task": "secret words"}
    for key, name in [(NEW_KEY, kind), (KEY, kind.replace("aesgcm", "aes"))]:
        with pytest.raises(EncryptionKeyError, match="another key"):
            EncryptedSerializer(AESGCMCipher(key)).loads_typed((name, data))


def test_the_metadata_of_a_damaged_database_is_not_known(bank):
    (bank / "chroma.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises((StoreCorruptedError, sqlite3.Error)):
        opened(bank)
