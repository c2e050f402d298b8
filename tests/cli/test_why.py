"""`reasoningbank bank why` tells the story of a lesson, and `bank graph` draws the bank into a file."""

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_forgetting import family, lesson


@pytest.fixture
def folder(tmp_path):
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        bank: MemoryBank = family(store)
        bank.set_status("child1", "quarantined", reason="doubtful")
        bank.forget("child2", cascade=False)
    return tmp_path / "bank"


def bank(folder, *words, code=0):
    words = ["bank", *map(str, words), "--namespace", "m", "--bank", str(folder)]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert done.exit_code == code, done.output
    return done.output


def test_a_lesson_is_told_with_its_origin_its_descendants_and_its_changes(folder):
    lines = bank(folder, "why", "child1").splitlines()
    assert lines[:4] == [
        "child1 [lesson, quarantined, success] title child1",
        "  thread t2, run r2",
        "  its attempt was shown gran [lesson, active, success] title gran",
        "  was shown to grandchild [lesson, active, success] title grandchild",
    ]
    assert "quarantined by program: doubtful" in lines[-2]


def test_a_forgotten_lesson_is_told_from_the_ledger(folder):
    text = bank(folder, "why", "child2")
    assert text.startswith("child2: gone\n")
    assert "forgotten by program" in text
    assert "nobody" in bank(folder, "why", "nobody", code=2)


def test_the_only_bank_of_a_folder_needs_no_name_and_one_of_several_does(folder):
    words = ["bank", "why", "child1", "--bank", str(folder)]
    assert CliRunner().invoke(app, words).output == bank(folder, "why", "child1")
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        MemoryBank(store, "other").add([lesson("alone")])
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert (done.exit_code, "say which bank is meant; there are: m, other" in done.output) == (2, True)


@pytest.mark.parametrize(
    ("name", "start"), [("bank.mmd", "flowchart LR\n"), ("bank.graphml", "<?xml version='1.0' encoding='utf-8'?>")]
)
def test_the_graph_of_a_bank_is_written_to_a_file(folder, tmp_path, name, start):
    assert f"4 nodes and 2 edges written to {tmp_path / name}" in bank(folder, "graph", tmp_path / name)
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_another_kind_of_file_is_refused(folder, tmp_path):
    assert ".graphml or .mmd" in bank(folder, "graph", tmp_path / "bank.png", code=2)
    assert not (tmp_path / "bank.png").exists()
