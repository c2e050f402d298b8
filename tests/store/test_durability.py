"""What a bank keeps when its process is killed, the disk is full, the folder is read-only or the clock goes back."""

import errno
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.errors import StoreLockedError
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.folder.lock import BankLock
from tests.conftest import REPOSITORY
from tests.killed import run_forked
from tests.store.processes import PREAMBLE

HERE = ("a",)
BATCH = 20


@pytest.mark.slow
def test_writers_killed_at_random_moments_lose_nothing():
    """The benchmark with a kill or two a scenario; its full run is what the figures come from."""
    command = [sys.executable, "-m", "tests.benchmarks.durability", "--kills", "12"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (total,) = [line.split() for line in done.stdout.splitlines() if line.startswith("all ")]
    kills, acknowledged, lost, back, torn, wrong = map(int, total[1:7])
    assert kills >= 12
    assert acknowledged > 0
    assert (lost, back, torn, wrong) == (0, 0, 0, 0)


FILL = """
import resource
from pathlib import Path
folder, room, size = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
store = ChromaStore.from_path(folder, embeddings=HashEmbeddings())
if room:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit = (folder / "chroma.sqlite3").stat().st_size + room
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
number = 0
try:
    while number < 1000:
        store.batch([PutOp(("a",), f"{number} {m}", {"text": f"{number} {m} " + "word " * 50}) for m in range(size)])
        number += 1
except StoreError as error:
    failed = [type(error).__name__, str(error), type(error.__cause__).__name__]
say(json.dumps([number, len(store.search(("a",), limit=10**6)), *failed]))
store.close()
"""


def check_after_a_full_disk(folder, embeddings, said, size):
    """Everything acknowledged is there, the batch that failed is there whole or not at all, and writing goes on."""
    code, last = said
    assert code == 0
    acknowledged, read_when_full, kind, message, cause = json.loads(last)
    assert acknowledged > 1
    assert read_when_full == acknowledged * size
    assert (kind, cause) == ("StoreError", "InternalError")
    assert "Chroma answered" in message
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        if not store.verify().ok:
            store.rebuild_index()
        keys = {item.key for item in store.search(HERE, limit=10**6)}
        batches = {int(key.split()[0]) for key in keys}
        assert len(keys) == len(batches) * size
        assert batches in (set(range(acknowledged)), set(range(acknowledged + 1)))
        assert {item.key for item in store.search(HERE, query="word", limit=10**6)} == keys
        store.put(HERE, "after", {"text": "there is room again"})
        assert store.verify().ok


@pytest.mark.slow
@pytest.mark.parametrize(("size", "room"), [(1, 60_000), (BATCH, 300_000)], ids=["single writes", "batches"])
def test_a_file_that_may_not_grow_loses_nothing(folder, embeddings, size, room):
    said = run_forked(PREAMBLE + FILL, folder, room, size)
    check_after_a_full_disk(folder, embeddings, said, size)


@pytest.fixture
def small_disk(tmp_path):
    """A disk of two megabytes, which the test may enlarge."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a tmpfs takes root and a system that allows it")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.slow
def test_a_full_disk_loses_nothing(small_disk, embeddings):
    said = run_forked(PREAMBLE + FILL, small_disk / "bank", 0, BATCH)
    subprocess.run(["mount", "-o", "remount,size=50m", str(small_disk)], check=True)
    check_after_a_full_disk(small_disk / "bank", embeddings, said, BATCH)


def no_room(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_disk_too_full_to_name_the_owner_does_not_keep_a_bank_closed(folder, embeddings, monkeypatch):
    monkeypatch.setattr(os, "pwrite", no_room)
    monkeypatch.setattr(BankLock, "holds", lambda *_: False)  # another process has no such list
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        with pytest.raises(StoreLockedError, match="another process"):
            ChromaStore.from_path(folder, embeddings=embeddings)
        store.put(HERE, "k", {"text": "x"})
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        assert store.get(HERE, "k") is not None


READ_ONLY = """
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    ChromaStore.from_path(sys.argv[1], embeddings=HashEmbeddings())
except StoreError as error:
    say(type(error).__name__, error)
"""


def state_of(folder):
    files = {path: path.stat() for path in [folder, *folder.rglob("*")]}
    facts = {path: (stat.st_mode, stat.st_size, stat.st_mtime_ns) for path, stat in files.items()}
    return facts, {path: path.read_bytes() for path in files if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("locked", ["folder", "database"])
def test_a_bank_one_may_only_read_is_refused_at_opening_and_left_as_it_is(embeddings, locked):
    with tempfile.TemporaryDirectory() as outside:
        Path(outside).chmod(0o755)
        folder = Path(outside) / "bank"
        with ChromaStore.from_path(folder, embeddings=embeddings) as store:
            store.put(HERE, "k", {"text": "x"})
        folder.chmod(0o555 if locked == "folder" else 0o777)
        (folder / "chroma.sqlite3").chmod(0o444)
        before = state_of(folder)
        code, said = run_forked(PREAMBLE + READ_ONLY, folder)
        assert state_of(folder) == before
        assert code == 0
        assert said.startswith("StorePathError")
        assert "read-only" in said
        folder.chmod(0o755)


def keys(store):
    return [item.key for item in store.search(HERE, refresh_ttl=False)]


def test_a_clock_that_goes_back_keeps_the_order_of_writes(store, clock):
    store.put(HERE, "one", {"text": "1"})
    store.put(HERE, "two", {"text": "2"})
    clock.seconds -= 3600
    store.put(HERE, "three", {"text": "3"})
    store.put(HERE, "one", {"text": "1 again"})
    assert keys(store) == ["one", "three", "two"]
    store.batch([PutOp(HERE, "four", {"text": "4"}), PutOp(HERE, "two", None)])
    assert keys(store) == ["four", "one", "three"]
    assert all(item.created_at <= item.updated_at for item in store.search(HERE))


def test_an_item_is_never_changed_before_it_was_made(folder, embeddings, clock):
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        store.put(HERE, "k", {"text": "before"})
        before = store.get(HERE, "k")
    clock.seconds -= 3600
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        store.put(HERE, "k", {"text": "after"})
        after = store.get(HERE, "k")
    assert after.created_at == before.created_at
    assert after.updated_at > before.updated_at


def test_a_clock_that_goes_back_keeps_items_that_live_for_a_time_as_long_as_promised(folder, embeddings, clock):
    ttl = {"omit_expired": True, "refresh_on_read": False}
    with ChromaStore.from_path(folder, embeddings=embeddings, ttl=ttl) as store:
        store.put(HERE, "old", {"text": "x"}, ttl=10)
        clock.seconds -= 3600
        store.put(HERE, "young", {"text": "x"}, ttl=10)
        assert store.sweep_ttl() == 0
        assert keys(store) == ["young", "old"]
        clock.seconds += 3600 + 9 * 60
        assert keys(store) == ["young", "old"]
        clock.seconds += 2 * 60
        assert keys(store) == []
        assert store.sweep_ttl() == 2
        clock.seconds -= 3600
        assert keys(store) == []
