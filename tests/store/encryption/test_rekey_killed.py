"""A change of the key that is killed at any step leaves a whole bank, and the next call ends the work."""

import signal

import pytest

from reasoningbank_langgraph.errors import EncryptionKeyError
from reasoningbank_langgraph.store import rekey
from reasoningbank_langgraph.store.chroma_files import index_folders
from tests.killed import run_forked
from tests.store.encryption.encrypted_bank import KEY, NEW_KEY, opened, traces
from tests.store.encryption.test_rekey import MARKERS, everything, fill

CRASHING = """
import os, signal, sys
from reasoningbank_langgraph.store import collection, rekey
from reasoningbank_langgraph.store.folder import cleaning
from reasoningbank_langgraph.store.maintenance import migration
from reasoningbank_langgraph.store.rows import Rows
from tests.store.encryption.encrypted_bank import KEY, NEW_KEY

folder, where, encrypted = sys.argv[1:]
migration.AT_ONCE = 4

def dying(call, when, at):
    calls = []
    def wrapped(*arguments, **settings):
        calls.append(1)
        if len(calls) < at:
            return call(*arguments, **settings)
        if when == "after":
            call(*arguments, **settings)
        os.kill(os.getpid(), signal.SIGKILL)
    return wrapped

owner, name, when, at = {
    "begun": (migration, "begin_collection", "after", 1),
    "some copied": (Rows, "upsert", "after", 3),
    "all copied": (migration, "_check_whole", "after", 1),
    "marked complete": (collection, "drop", "before", 2),
    "old one gone": (collection, "rename", "before", 1),
    "after the change-over": (migration, "take_place", "after", 1),
    "unused indexes removed": (cleaning, "blank_unused", "before", 1),
    "after the purge": (migration, "purge", "after", 1),
}[where]
setattr(owner, name, dying(getattr(owner, name), when, at))
rekey(folder, KEY if encrypted == "yes" else None, NEW_KEY)
print("not killed")
"""
STEPS = [
    "begun",
    "some copied",
    "all copied",
    "marked complete",
    "old one gone",
    "after the change-over",
    "unused indexes removed",
    "after the purge",
]


def opened_by_one(folder, old_key):
    """Open a bank with the one key of two that fits."""
    try:
        return opened(folder, old_key)
    except EncryptionKeyError:
        return opened(folder, NEW_KEY)


@pytest.mark.slow
@pytest.mark.parametrize(("old_key", "used"), [(KEY, False), (None, True)], ids=["run again", "used, then run again"])
@pytest.mark.parametrize("where", STEPS)
def test_a_kill_at_any_step_leaves_a_whole_bank_and_the_next_call_ends_the_work(folder, where, old_key, used):
    with opened(folder, old_key) as store:
        fill(store)
        before = everything(store)
    assert run_forked(CRASHING, folder, where, "yes" if old_key else "no") == (-signal.SIGKILL, "")
    if used:
        with opened_by_one(folder, old_key) as store:
            assert everything(store) == before
            assert store.verify().ok
    assert rekey(folder, old_key, NEW_KEY).ok
    with pytest.raises(EncryptionKeyError):
        opened(folder, old_key)
    with opened(folder, NEW_KEY) as store:
        assert everything(store) == before
        assert store.verify().ok
    assert traces(folder, MARKERS) == []
    assert len(index_folders(folder)) == 1
