"""Opening, closing and reopening a bank in a folder: paths, the lock, the recorded embedder."""

import asyncio
import gc
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from reasoningbank_langgraph.errors import (
    EmbeddingMismatchError,
    StoreClosedError,
    StoreCorruptedError,
    StoreLockedError,
    StorePathError,
)
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings

HERE = ("a", "b")


def python(program, *arguments):
    """Run a program in another process and return what it printed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return done.stdout or done.stderr


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_new_folder_is_private(folder, embeddings):
    with ChromaStore.from_path(folder / "deep" / "er", embeddings=embeddings):
        assert stat.S_IMODE((folder / "deep" / "er").stat().st_mode) == 0o700


def test_a_bank_is_found_again_with_everything_in_it(folder, embeddings):
    for n in range(3):
        with ChromaStore.from_path(folder, embeddings=embeddings) as store:
            store.put(HERE, str(n), {"text": f"number {n}"})
            assert len(store.search(HERE)) == n + 1
            assert store.search(HERE, query=f"number {n}", limit=1)[0].key == str(n)
            assert store.list_namespaces() == [HERE]


@pytest.mark.parametrize(
    "name", ["a b", "q?x=1", "#hash", "p%20c", "new\nline", "ünï 😀", "x" * 200, "..a", "quote'\""]
)
def test_any_folder_name_works(tmp_path, embeddings, name):
    for _ in range(2):
        with ChromaStore.from_path(tmp_path / name, embeddings=embeddings) as store:
            store.put(HERE, "k", {"text": "x"})
            assert store.get(HERE, "k") is not None
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("path", ["", "  ", "nul\x00l", "/proc/no/such/place"])
def test_a_path_that_cannot_hold_a_bank_is_refused(path, embeddings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StorePathError):
        ChromaStore.from_path(path, embeddings=embeddings)
    assert names(tmp_path) == []


def test_a_system_without_the_lock_is_told_what_to_use_in_its_place(folder, embeddings, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(StorePathError, match=r"POSIX.*from_server"):
        ChromaStore.from_path(folder, embeddings=embeddings)


def test_a_file_is_refused_and_left_alone(tmp_path, embeddings):
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(StorePathError, match="not a folder"):
        ChromaStore.from_path(file, embeddings=embeddings)
    assert file.read_text() == "mine"
    assert names(tmp_path) == ["notes.txt"]


READ_ONLY = """
import os, sys
from reasoningbank_langgraph.errors import StorePathError
from reasoningbank_langgraph.store.folder.lock import prepare_folder
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
try:
    prepare_folder(sys.argv[1])
except StorePathError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("locked", ["folder", "database"])
def test_a_bank_one_may_only_read_is_refused_and_left_alone(embeddings, locked):
    with tempfile.TemporaryDirectory() as outside:
        Path(outside).chmod(0o755)
        folder = Path(outside) / "bank"
        with ChromaStore.from_path(folder, embeddings=embeddings) as store:
            store.put(HERE, "k", {"text": "x"})
        folder.chmod(0o555 if locked == "folder" else 0o777)
        (folder / "chroma.sqlite3").chmod(0o444)
        before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
        said = python(READ_ONLY, folder)
        assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
        assert "read-only" in said


def test_what_is_no_database_is_named_and_left_alone(folder, embeddings):
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(b"not a database" * 500)
    with pytest.raises(StoreCorruptedError):
        ChromaStore.from_path(folder, embeddings=embeddings)
    assert (folder / "chroma.sqlite3").read_bytes() == b"not a database" * 500


def test_a_second_store_in_this_process_is_refused_at_once(store, folder, embeddings, monkeypatch):
    store.put(HERE, "k", {"text": "x"})
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail(f"waited {seconds} seconds"))
    with pytest.raises(StoreLockedError, match=f"process {os.getpid()}"):
        ChromaStore.from_path(folder, embeddings=embeddings)
    assert store.get(HERE, "k") is not None


OPEN = """
import sys
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings
try:
    with ChromaStore.from_path(sys.argv[1], embeddings=HashEmbeddings()) as store:
        print("open", [item.key for item in store.search(())])
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.slow
def test_a_bank_whose_folder_was_deleted_is_closed_before_a_new_one_stands_there_and_leaves_that_alone(
    folder, embeddings
):
    old = ChromaStore.from_path(folder, embeddings=embeddings)
    old.put(("a",), "old", {"text": "old"})
    shutil.rmtree(folder)
    with pytest.raises(StoreLockedError, match=r"\(this one\): close that store first"):
        ChromaStore.from_path(folder, embeddings=embeddings)
    copy = folder.parent / "copy"
    with ChromaStore.from_path(copy, embeddings=embeddings) as new:
        new.put(("a",), "new", {"text": "new"})
    copy.rename(folder.with_name("other"))
    shutil.copytree(folder.with_name("other"), folder, dirs_exist_ok=True)
    before = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    old.close()
    assert {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    with ChromaStore.from_path(folder, embeddings=embeddings) as again:
        assert [item.key for item in again.search(("a",))] == ["new"]


def test_a_second_process_is_refused_and_let_in_after_close(folder, embeddings):
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        store.put(HERE, "k", {"text": "x"})
        said = python(OPEN, folder)
        assert said.startswith("StoreLockedError")
        assert f"process {os.getpid()}" in said
        assert store.search(HERE, query="x")[0].key == "k"
    assert python(OPEN, folder) == "open ['k']\n"


def test_a_failed_opening_gives_the_lock_back(folder, embeddings):
    with ChromaStore.from_path(folder, embeddings=embeddings):
        pass
    with pytest.raises(EmbeddingMismatchError):
        ChromaStore.from_path(folder, embeddings=HashEmbeddings(7))
    with ChromaStore.from_path(folder, embeddings=embeddings):
        pass


def test_a_store_that_was_dropped_gives_the_lock_back(folder, embeddings):
    store = ChromaStore.from_path(folder, embeddings=embeddings)
    store.put(HERE, "k", {"text": "x"})
    del store
    gc.collect()
    with ChromaStore.from_path(folder, embeddings=embeddings) as again:
        assert again.get(HERE, "k") is not None


def test_two_banks_are_open_side_by_side_even_as_copies(folder, embeddings, tmp_path):
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        store.put(HERE, "k", {"text": "x"})
    shutil.copytree(folder, tmp_path / "copy")
    with (
        ChromaStore.from_path(folder, embeddings=embeddings) as one,
        ChromaStore.from_path(tmp_path / "copy", embeddings=embeddings) as two,
    ):
        one.put(HERE, "only one", {"text": "y"})
        assert len(one.search(HERE)) == 2
        assert len(two.search(HERE)) == 1


def test_a_closed_store_that_is_still_held_does_not_hide_what_others_wrote(folder, embeddings):
    with ChromaStore.from_path(folder, embeddings=embeddings) as closed:
        closed.put(HERE, "k", {"text": "x"})
        assert len(closed.search(HERE)) == 1
    with ChromaStore.from_path(folder, embeddings=embeddings) as other:
        other._collection.rows.delete(other._collection.rows.ids(None))
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        assert store.search(HERE) == []


def test_close_twice_is_fine_and_use_after_close_is_named(folder, embeddings):
    store = ChromaStore.from_path(folder, embeddings=embeddings)
    store.close()
    store.close()
    for call in (
        lambda: store.get(HERE, "k"),
        lambda: store.put(HERE, "k", {}),
        lambda: store.search(HERE),
        store.list_namespaces,
        lambda: asyncio.run(store.aget(HERE, "k")),
        store.sweep_ttl,
        store.start_ttl_sweeper,
        store.verify,
        store.rebuild_index,
        store.vacuum,
        lambda: store.reindex(embeddings),
        store.__enter__,
    ):
        with pytest.raises(StoreClosedError):
            call()


async def test_the_store_is_an_asynchronous_context_manager(folder, embeddings):
    async with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        await store.aput(HERE, "k", {"text": "x"})
    async with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        assert (await store.aget(HERE, "k")).value == {"text": "x"}


class OtherHash(HashEmbeddings):
    model_name = "other-hash"


@pytest.mark.parametrize(
    "settings",
    [{"embeddings": HashEmbeddings(32)}, {"embeddings": OtherHash()}, {"index": None}],
    ids=["other length", "other name", "none"],
)
def test_another_embedder_is_refused_and_the_bank_left_as_it_was(folder, embeddings, settings):
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        store.put(HERE, "k", {"text": "x"})
    with pytest.raises(EmbeddingMismatchError, match="reindex=True") as caught:
        ChromaStore.from_path(folder, **settings)
    assert caught.value.stored == "HashEmbeddings(hash-embeddings) (64 dimensions)"
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        assert store.search(HERE, query="x")[0].score is not None
        assert store.verify().ok


def test_index_and_embeddings_together_are_refused(folder, embeddings):
    with pytest.raises(ValueError, match="not both"):
        ChromaStore.from_path(folder, embeddings=embeddings, index={"embed": embeddings})


def test_the_index_configuration_can_be_read(folder, embeddings):
    with ChromaStore.from_path(folder, index={"embed": embeddings, "fields": ["text"]}) as store:
        assert store.index_config == {"embed": embeddings, "dims": 64, "fields": ["text"]}
        assert store.embeddings is embeddings
    with ChromaStore.from_path(folder / "plain", index=None) as store:
        assert store.index_config is None
