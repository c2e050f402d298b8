"""A child forked while a store is open: no call of its hangs, and nothing it does or leaves undone harms the parent."""

import json

import pytest

from reasoningbank_langgraph.store import ChromaStore
from tests.store.processes import needs_fork, run, start

pytestmark = needs_fork

CHILD = """
import asyncio, gc, threading
from reasoningbank_langgraph.errors import ForkedStoreError

HERE = ("a",)

def in_a_child(work, *, ends="at once"):
    # Runs work in a forked child that has half a minute; returns what it returned.
    theirs, ours = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            said = work()
        except Exception as error:
            said = [type(error).__name__, str(error)]
        os.write(ours, json.dumps(said).encode())
        if ends == "at once":
            os._exit(0)
        sys.exit(0)
    os.close(ours)
    with os.fdopen(theirs) as lines:
        said = lines.read()
    status = os.waitpid(child, 0)[1]
    assert status == 0, f"the child was ended by signal {status}"
    return json.loads(said)

def opened(path):
    return ChromaStore.from_path(path, embeddings=HashEmbeddings())

store = opened(sys.argv[1])
store.put(HERE, "k", {"text": "from the parent"})
"""

USE = """
from reasoningbank_langgraph import MemoryBank, MemoryItem
lesson = MemoryItem(title="t", description="d", content="c", outcome="success", task="k", experience_id="e")

calls = {
    "bank": lambda: MemoryBank(store, HERE).add([lesson]),
    "get": lambda: store.get(HERE, "k"),
    "put": lambda: store.put(HERE, "c", {"text": "x"}),
    "delete": lambda: store.delete(HERE, "k"),
    "search": lambda: store.search(HERE, query="x"),
    "aput": lambda: asyncio.run(store.aput(HERE, "c", {"text": "x"})),
    "list_namespaces": store.list_namespaces,
    "sweep_ttl": store.sweep_ttl,
    "start_ttl_sweeper": store.start_ttl_sweeper,
    "verify": store.verify,
    "rebuild_index": store.rebuild_index,
    "vacuum": store.vacuum,
    "reindex": lambda: store.reindex(HashEmbeddings(7)),
    "enter": store.__enter__,
}

def names_of_errors():
    said = {}
    for name, call in calls.items():
        try:
            call()
            said[name] = "no error"
        except Exception as error:
            said[name] = type(error).__name__
    return said

busy, done = threading.Event(), threading.Event()
def hold():
    with store._collection.writing:
        busy.set()
        done.wait()
threading.Thread(target=hold, daemon=True).start()
busy.wait()
from reasoningbank_langgraph.bank import writer_lock
hold_turn = writer_lock.writing(store, HERE)
hold_turn.__enter__()
say(json.dumps(in_a_child(names_of_errors)))
say(json.dumps(in_a_child(lambda: store.get(HERE, "k"))))
done.set()
say(store.get(HERE, "k").value["text"])
"""


def test_every_call_in_a_child_is_refused_by_name_even_while_the_parent_writes(folder):
    errors, message, alive = run(CHILD + USE, folder)
    assert set(json.loads(errors).values()) == {"ForkedStoreError"}
    assert "open the bank in the child" in json.loads(message)[1]
    assert alive == "from the parent"


LEAVE = """
def drop():
    global store
    store = None
    gc.collect()

def context():
    with store:
        pass

for ends in ("at once", "with the interpreter"):
    in_a_child(store.close, ends=ends)
    in_a_child(drop, ends=ends)
    in_a_child(context, ends=ends)
    in_a_child(lambda: None, ends=ends)
def refused():
    opened(sys.argv[1])
say(in_a_child(refused)[0])
store.put(HERE, "later", {"text": "x"})
say(len(store.search(HERE, query="x")), store.verify().ok)
"""


@pytest.mark.slow
def test_a_child_that_closes_drops_or_simply_ends_leaves_the_parent_its_bank_and_its_lock(folder, embeddings):
    assert run(CHILD + LEAVE, folder) == ["StoreLockedError", "2 True"]
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        assert len(store.search(("a",))) == 2


OWN = """
def another():
    with opened(sys.argv[1] + "-of-the-child") as own:
        own.put(HERE, "c", {"text": "of the child"})
        return own.search(HERE, query="child")[0].key
say(in_a_child(another, ends="with the interpreter"))
from reasoningbank_langgraph.store.cache import collection as cached_collection
busy, done = threading.Event(), threading.Event()
def hold():
    with cached_collection._collections_lock:
        busy.set()
        done.wait()
threading.Thread(target=hold, daemon=True).start()
busy.wait()
say(in_a_child(another))
done.set()

theirs, ours = os.pipe()
def wait_and_open():
    os.read(theirs, 1)
    with opened(sys.argv[1]) as again:
        return again.get(HERE, "k").value["text"]
def work():
    return in_a_child(wait_and_open)
def after():
    time.sleep(0.5)
    store.close()
    os.write(ours, b"x")
threading.Thread(target=after).start()
say(work())
"""


@pytest.mark.slow
def test_a_child_opens_banks_of_its_own_and_that_of_the_parent_once_it_is_closed(folder):
    assert run(CHILD + OWN, folder) == ["c", "c", "from the parent"]


ORPHAN = """
child = os.fork()
if child == 0:
    os.setsid()
    say("forked")
    sys.stdin.readline()
    os._exit(0)
signal.pause()
"""


@pytest.mark.slow
def test_a_child_does_not_keep_the_lock_of_a_parent_that_was_killed(folder, embeddings):
    with start(CHILD + ORPHAN, folder) as process:
        assert process.stdout.readline() == "forked\n"
        process.kill()
        process.wait()
        with ChromaStore.from_path(folder, embeddings=embeddings) as store:
            assert store.get(("a",), "k") is not None


PACKAGED = """
from reasoningbank_langgraph.embeddings import default_embeddings
model = default_embeddings()
wanted = model.embed_query("a train")
def alike():
    got = model.embed_query("a train")
    return sum(a * b for a, b in zip(wanted, got))
say(round(in_a_child(alike), 3))
"""


@pytest.mark.slow
def test_the_packaged_embedder_works_in_a_child_whatever_its_parent_embedded(folder):
    assert run(CHILD + PACKAGED, folder) == ["1.0"]
