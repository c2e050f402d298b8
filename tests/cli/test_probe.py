"""`reasoningbank probe` from end to end, against a server on this machine: what it compares, prints and recommends."""

import json
import os
import re
import shutil
import signal
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.experiments import run as running
from reasoningbank_langgraph.experiments.probe import SHOWN
from reasoningbank_langgraph.experiments.results import Results
from reasoningbank_langgraph.records import Episode, MemoryItem
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.experiments import worlds
from tests.experiments.conftest import unrendered  # noqa: F401 - a fixture
from tests.experiments.fake_rows import needs_extra
from tests.openai_server import OpenAIServer
from tests.server_habits import Habits, completion

pytestmark = [needs_extra, pytest.mark.slow, pytest.mark.network]

LEARNED, COMPARED = 10, 20


def easily_led(ask):
    """Solve right, and wrong as soon as there is any text between the rules and the problem."""
    messages = [SimpleNamespace(text=message["content"]) for message in ask.body["messages"]]
    if not worlds.is_solving(messages):
        return completion(ask, worlds.reply(messages).text)
    a, b = (int(word) for word in messages[-1].text.split() if word.isdigit())
    return completion(ask, f"first {a}, then {b}, so \\boxed{{{a + b}}}" if len(messages) == 2 else "\\boxed{7}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("probe")


@pytest.fixture(scope="module")
def server():
    with OpenAIServer(Habits(always=easily_led)) as running_server:
        yield running_server


@pytest.fixture(scope="module")
def probe(folder, server):
    file = worlds.unlike_problems(folder / "problems.jsonl", LEARNED + COMPARED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "default_embeddings", HashEmbeddings)
        patch.setenv("OPENAI_BASE_URL", server.url)
        patch.setenv("OPENAI_API_KEY", "none")

        def run(*more, out=folder / "out"):
            words = ["probe", f"--file={file}", "--model=m", f"--out={out}", *more]
            return CliRunner().invoke(app, words, env={"COLUMNS": "200"})

        yield run


@pytest.fixture(scope="module")
def stopped_and_done(probe, folder, server):
    """A probe that Ctrl-C stopped after its first rows, and the same command again."""

    def interrupting(_):
        if len(server.bodies) == 3 * LEARNED:
            os.kill(os.getpid(), signal.SIGINT)

    server.habits.checks = interrupting
    stopped = probe()
    server.habits.checks = None
    before = len(Results(folder / "out").rows)
    return stopped, before, probe()


def test_it_says_what_it_learns_from_compares_all_seven_and_recommends_with_the_reason_and_the_python(stopped_and_done):
    *_, done = stopped_and_done
    assert done.exit_code == 0, done.output
    assert f"learns from the first {LEARNED} problems of" in done.output
    assert f"solves {COMPARED} others in 7 ways" in done.output
    _, table = done.output.split("Against nothing")
    for arm, shown in SHOWN.items():
        (line,) = [line for line in table.splitlines() if f"│ {arm} " in line and f"│ {shown}" in line]
        assert f"{20 if arm in ('baseline', 'long') else 0} of 20" in line
    assert "recommended: gate" in done.output
    assert "This model loses with any text before the task: use the gate." in done.output
    assert "Its replies get shorter" in done.output
    assert 'gate = Scaling(k=3, memory="on_disagreement")' in done.output


def test_a_stopped_probe_goes_on_and_solves_nothing_twice(stopped_and_done, folder, server):
    stopped, before, done = stopped_and_done
    assert (stopped.exit_code, done.exit_code) == (130, 0)
    assert "stopped: the same command continues the run" in stopped.output
    rows = Results(folder / "out").rows
    assert 0 < before < len(rows) == LEARNED + 7 * COMPARED
    lines = (folder / "out" / "results.jsonl").read_text().splitlines()
    assert len(lines) == len(rows)


@pytest.mark.usefixtures("stopped_and_done")
def test_json_is_all_there_is_on_stdout_and_holds_the_same(probe, server):
    asked = len(server.bodies)
    done = probe("--json")
    assert (done.exit_code, len(server.bodies)) == (0, asked)
    found = json.loads(done.stdout)
    assert found["advice"]["use"] == "gate"
    assert "on_disagreement" in found["advice"]["python"]
    assert {one["arm"]: one["right"] for one in found["arms"] if one["compared"]} == {
        arm: 20 if arm in ("baseline", "long") else 0 for arm in SHOWN
    }
    assert set(found["reply_lengths"]) == {*SHOWN}
    assert found["reply_lengths"]["baseline"] > found["reply_lengths"]["memory"] > 0
    assert {(one["arm"], one["against"]) for one in found["comparisons"]} >= {
        ("memory", "random"), ("memory", "filler"), ("examples", "examples-random"), ("examples", "baseline")
    }  # fmt: skip
    assert "report:" in done.stderr


@pytest.fixture
def bank(tmp_path):
    """A bank that another program made."""
    task = "Ann counts 3 figs on a small table by the sea and gets 4 figs more. How many figs is that?"
    known = {"task": task, "outcome": "success", "task_id": "own", "experience_id": "e1"}
    item = MemoryItem(id="i1", title="Count", description="When counting figs", content="Add what is there.", **known)
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        memory = MemoryBank(store, ("math", "ann"))
        memory.add([item], episodes=[Episode(id="a1", solution="It is \\boxed{7}", **known)])
    return tmp_path / "bank"


def test_a_bank_that_is_there_is_shown_as_it_was_when_the_probe_began(bank, probe, tmp_path, server):
    asked = len(server.bodies)
    done = probe(f"--bank={bank}", "--limit=20", out=tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert f"shows the bank math/ann of {bank}; solves 20 problems in 7 ways" in done.output
    arms = worlds.by_arm(SimpleNamespace(results=Results(tmp_path / "out")))
    assert set(arms) == {*SHOWN}
    assert {one for row in arms["memory"] for one in row.shown} == {"i1"}
    assert {one for row in arms["examples"] for one in row.shown} == {"a1"}
    assert len(server.bodies) - asked == 20 * 7
    assert "/bank.jsonl" in (tmp_path / "out" / ".gitignore").read_text().splitlines()
    shutil.rmtree(tmp_path / "out" / "banks")  # as if killed before the copy was embedded
    more = MemoryItem(title="T", description="D", content="C", outcome="success", task="t")
    with ChromaStore.from_path(bank, embeddings=HashEmbeddings()) as store:
        for labels in (("math", "ann"), ("math", "bob")):
            MemoryBank(store, labels).add([more])
    again = probe(f"--bank={bank}", "--namespace=math/ann", "--limit=20", out=tmp_path / "out")
    assert (again.exit_code, len(server.bodies) - asked) == (0, 20 * 7)
    either = probe(f"--bank={bank}", "--limit=20", out=tmp_path / "out")
    assert either.exit_code == 2
    assert "say which bank is meant; there are: math/ann, math/bob" in either.output
    other = probe(f"--bank={bank}", "--namespace=math/bob", "--limit=20", out=tmp_path / "out")
    assert other.exit_code == 1
    assert "namespace (['math', 'ann'] there, ['math', 'bob'] here)" in other.output


@pytest.mark.parametrize(
    ("more", "code", "problem"),
    [
        (["--learn=11"], 1, "11 problems of"),
        (["--limit=19"], 2, "--limit"),
        (["--namespace=math"], 2, "name its folder too"),
        (["--bank=nowhere"], 2, "there is no bank at .*/nowhere"),
        (["--bank=nowhere", "--learn=9"], 2, "nothing is learned where a bank is named"),
    ],
)
def test_what_makes_no_sense_is_refused_before_a_model_is_asked(more, code, problem, probe, tmp_path, server):
    asked = len(server.bodies)
    done = probe(*more, out=tmp_path / "none")
    assert done.exit_code == code
    said = "".join(done.output.replace("│", "").split())  # a long path is broken in the middle of a word
    assert re.search(problem.replace(" ", ""), said)
    assert (len(server.bodies), (tmp_path / "none").exists()) == (asked, False)
