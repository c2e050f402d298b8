"""Killed with SIGKILL before or after its write, a change and its row are both there or neither; again, one row."""

import random
import time

import pytest

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_forgetting import NAMESPACE
from tests.killed import found_by
from tests.store.processes import start

WRITES = """
from reasoningbank_langgraph import MemoryBank
from tests.bank.test_forgetting import NAMESPACE, lesson
with ChromaStore.from_path(sys.argv[1], embeddings=HashEmbeddings()) as store:
    bank = MemoryBank(store, NAMESPACE)
    for number in range(int(sys.argv[2]), 10**6):
        bank.add([lesson(f"{number} {part}", experience=f"e{number}") for part in "ab"])
        if number % 3 == 0:
            bank.forget(f"{number} a")
        if number % 3 == 1:
            bank.set_status(f"{number} b", "quarantined")
        if number == int(sys.argv[2]):
            say("begun")
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """What `ledger_crash_child` found."""
    return found_by("ledger_crash_child", tmp_path_factory.mktemp("killed"), timeout=900)


@pytest.mark.slow
@pytest.mark.parametrize("change", ["add", "quarantine", "forget", "forget all", "prune", "undo", "import"])
def test_a_killed_change_and_its_row_are_there_together_and_once(killed, change):
    calm, points = killed[change].values()
    before, after = calm["found"], calm["left"]
    assert before != after
    assert {name: life["killed"] for name, life in points.items()} == {"before write 0": True, "after write 0": True}
    assert [life["found"] for life in points.values()] == [before, after]
    assert [life["left"] for life in points.values()] == [after, after]


@pytest.mark.slow
def test_killed_at_any_moment_the_ledger_agrees_with_the_bank(tmp_path):
    moments, rows = random.Random(7), 0
    for life in range(3):
        with start(WRITES, tmp_path / "bank", 1_000 * life) as process:
            assert process.stdout.readline() == "begun\n"
            time.sleep(moments.uniform(0, 0.7))
            process.kill()
        with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
            bank = MemoryBank(store, NAMESPACE)
            assert store.verify().ok
            assert bank.verify_log().ok
            changes = bank.log()
            assert {item.id: item.status for item in bank.items()} == told(changes)
            assert len(changes) > rows
            rows = len(changes)


def told(changes):
    """The status of each lesson as the ledger has it."""
    found = {}
    for change in changes:
        assert {found.get(name) for name in change.ids} == {change.before["status"] if change.before else None}
        found |= dict.fromkeys(change.ids, change.after and change.after["status"])
    return {name: status for name, status in found.items() if status}
