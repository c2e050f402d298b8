"""`reasoningbank import-from`: a dry run leaves no trace, and a run says what it added, skipped and how to undo it."""

import json

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.testing import HashEmbeddings

LESSON = {"title": "Check\x1b[31m units", "description": "When lengths are added.", "content": "Write the unit."}


@pytest.fixture
def file(monkeypatch, tmp_path):
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    path = tmp_path / "old.jsonl"
    path.write_text(f"{json.dumps(LESSON | {'outcome': 'success'})}\n{json.dumps(LESSON)}\n")
    return path


def call(file, *words, source="jsonl"):
    bank = file.with_name("bank")
    return CliRunner().invoke(
        app, ["import-from", source, str(file), "--namespace", "m/ann", "--bank", str(bank), *words]
    )


def items(file):
    with ChromaStore.from_path(file.with_name("bank"), embeddings=HashEmbeddings()) as store:
        return [item.outcome for item in MemoryBank(store, ("m", "ann")).items()]


def test_a_dry_run_shows_what_would_be_added_and_makes_no_bank(file):
    done = call(file, "--dry-run")
    assert done.exit_code == 0, done.output
    assert "1 lesson would be added to m/ann, 0 already there, 1 skipped" in done.output
    assert "[success] Check" in done.output
    assert "line 2 is skipped: does not say" in done.output
    assert "\x1b" not in done.output
    assert not file.with_name("bank").exists()


def test_a_run_adds_them_once_and_says_how_to_take_them_out_again(file):
    assert "1 lesson added to m/ann" in call(file).output
    done = call(file, "--outcome", "failure")
    assert "1 lesson added to m/ann, 1 already there, 0 skipped" in done.output
    assert items(file) == ["success", "failure"]
    assert (
        "0 lessons would be added to m/ann, 2 already there" in call(file, "--outcome", "failure", "--dry-run").output
    )
    words = done.output.split("take them out again: ")[1].split()
    undone = CliRunner().invoke(app, [*words, "--bank", str(file.with_name("bank"))])
    assert undone.exit_code == 0, undone.output
    assert items(file) == []


def test_a_file_that_is_not_there_and_a_source_that_is_none_are_named_and_make_no_bank(file):
    done = call(file.with_name("gone.jsonl"))
    assert (done.exit_code, "cannot be read" in done.output) == (1, True)
    assert call(file, source="mem0").exit_code == 2
    assert not file.with_name("bank").exists()
