"""`reasoningbank bank`: what is on disk can be seen, checked, rebuilt and moved."""

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank, MemoryItem, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.testing import HashEmbeddings


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        item = MemoryItem(title="look \x1b[2J twice", description="always", content="look", outcome="failure", task="t")
        MemoryBank(store, ("math", "ann")).add([item])
    return tmp_path / "bank"


def bank(command, folder):
    return CliRunner().invoke(app, ["bank", command, "--bank", str(folder)], env={"COLUMNS": "200"})


def test_every_lesson_is_shown_with_its_namespace(folder):
    done = bank("show", folder)
    assert done.exit_code == 0, done.output
    assert "math/ann: 1 lesson of 1 attempt (1 from failure)" in done.output
    assert "[failure] look" in done.output
    assert "\x1b" not in done.output


@pytest.mark.parametrize("command", ["verify", "rebuild"])
def test_a_whole_bank_is_found_whole(folder, command):
    done = bank(command, folder)
    assert done.exit_code == 0, done.output
    assert "ok=True" in done.output


def test_a_bank_of_another_embedder_is_refused_with_the_command_that_moves_it(folder, monkeypatch):
    monkeypatch.setattr(embeddings, "default_embeddings", lambda: HashEmbeddings(32))
    refused = bank("show", folder)
    assert refused.exit_code == 1
    assert "reasoningbank bank reindex --bank" in refused.output
    assert bank("reindex", folder).exit_code == 0
    assert "1 lesson" in bank("show", folder).output


def test_a_mistyped_path_makes_no_bank(tmp_path):
    done = bank("show", tmp_path / "none")
    assert done.exit_code == 2
    assert "there is no bank at" in done.output
    assert not (tmp_path / "none").exists()
