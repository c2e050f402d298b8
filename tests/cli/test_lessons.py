"""`reasoningbank bank export`, `import` and `forget`: lessons go from bank to bank, and away."""

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_forgetting import family


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        family(store)
    return tmp_path / "bank"


def call(*words):
    return CliRunner().invoke(app, ["bank", *map(str, words)], env={"COLUMNS": "200"})


def left(folder):
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        return sorted(item.id for item in MemoryBank(store, "m").items())


def test_lessons_travel_from_bank_to_bank(folder, tmp_path):
    done = call("export", tmp_path / "m.jsonl", "--namespace", "m", "--bank", folder)
    assert "5 lessons written" in done.output
    call("forget", "--namespace", "m", "--item", "gran", "--bank", folder)
    done = call("import", tmp_path / "m.jsonl", "--namespace", "m", "--bank", folder)
    assert "4 lessons added, 1 already there" in done.output
    assert len(left(folder)) == 5


def test_a_bad_file_is_refused_with_its_line(folder, tmp_path):
    (tmp_path / "m.jsonl").write_text("no json")
    done = call("import", tmp_path / "m.jsonl", "--namespace", "m", "--bank", folder)
    assert done.exit_code == 1
    assert "line 1" in done.output
    assert "nothing was imported" in done.output


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["--item", "gran"], ["stranger"]),
        (["--thread", "t1", "--no-cascade"], ["child1", "child2", "grandchild", "stranger"]),
        (["--run", "r2"], ["child2", "gran", "stranger"]),
        (["--experience", "stranger"], ["child1", "gran", "grandchild"]),
    ],
)
def test_forgetting_names_what_is_gone(folder, words, kept):
    done = call("forget", "--namespace", "m", *words, "--bank", folder)
    assert done.exit_code == 0, done.output
    assert f"{5 - len(kept)} lesson" in done.output
    assert left(folder) == kept


@pytest.mark.parametrize("words", [[], ["--item", "gran", "--run", "r1"]])
def test_forgetting_takes_one_selector(folder, words):
    done = call("forget", "--namespace", "m", *words, "--bank", folder)
    assert done.exit_code == 2
    assert len(left(folder)) == 5


def test_forgetting_in_a_namespace_without_lessons_is_refused(folder):
    done = call("forget", "--namespace", "mm", "--item", "gran", "--bank", folder)
    assert done.exit_code == 2
    assert "there are no lessons in 'mm'" in done.output
