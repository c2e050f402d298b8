"""Encrypted banks from the command line: the key comes from the environment, and `bank rekey` changes it."""

import itertools
import sqlite3
from base64 import b64encode
from contextlib import closing

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank, MemoryItem, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.cli.upkeep.encryption import checkpoint_serializer
from reasoningbank_langgraph.local import model_choice
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.cli.test_solve import scripted
from tests.store.encryption.encrypted_bank import traces

FIRST, SECOND = (b64encode(bytes([number]) * 32).decode() for number in (1, 2))
PROBLEM = "Ann has 2 apples and buys 3 in Zagreb. How many apples?"


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings(), encryption_key=b"\1" * 32) as store:
        item = MemoryItem(title="titlemarker", description="always", content="look", outcome="failure", task="t")
        MemoryBank(store, ("math", "ann")).add([item])
    return tmp_path / "bank"


def bank(command, folder, key=None, new_key=None, *arguments):
    keys = {"REASONINGBANK_KEY": key, "REASONINGBANK_NEW_KEY": new_key}
    return CliRunner().invoke(app, ["bank", command, *arguments, "--bank", str(folder)], env={"COLUMNS": "200", **keys})


def test_a_command_reads_a_bank_with_the_key_of_the_environment(folder):
    shown = bank("show", folder, FIRST)
    assert shown.exit_code == 0, shown.output
    assert "titlemarker" in shown.output
    for command in ("verify", "vacuum", "rebuild"):
        done = bank(command, folder, f" {FIRST}\n")
        assert "ok=True" in done.output, done.output


@pytest.mark.parametrize(
    ("key", "problem"), [(None, "REASONINGBANK_KEY"), ("", "REASONINGBANK_KEY"), (SECOND, "another key")]
)
@pytest.mark.parametrize("command", ["show", "verify", "rebuild"])
def test_a_command_without_the_key_says_so_in_a_line_and_ends_with_1(folder, command, key, problem):
    done = bank(command, folder, key)
    assert done.exit_code == 1
    assert problem in done.output
    assert done.output.count("\n") == 1


@pytest.mark.parametrize("key", ["no base64 at all!", "secretkey", b64encode(b"secretkey").decode()])
def test_a_malformed_key_is_refused_and_not_printed(folder, key):
    for done in (bank("show", folder, key), bank("rekey", folder, FIRST, key)):
        assert done.exit_code == 1
        assert key not in done.output
        assert "secretkey" not in done.output
        assert "base64" in done.output or "16, 24 or 32" in done.output


def test_the_key_of_a_bank_is_changed(folder):
    done = bank("rekey", folder, FIRST, SECOND)
    assert done.exit_code == 0, done.output
    assert "ok=True" in done.output
    assert FIRST not in done.output
    assert SECOND not in done.output
    assert bank("show", folder, FIRST).exit_code == 1
    assert "titlemarker" in bank("show", folder, SECOND).output
    again = bank("rekey", folder, FIRST, SECOND)
    assert again.exit_code == 0, again.output


def test_rekey_without_a_new_key_changes_nothing(folder):
    done = bank("rekey", folder, FIRST)
    assert done.exit_code == 1
    assert "REASONINGBANK_NEW_KEY" in done.output
    assert "titlemarker" in bank("show", folder, FIRST).output


@pytest.fixture
def solve(folder, monkeypatch):
    """Solves a problem with a bank; its threads are kept in the folder too."""
    chosen = model_choice.ResolvedModel(scripted(itertools.count()), "a scripted model: for tests")
    monkeypatch.setattr(model_choice, "resolve_model", lambda *_, **__: chosen)

    def run(place, key):
        command = ["solve", PROBLEM, "--thread", "t", "--bank", str(place)]
        done = CliRunner().invoke(app, command, env={"COLUMNS": "200", "REASONINGBANK_KEY": key})
        assert done.exit_code == 0, done.output
        return done.output

    return run


def reads_threads(file, key, monkeypatch):
    """Say whether a key reads the threads of a file, and finds the problem there."""
    monkeypatch.setenv("REASONINGBANK_KEY", key)
    with closing(sqlite3.connect(file)) as connection:
        states = list(SqliteSaver(connection, serde=checkpoint_serializer()).list(None))
    return PROBLEM in str([found.checkpoint for found in states])


def test_the_threads_of_solve_are_encrypted_with_the_bank_and_go_with_it_to_the_new_key(folder, solve, monkeypatch):
    solve(folder, FIRST)
    assert traces(folder, ["Zagreb"]) == []
    assert bank("rekey", folder, FIRST, SECOND).exit_code == 0
    assert reads_threads(folder / "checkpoints.sqlite", SECOND, monkeypatch)
    assert "already done" in solve(folder, SECOND)
    assert bank("rekey", folder, FIRST, SECOND).exit_code == 0
    assert traces(folder, ["Zagreb"]) == []


def test_the_threads_of_a_bank_that_was_not_encrypted_are_encrypted_with_it(solve, tmp_path, monkeypatch):
    place = tmp_path / "plain"
    solve(place, None)
    assert traces(place, ["Zagreb"]) == ["Zagreb"]
    assert bank("rekey", place, None, FIRST).exit_code == 0
    assert traces(place, ["Zagreb"]) == []
    assert reads_threads(place / "checkpoints.sqlite", FIRST, monkeypatch)


def test_threads_of_a_third_key_are_refused_and_left(folder, solve, monkeypatch):
    solve(folder, FIRST)
    kept = (folder / "checkpoints.sqlite").read_bytes()
    assert bank("rekey", folder, FIRST, SECOND).exit_code == 0
    (folder / "checkpoints.sqlite").write_bytes(kept)
    third = b64encode(b"\3" * 32).decode()
    done = bank("rekey", folder, SECOND, third)
    assert done.exit_code == 1
    assert "another key" in done.output
    assert reads_threads(folder / "checkpoints.sqlite", FIRST, monkeypatch)
