"""`reasoningbank bank contradictions` lists opposite lessons with the reason, and fails if the model says nothing."""

import json

import pytest

from reasoningbank_langgraph import ChromaStore, embeddings
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel
from tests.bank.test_contradictions import filled
from tests.cli.test_lessons import call
from tests.cli.test_redistil import choose


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        filled(store)
    return tmp_path / "bank"


def listed(folder, monkeypatch, reply, *options):
    choose(monkeypatch, ScriptedChatModel(lambda _: reply))
    return call("contradictions", "--namespace", "m", "--model", "any", "--bank", folder, *options)


def test_both_lessons_are_named_with_the_reason(folder, monkeypatch):
    done = listed(folder, monkeypatch, json.dumps({"why": "one rounds,\x1b[31m one does not", "opposite": True}))
    assert done.exit_code == 0, done.output
    assert done.output.endswith(
        "  round: round first\n"
        "  exact: round last\n"
        "      one rounds,[31m one does not\n"
        "1 pair compared, 1 opposite, 0 unclear, 0 not compared\n"
    )


@pytest.mark.parametrize("options", [(), ("--keep",)])
def test_why_tells_of_it_where_it_was_kept(options, folder, monkeypatch):
    listed(folder, monkeypatch, json.dumps({"why": "one rounds", "opposite": True}), *options)
    told = call("why", "exact", "--namespace", "m", "--bank", folder).output
    assert ("contradicts round" in told) is bool(options)


def test_a_model_that_says_nothing_readable_is_an_error(folder, monkeypatch):
    done = listed(folder, monkeypatch, ConnectionError("no server"))
    assert done.exit_code == 1
    assert "1 pair compared, 0 opposite, 1 unclear" in done.output
    assert "no server" in done.output
