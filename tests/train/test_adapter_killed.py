"""Killed with SIGKILL at any answer of a trial, or around its decision, the same call ends in the same decision."""

import signal
import subprocess
import sys

import pytest

from reasoningbank_langgraph.local.adapters import HISTORY, read_history
from reasoningbank_langgraph.train.adapters import accept
from tests.conftest import REPOSITORY
from tests.train.adapted import adapter_in, problems_in, used

pytestmark = pytest.mark.slow
KILLED = """
import os, signal, sys
from reasoningbank_langgraph.train.adapters import accept, decisions, trial
from tests.train.adapted import Servers
point, adapter, problems = sys.argv[1:]
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
def decide(path, entry):
    if point == "after the decision":
        write(path, entry)
    else:
        path.write_text('{"at": "2026-')  # as if it was cut off in the middle
    die()
servers = Servers(base=set(), sums=set(range(9)))
trial.start_local_model = servers.start
servers.before = lambda weights, number: len(servers.asked) == 7 and point == "at an answer" and die()
write, decisions.append_line = decisions.append_line, decide
accept(adapter, problems)
"""


@pytest.mark.parametrize("point", ["at an answer", "within the decision", "after the decision"])
def test_a_killed_trial_is_taken_up_and_decides_once(point, tmp_path, served):
    sums = adapter_in(tmp_path / "adapters", "sums")
    validation = problems_in(tmp_path / "validation.jsonl", range(9))
    words = [sys.executable, "-c", KILLED, point, str(sums), str(validation)]
    killed = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert used(tmp_path / "adapters") == ("sums" if point == "after the decision" else None)
    noted = len((sums / "trial.jsonl").read_text().splitlines())
    servers = served(base=set(), sums=set(range(9)))
    assert accept(sums, validation).outcome == "accepted"
    assert len(servers.asked) == 18 - noted
    assert noted == 18 or point == "at an answer"
    assert len(read_history(tmp_path / "adapters")) == 1
    assert (tmp_path / "adapters" / HISTORY).read_bytes().endswith(b"\n")
