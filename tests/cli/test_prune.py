"""`reasoningbank bank prune` says which lessons would go out of use and why, asks, and takes it back."""

from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_forgetting import NAMESPACE, family, lesson

PAST = datetime(2026, 1, 31, tzinfo=UTC)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        family(store).add([lesson("past", valid_until=PAST)])
    return tmp_path / "bank"


def prune(folder, *words, code=0, answer=None):
    words = ["bank", "prune", "--namespace", "m", "--bank", str(folder), *words]
    done = CliRunner().invoke(app, words, input=answer, env={"COLUMNS": "200"})
    assert done.exit_code == code, done.output
    return done.output


def in_use(folder):
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        bank = MemoryBank(store, NAMESPACE)
        return len([item for item in bank.items() if item.status == "active"]), {one.actor for one in bank.log()}


def test_a_dry_run_says_why_and_changes_nothing(folder):
    text = prune(folder, "--expired", "--dry-run")
    assert text == ("  past: no longer valid: valid until 2026-01-31\n1 lesson would go out of use, 5 would stay\n")
    assert in_use(folder)[0] == 6


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, 5), ("n\n", 1, 6)])
def test_it_asks_before_it_changes_anything(folder, answer, code, left):
    assert "1 lesson would go out of use, 5 would stay. Go on?" in prune(folder, "--expired", code=code, answer=answer)
    assert in_use(folder)[0] == left


def test_beyond_capacity_lessons_leave_and_come_back(folder):
    assert "4 lessons out of use; --undo brings them back" in prune(folder, "--capacity", "2", "--yes")
    assert in_use(folder) == (2, {"program", "command line"})
    assert prune(folder, "--undo").startswith("4 lessons in use again\n  ")
    assert prune(folder, "--undo") == "0 lessons in use again\n"
    assert in_use(folder)[0] == 6


def test_where_nothing_has_to_leave_it_asks_nothing(folder):
    assert prune(folder, "--unused-days", "1") == "0 lessons would go out of use, 6 would stay\n"


@pytest.mark.parametrize("words", [[], ["--expired", "--undo"], ["--min-value", "2"]])
def test_what_makes_no_sense_is_an_error(folder, words):
    prune(folder, *words, code=2)
    assert in_use(folder)[0] == 6
