"""Commands that need no embedder work on the bank of any; those that need one name the bank's own."""

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, MemoryBank, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.namespaces import bank_of
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_forgetting import family, lesson

OWN = 16
TASK = "task shared"


@pytest.fixture(params=["packaged embedder", "no embedder installed"])
def folder(request, monkeypatch, tmp_path):
    def absent():
        raise AssertionError("the packaged embedder was asked for")

    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings if "packaged" in request.param else absent)
    with own_store(tmp_path / "bank") as store:
        family(store)
        for namespace in ("m", "other"):
            pair = [lesson(name, task=TASK, experience="pair") for name in ("first", "second")]
            MemoryBank(store, namespace).add(pair)
    return tmp_path / "bank"


def own_store(folder):
    return ChromaStore.from_path(folder, embeddings=HashEmbeddings(OWN))


def call(*words):
    return CliRunner().invoke(app, ["bank", *map(str, words)], env={"COLUMNS": "200"})


def done(*words):
    result = call(*words)
    assert result.exit_code == 0, result.output
    return result.output


def found(store, namespace):
    bank = MemoryBank(store, namespace)
    return {memory.item.id: memory.score for memory in bank.search("shared task", k=9, max_items=9, task_id="x")}


def test_it_is_read_as_it_is(folder, tmp_path):
    assert "m: 7 lessons of 6 attempts" in done("show", "--bank", folder)
    assert "ok=True" in done("verify", "--bank", folder)
    assert "7 lessons written" in done("export", tmp_path / "m.jsonl", "--namespace", "m", "--bank", folder)
    with own_store(folder) as store:
        assert store.verify().ok
        assert len(MemoryBank(store, "m").import_jsonl(tmp_path / "m.jsonl")) == 2


@pytest.mark.parametrize("command", [["quarantine", "first"], ["forget", "--item", "first"]])
def test_what_stays_is_found_with_the_vectors_it_had(folder, command):
    with own_store(folder) as store:
        before = {namespace: found(store, namespace) for namespace in ("m", "other")}
    done(*command, "--namespace", "m", "--bank", folder)
    done("vacuum", "--bank", folder)
    with own_store(folder) as store:
        del before["m"]["first"]
        after = {namespace: found(store, namespace) for namespace in ("m", "other")}
        assert {name: pytest.approx(scores) for name, scores in before.items()} == after
        assert before["m"]["second"] == pytest.approx(1.0)
        assert store.verify().ok


def test_a_quarantine_is_undone_with_the_vectors_there_were(folder):
    with own_store(folder) as store:
        before = found(store, "m")
    for undo in ([], ["--undo"]):
        done("quarantine", "first", "second", "gran", *undo, "--namespace", "m", "--bank", folder)
    with own_store(folder) as store:
        assert found(store, "m") == pytest.approx(before)
        assert store.verify().ok


def test_a_whole_namespace_goes(folder):
    assert "7 lessons removed from m" in done("forget", "--all", "--yes", "--namespace", "m", "--bank", folder)
    with own_store(folder) as store:
        assert found(store, "m") == {}
        assert set(found(store, "other")) == {"first", "second"}


@pytest.mark.parametrize("folder", ["packaged embedder"], indirect=True)
@pytest.mark.parametrize(
    ("command", "instead"),
    [
        (["import", "FILE", "--namespace", "m/n"], "MemoryBank(store, ('m', 'n')).import_jsonl("),
        (["rebuild"], "store.rebuild_index()"),
    ],
)
def test_what_needs_the_embedder_names_it_and_what_to_do_and_changes_nothing(folder, tmp_path, command, instead):
    done("export", tmp_path / "m.jsonl", "--namespace", "m", "--bank", folder)
    words = [str(tmp_path / "m.jsonl") if word == "FILE" else word for word in command]
    refused = call(*words, "--bank", folder)
    assert refused.exit_code == 1
    assert f"was made with HashEmbeddings(hash-embeddings) ({OWN} dimensions)" in refused.output
    assert instead in refused.output
    assert "reindex" not in refused.output
    with own_store(folder) as store:
        assert set(map(bank_of, store.list_namespaces())) == {("m",), ("other",)}
