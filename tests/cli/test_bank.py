"""`reasoningbank bank`: what is on disk can be seen, checked, rebuilt and moved."""

import re

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank, MemoryItem, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.policies import Credit, Evidence, GroupCredit
from reasoningbank_langgraph.records import Provenance
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


def test_what_attempts_said_of_a_lesson_is_shown_with_it(folder):
    assert "pairs:" not in bank("show", folder).output
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        memory = MemoryBank(store, ("math", "ann"))
        ids, source = tuple(item.id for item in memory.items()), Provenance(attempt_digest="a")
        said = GroupCredit(ids=ids, credit=Credit(4, 2, 1, 1), known_as="an episode", provenance=source)
        memory.add([], evidence=Evidence(credit=said))
    assert "pairs: fixed 2, broke 1, ties 1" in bank("show", folder).output


@pytest.mark.parametrize("command", ["verify", "rebuild"])
def test_a_whole_bank_is_found_whole(folder, command):
    done = bank(command, folder)
    assert done.exit_code == 0, done.output
    assert "ok=True" in done.output


def test_a_bank_moves_to_the_packaged_embedder_when_told_to(folder, monkeypatch):
    monkeypatch.setattr(embeddings, "default_embeddings", lambda: HashEmbeddings(32))
    moved = bank("reindex", folder)
    assert moved.exit_code == 0, moved.output
    assert "ok=True" in moved.stdout
    assert "3/3" in moved.stderr
    assert "1 lesson" in bank("show", folder).output


def test_a_reindex_whose_embedder_fails_says_so_and_keeps_the_bank(folder, monkeypatch):
    class Failing(HashEmbeddings):
        model_name = "failing"

        def embed_documents(self, texts):
            if self.calls:
                raise ConnectionError("no route")
            return super().embed_documents(texts)

    monkeypatch.setattr(embeddings, "default_embeddings", Failing)
    failed = bank("reindex", folder)
    assert failed.exit_code == 1
    assert "Error: no route" in failed.stderr.splitlines()
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    assert "1 lesson" in bank("show", folder).output


def test_a_vacuum_removes_what_was_deleted_and_says_how_large_the_bank_is(folder):
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        store.put(("x",), "k", {"text": "deletedmarker"})
        store.delete(("x",), "k")
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(b"deletedmarker" in path.read_bytes() for path in files)
    done = bank("vacuum", folder)
    assert done.exit_code == 0, done.output
    assert re.search(r"\d\.\d MB -> \d\.\d MB\n.*ok=True", done.output)
    assert not any(b"deletedmarker" in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert "1 lesson" in bank("show", folder).output


def test_a_bank_that_is_open_is_not_served(folder):
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()):
        refused = bank("serve", folder)
    assert refused.exit_code == 1
    assert "is in use by process" in refused.output


@pytest.mark.parametrize(
    ("command", "code", "said"), [("show", 2, "there is no bank at"), ("vacuum", 2, "no bank"), ("serve", 1, "no bank")]
)
def test_a_mistyped_path_makes_no_bank(tmp_path, command, code, said):
    done = bank(command, tmp_path / "none")
    assert done.exit_code == code
    assert said in done.output
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", ["show", "verify", "vacuum"])
def test_a_folder_that_holds_no_bank_stays_as_it_is(command, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    done = bank(command, tmp_path)
    assert done.exit_code == 2
    assert "there is no bank at" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def export(folder, file, namespace):
    command = ["bank", "export", str(file), "--namespace", namespace, "--bank", str(folder)]
    return CliRunner().invoke(app, command, env={"COLUMNS": "200"})


def test_an_export_of_nothing_leaves_the_backup_that_is_there(folder, tmp_path):
    file = tmp_path / "backup.jsonl"
    assert export(folder, file, "math/ann").exit_code == 0
    before = file.read_bytes()
    mistyped = export(folder, file, "maths/ann")
    assert (mistyped.exit_code, file.read_bytes()) == (2, before)
    assert "there are no lessons in 'maths/ann'" in mistyped.output


def test_an_export_to_where_nothing_can_be_written_is_an_error_in_one_line(folder, tmp_path):
    done = export(folder, tmp_path / "missing" / "backup.jsonl", "math/ann")
    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert "No such file or directory" in done.output


def test_only_lessons_of_a_tag_a_scope_or_a_difficulty_are_shown(folder):
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        texts = {"title": "draw", "description": "when", "content": "draw it", "outcome": "success", "task": "u"}
        item = MemoryItem(**texts, tags=("Word problem", "sums"), scope="school")
        MemoryBank(store, ("math", "ann")).add([item])

    def shown(*where):
        return CliRunner().invoke(app, ["bank", "show", "--bank", str(folder), *where], env={"COLUMNS": "200"})

    everything = shown().output
    assert "[failure] look" in everything
    assert "Word problem, sums, scope: school" in everything
    for where in (["--where", "tags=word problem", "--where", "tags=sums"], ["--where", "scope=school"]):
        assert "draw" in shown(*where).output
        assert "look" not in shown(*where).output
    assert "draw" not in shown("--where", "difficulty=hard").output
    for wrong in ("level=3", "tags", "scope="):
        done = shown("--where", wrong)
        assert done.exit_code == 2
        assert "difficulty=NAME" in done.output
