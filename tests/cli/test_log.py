"""`reasoningbank bank log` prints every change, for people and as JSON, and fails where a row is missing."""

import json

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.namespaces import LEDGER, beside
from reasoningbank_langgraph.policies import Change
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_forgetting import lesson

BANK = ("math", "ann")


def bank_command(*words, code=0):
    done = CliRunner().invoke(app, ["bank", *map(str, words)], env={"COLUMNS": "200"})
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def folder(tmp_path):
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        MemoryBank(store, BANK).add([lesson(f"{number}", experience="e") for number in range(5)])
        MemoryBank(store, ("math", "bob")).add([lesson("one")])
    return tmp_path / "bank"


def test_changes_are_printed_with_who_and_why_also_of_a_bank_that_is_empty_by_now(folder):
    bank_command("quarantine", "1", "--namespace", "math/ann", "--bank", folder)
    bank_command("forget", "--all", "--yes", "--namespace", "math/ann", "--bank", folder)
    text = bank_command("log", "--namespace", "math/ann", "--bank", folder).stdout
    assert "math/ann: 4 rows, 0 forks: complete" in text
    assert "added by program: learned from success" in text
    assert "new -> status active: 0, 1, 2, 3, 4" in text
    assert "quarantined by command line" in text
    assert "status quarantined -> gone: 1" in text
    assert "bob" not in text
    assert "title 1" not in text


def test_as_json_a_row_is_whole_and_says_its_bank(folder):
    done = bank_command("log", "--json", "--bank", folder)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(row.pop("namespace") for row in rows) == [["math", "ann"], ["math", "bob"]]
    assert sorted(len(Change(**row).ids) for row in rows) == [1, 5]
    assert "complete" in done.stderr


def test_a_missing_row_is_an_error(folder):
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        (row,) = store.search(beside(BANK, LEDGER))
        store.delete(row.namespace, row.key)
    assert "1 missing" in bank_command("log", "--bank", folder, code=1).stdout


def test_a_mistyped_namespace_is_an_error(folder):
    assert "bank show" in bank_command("log", "--namespace", "math/anne", "--bank", folder, code=2).stderr
