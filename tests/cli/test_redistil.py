"""`reasoningbank bank redistil`: counted first, done with a bar, taken back by the name of its run."""

import re

import pytest

from reasoningbank_langgraph import ChromaStore, MemoryBank, embeddings
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_redistil import OLD, Named, filled, in_use, newer
from tests.cli.test_learn import choose
from tests.cli.test_lessons import call


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    choose(monkeypatch, newer("estimate first"))
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        filled(store)
    return tmp_path / "bank"


def titles(folder):
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        return in_use(MemoryBank(store, "m"))


def test_a_dry_run_counts_and_a_run_says_how_to_take_it_back(folder):
    words = ["redistil", "--model", "any", "--bank", folder]
    done = call(*words, "--dry-run")
    assert done.exit_code == 0, done.output
    assert "m: 2 experiences would be made anew, 0 had been before; 4 lessons out of use for them" in done.output
    assert titles(folder) == OLD
    done = call(*words, "--namespace", "m")
    assert "2 experiences made anew, 0 had been before; 2 lessons written; 4 lessons out of use" in done.output
    assert titles(folder) == ["estimate first"] * 2
    (run,) = re.findall(r"--undo (\S+)", done.output)
    assert f"made anew by newer, run {run}" in call("show", "--bank", folder).output
    assert "0 experiences made anew, 2 had been before" in call(*words).output
    done = call("redistil", "--undo", run, "--bank", folder)
    assert "m: 4 lessons in use again, 2 lessons of the run out of use" in done.output
    assert titles(folder) == OLD


def test_a_model_that_fails_is_named_and_ends_with_an_error(folder, monkeypatch):
    choose(monkeypatch, Named(lambda _: ConnectionError("no server")))
    done = call("redistil", "--model", "any", "--bank", folder)
    assert done.exit_code == 1
    assert "2 experiences kept as before: error 2" in done.output
    assert "no server" in done.output
    assert titles(folder) == OLD


@pytest.mark.parametrize(
    "words", [[], ["--model", "m", "--undo", "r"], ["--undo", "r", "--dry-run"], ["--undo", "nobody"], ["--undo", ""]]
)
def test_a_mistake_changes_nothing(folder, words):
    assert call("redistil", *words, "--bank", folder).exit_code == 2
    assert titles(folder) == OLD


def test_a_namespace_that_is_not_there_is_an_error(folder):
    done = call("redistil", "--model", "any", "--namespace", "mm", "--bank", folder)
    assert done.exit_code == 2
    assert titles(folder) == OLD
