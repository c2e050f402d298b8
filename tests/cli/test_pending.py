"""`reasoningbank pending`, `resolve` and `resolve-overdue`: what waits is listed, judged by a person or by a model."""

import json

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank, create_reasoning_bank, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel
from tests.cli.test_redistil import choose
from tests.loop_fakes import learner, solver


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A bank in which two attempts of thread `t` wait."""
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    choose(monkeypatch, learner(titles=("estimate first",)))
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        graph = create_reasoning_bank(solver, namespace=("m", "ann"), learn="deferred").compile(store=store)
        for task in ("add two apples", "add two\x1b[31m pears"):
            graph.invoke({"task": task})
    return tmp_path / "bank"


def call(folder, *words):
    return CliRunner().invoke(app, [*map(str, words), "--bank", str(folder)])


def waiting(folder):
    done = call(folder, "pending", "--json")
    return [json.loads(line) for line in done.output.splitlines()]


def in_bank(folder):
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        bank = MemoryBank(store, ("m", "ann"))
        return [(item.outcome, item.status) for item in bank.items()], [one.outcome for one in bank.episodes()]


def test_what_waits_is_listed_in_a_form_that_the_terminal_cannot_obey(folder):
    done = call(folder, "pending")
    assert done.exit_code == 0, done.output
    assert "m/ann: 2 attempts waiting" in done.output
    assert "add two apples" in done.output
    assert "\\boxed{14}" in done.output
    assert "\x1b" not in done.output
    assert [one["id"] in done.output for one in waiting(folder)] == [True, True]


def test_a_verdict_is_given_and_overturned(folder):
    first = waiting(folder)[0]["id"]
    words = ["--namespace", "m/ann", "--model", "any"]
    done = call(folder, "resolve", first, "success", "--because", "thumb up", *words)
    assert done.exit_code == 0, done.output
    assert "1 lesson written" in done.output
    assert in_bank(folder) == ([("success", "active")], ["success"])
    assert "0 lessons written" in call(folder, "resolve", first, "success", *words).output
    assert "1 lesson written, 1 lesson out of use" in call(folder, "resolve", first, "failure", *words).output
    assert in_bank(folder) == ([("success", "superseded"), ("failure", "active")], ["failure"])
    assert len(waiting(folder)) == 1


def test_a_mistyped_id_and_a_mistyped_namespace_are_named(folder):
    for attempt, namespace in (("nobody", "m/ann"), (waiting(folder)[0]["id"], "m/bob")):
        done = call(folder, "resolve", attempt, "success", "--namespace", namespace)
        assert done.exit_code == 2
        assert "no attempt" in done.output


def test_a_model_that_fails_keeps_the_verdict_and_ends_with_an_error(folder, monkeypatch):
    choose(monkeypatch, ScriptedChatModel(lambda _: ConnectionError("no server")))
    done = call(folder, "resolve", waiting(folder)[0]["id"], "failure", "--namespace", "m/ann")
    assert done.exit_code == 1
    assert "the verdict is kept" in done.output
    assert "no server" in done.output
    choose(monkeypatch, learner(titles=("estimate first",)))
    done = call(folder, "resolve-overdue")
    assert "m/ann: 1 resolved, 0 given up, 1 still waiting" in done.output
    assert in_bank(folder) == ([("failure", "active")], ["failure"])


def test_what_nobody_resolved_is_judged_or_given_up(folder, monkeypatch):
    assert "0 resolved, 0 given up, 2 still waiting" in call(folder, "resolve-overdue").output
    done = call(folder, "resolve-overdue", "--after", "0")
    assert "2 resolved, 0 given up, 0 still waiting" in done.output
    assert in_bank(folder)[1] == ["success", "success"]


def test_what_is_too_old_is_given_up_without_asking_a_model(folder, monkeypatch):
    choose(monkeypatch, ScriptedChatModel([]))
    done = call(folder, "resolve-overdue", "--drop-after", "0")
    assert "0 resolved, 2 given up, 0 still waiting" in done.output
    assert waiting(folder) == []


def test_what_waits_can_be_forgotten_and_is_left_out_of_an_export(folder, tmp_path):
    done = call(folder, "bank", "export", tmp_path / "out.jsonl", "--namespace", "m/ann")
    assert "0 lessons written" in done.output
    assert "2 attempts wait" in done.output
    first = waiting(folder)[0]["id"]
    assert call(folder, "bank", "forget", "--namespace", "m/ann", "--item", first).exit_code == 0
    assert len(waiting(folder)) == 1
    done = call(folder, "bank", "forget", "--namespace", "m/ann", "--all", "--yes")
    assert "0 lessons and 1 waiting attempt removed" in done.output
    assert waiting(folder) == []
