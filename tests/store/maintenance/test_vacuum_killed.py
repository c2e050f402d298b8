"""A vacuum that is killed at any step leaves a whole bank."""

import signal

import pytest

from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.chroma_files import index_folders
from tests.killed import run_forked
from tests.store.maintenance.test_vacuum import INDEX, everything, fill, remove, traces

CRASHING = """
import os, signal, sys
from reasoningbank_langgraph.store import ChromaStore, collection
from reasoningbank_langgraph.store.folder import cleaning
from reasoningbank_langgraph.store.maintenance import migration
from reasoningbank_langgraph.store.rows import Rows
from reasoningbank_langgraph.testing import HashEmbeddings

path, where = sys.argv[1:]

def dying(call, when):
    def wrapped(*arguments, **settings):
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        call(*arguments, **settings)
        os.kill(os.getpid(), signal.SIGKILL)
    return wrapped

with ChromaStore.from_path(path, index={"embed": HashEmbeddings(), "fields": ["text", "more"]}) as store:
    owner, name, when = {
        "rows copied": (Rows, "upsert", "after"),
        "marked complete": (collection, "drop", "before"),
        "old one gone": (collection, "rename", "before"),
        "after the change-over": (migration, "take_place", "after"),
        "after the purge": (cleaning, "blank_unused", "before"),
    }[where]
    if where == "marked complete":  # the first deletion, of a successor that is not there, is not the one meant
        client = store._collection.rows.client
        migration.begin_collection(client, "reasoningbank", "vacuum", store._indexing, None)
        migration.begin_collection = lambda client, *_: collection.find(client, "reasoningbank.next")
    setattr(owner, name, dying(getattr(owner, name), when))
    store.vacuum()
print("not killed")
"""
STEPS = ["rows copied", "marked complete", "old one gone", "after the change-over", "after the purge"]


@pytest.mark.slow
@pytest.mark.parametrize("where", STEPS)
def test_a_kill_at_any_step_leaves_a_whole_bank_and_the_next_call_ends_the_work(folder, where):
    with ChromaStore.from_path(folder, index=INDEX) as store:
        fill(store)
        remove(store)
        before = everything(store)
    assert run_forked(CRASHING, folder, where) == (-signal.SIGKILL, "")
    with ChromaStore.from_path(folder, index=INDEX) as store:
        assert everything(store) == before
        assert store.verify().ok
        assert len(index_folders(folder)) == 1
        store.vacuum()
        assert everything(store) == before
        assert store.verify().ok
    assert traces(folder) == []
