"""Killed with SIGKILL before or after its write, a change and its row are both there or neither; again, one row."""

import json
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """What `ledger_crash_child` found."""
    command = [sys.executable, "-m", "tests.ledger_crash_child", str(tmp_path_factory.mktemp("killed"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY, timeout=900)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def left(said):
    return said["items"], said["log"], said["ok"]


@pytest.mark.slow
@pytest.mark.parametrize("change", ["add", "quarantine", "forget", "forget all", "prune", "undo", "import"])
def test_a_killed_change_and_its_row_are_there_together_and_once(killed, change):
    found = killed[change]
    before, calm = left(found.pop("before")), left(found.pop("calm"))
    assert before != calm
    assert [name.rpartition(" ")[0] for name in found] == ["before write", "after write"]
    assert left(found["before write 0"]["first"]) == before
    assert left(found["after write 0"]["first"]) == calm
    assert [left(lives["second"]) for lives in found.values()] == [calm, calm]
