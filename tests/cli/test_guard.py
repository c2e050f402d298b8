"""`reasoningbank bank guard` prints what a guard knows, for people and as JSON."""

import json

from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, Guard, MemoryBank
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.policies import Evidence, GuardStatus
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_forgetting import lesson


def filled(folder, model="", pairs=4):
    """Make a bank whose guard has seen pairs that memory broke."""
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        bank, guard = MemoryBank(store, ("math", "ann")), Guard(alpha=0.2, model=model)
        bank.add([lesson("one")])
        for number in range(2 * pairs):
            drawn = guard.trial(str(number), bank.guard(model))
            withheld, right = (None, False) if number % 2 else ("held_out", True)
            bank.add([], evidence=Evidence(drawn.model_copy(update={"withheld": withheld, "right": right})))
    return folder


def output(folder, *words):
    done = CliRunner().invoke(app, ["bank", "guard", "--bank", str(folder), *words], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.output


def test_the_state_and_its_figures_are_printed(tmp_path):
    text = output(filled(tmp_path / "bank"))
    assert "math/ann: off" in text
    assert "with memory 0 of 4 tasks solved, without 4 of 4" in text
    assert "decided by 4 pairs: memory fixed 0, broke 4; evidence of harm 6.2, of gain 0.2" in text
    assert "the test that runs has 0 pairs:" in text
    assert "evidence of harm 1, of gain 1; chance of harm 50%" in text


def test_each_model_has_a_line(tmp_path):
    folder = filled(filled(tmp_path / "bank"), model="a larger model", pairs=1)
    assert "math/ann, model a%20larger%20model: trying" in output(folder)
    known = [json.loads(line) for line in output(folder, "--json").splitlines()]
    assert [(one["namespace"], one["model"], one["state"]) for one in known] == [
        (["math", "ann"], "", "off"),
        (["math", "ann"], "a larger model", "trying"),
    ]
    stated = {name: value for name, value in known[0].items() if name != "namespace"}
    assert GuardStatus.model_validate(stated).changes == 1


def test_a_bank_without_a_guard_says_so(tmp_path):
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        MemoryBank(store, "m").add([lesson("one")])
    assert "m: no guard has watched this bank" in output(tmp_path / "bank")


def test_a_bank_of_which_only_the_guard_is_left_can_be_shown_and_forgotten(tmp_path):
    folder = filled(tmp_path / "bank")
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        MemoryBank(store, ("math", "ann")).forget("one")
    assert "math/ann: off" in output(folder, "--namespace", "math/ann")
    words = ["bank", "forget", "--namespace", "math/ann", "--all", "--yes", "--bank", str(folder)]
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.output) == (0, "0 lessons and the counts of a guard removed from math/ann\n")
    assert output(folder) == ""
