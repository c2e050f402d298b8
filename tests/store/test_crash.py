"""A writer killed at any moment: what was acknowledged is there, a batch is there whole or not at all."""

import os
import random
import signal
import time

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.rows import Rows
from tests.store.processes import needs_fork, start

WRITERS = """
import chromadb.api.rust  # once, before the forks: it takes seconds and starts no thread

def write(number):
    store = ChromaStore.from_path(sys.argv[1], index={"embed": HashEmbeddings(), "fields": ["text", "more"]})
    while True:
        old = [PutOp(("batch", str(number - 1)), str(m), None) for m in range(8)]
        new = [PutOp(("batch", str(number)), str(m), {"text": f"{number} {m}", "more": f"more {m}"}) for m in range(8)]
        kept = PutOp(("kept",), str(number), {"text": f"kept {number}"})
        store.batch([*old, *new, kept, PutOp(("same",), "k", {"text": f"same {number}"})])
        say(number)
        number += 1

while line := sys.stdin.readline():
    child = os.fork()
    if child == 0:
        say(os.getpid())
        write(int(line))
    os.waitpid(child, 0)
    say("ended")
"""


@pytest.fixture
def writers(folder):
    """A process that starts a writer for each number it is told, and says when one has ended."""
    with start(WRITERS, folder) as process:
        yield process
        process.kill()


def run_and_kill(writers, number, seconds):
    """Let a writer work, kill it, and return the number of the last batch it acknowledged."""
    print(number, file=writers.stdin, flush=True)
    lines = iter(writers.stdout.readline, "ended\n")
    writer, acknowledged = int(next(lines)), int(next(lines))
    time.sleep(seconds)
    os.kill(writer, signal.SIGKILL)
    return max(acknowledged, *map(int, lines), 0)


@pytest.mark.slow
@needs_fork
def test_a_killed_writer_leaves_the_bank_before_or_after_a_batch(writers, folder, embeddings):
    chance = random.Random(7)
    acknowledged = -1
    for _ in range(5):
        acknowledged = run_and_kill(writers, acknowledged + 1, chance.uniform(0.05, 0.6))
        with ChromaStore.from_path(folder, index={"embed": embeddings, "fields": ["text", "more"]}) as store:
            kept = sorted(int(item.key) for item in store.search(("kept",), limit=10_000))
            last = kept[-1]
            assert kept == list(range(last + 1))
            assert last - acknowledged in (0, 1)
            assert store.list_namespaces(prefix=("batch",)) == [("batch", str(last))]
            assert len(store.search(("batch",), limit=100)) == 8
            assert store.get(("same",), "k").value == {"text": f"same {last}"}
            assert len(store.search((), query=f"kept {last}", limit=10_000)) == len(kept) + 9
            report = store.verify()
            assert report.ok, report
            assert (report.tombstones, report.items) == (0, len(kept) + 9)
            acknowledged = last


def crash(*_, **__):
    raise RuntimeError("power cut")


def test_a_crash_between_the_write_and_the_removal_shows_nothing_twice(folder, embeddings, monkeypatch):
    settings = {"index": {"embed": embeddings, "fields": ["text", "more"]}}
    with ChromaStore.from_path(folder, **settings) as store:
        store.put(("a",), "two", {"text": "old text", "more": "old words"})
        store.put(("a",), "gone", {"text": "old text", "more": "old words"})
        monkeypatch.setattr(Rows, "delete", crash)
        with pytest.raises(RuntimeError, match="power cut"):
            store.batch([PutOp(("a",), "two", {"text": "fresh"}), PutOp(("a",), "gone", None)])
        monkeypatch.undo()
        for query in (None, "old words"):
            assert [item.key for item in store.search(("a",), query=query)] == ["two"]
        assert store.get(("a",), "gone") is None
        assert store.verify().tombstones == 4  # three vectors, and the row that names them
        assert store.verify().ok
    with ChromaStore.from_path(folder, **settings) as store:
        assert store.verify().tombstones == 0
        assert [item.value for item in store.search(("a",), query="old words")] == [{"text": "fresh"}]


def test_what_is_written_again_after_a_removal_that_failed_is_there_when_the_bank_is_opened(
    folder, embeddings, monkeypatch
):
    settings = {"index": {"embed": embeddings, "fields": ["text", "more"]}}
    with ChromaStore.from_path(folder, **settings) as store:
        for key in ("again", "gone"):
            store.put(("a",), key, {"text": "old text", "more": "old words"})
        monkeypatch.setattr(Rows, "delete", crash)
        with pytest.raises(RuntimeError, match="power cut"):
            store.batch([PutOp(("a",), key, None) for key in ("again", "gone")] + [PutOp(("a",), "new", {"n": 1})])
        monkeypatch.undo()
        store.put(("a",), "again", {"text": "fresh"})
        assert {item.key for item in store.search(("a",))} == {"again", "new"}
        assert store.verify().ok
    with ChromaStore.from_path(folder, **settings) as store:
        assert {item.key: item.value for item in store.search(("a",))} == {"again": {"text": "fresh"}, "new": {"n": 1}}
        report = store.verify()
        assert (report.tombstones, report.rows, report.ok) == (0, 2, True)


def test_a_batch_removes_without_writing_over_what_it_removes(store, monkeypatch):
    """Chroma takes ten times as long to write over a vector as to remove it."""
    store.batch([PutOp(("a",), str(n), {"text": f"text {n}"}) for n in range(40)])
    sent = []
    monkeypatch.setattr(store._collection.rows, "_write", lambda call: sent.append(call.keywords["ids"]) or call())
    store.batch([*(PutOp(("a",), str(n), None) for n in range(40)), PutOp(("a",), "new", {"text": "fresh"})])
    assert list(map(len, sent)) == [2, 41]
    assert [item.key for item in store.search(("a",))] == ["new"]


def test_a_write_that_fails_changes_nothing(store, monkeypatch):
    store.put(("a",), "k", {"text": "before"})
    assert store.search(("a",), query="before")[0].value == {"text": "before"}
    monkeypatch.setattr(Rows, "upsert", crash)
    with pytest.raises(RuntimeError, match="power cut"):
        store.put(("a",), "k", {"text": "after"})
    monkeypatch.undo()
    assert store.search(("a",), query="before")[0].value == {"text": "before"}
    store.put(("a",), "k", {"text": "after"})
    assert store.get(("a",), "k").value == {"text": "after"}
