"""`reasoningbank harvest`: training data from the shell, and what forgotten attempts fed."""

import json

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.train.attempts import TASKS, attempt, bank_of, learned, rows_in, run_of


@pytest.fixture
def bank(monkeypatch, tmp_path):
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    opinion = attempt("c", TASKS[2], "500 - 100 = 400, so \\boxed{400}.", judge="llm")
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        bank_of(attempt("a"), attempt("b", TASKS[1], "63 / 9 = 7, so \\boxed{7}."), opinion, store=store)
    return tmp_path / "bank"


def call(*words):
    return CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "200"})


def harvest(bank, out, *words):
    return call("harvest", out, "--namespace", "math/ann", "--bank", bank, *words)


def test_a_harvest_says_what_it_made_and_what_it_left_out(bank, tmp_path):
    done = harvest(bank, tmp_path / "out", "--validation", 0.5)
    assert done.exit_code == 0, done.output
    assert "train.jsonl: 1 row of 1 task\nvalidation.jsonl: 1 row of 1 task\n" in done.output
    assert "left out of 3 solutions: 1 not verified\n" in done.output
    believed = harvest(bank, tmp_path / "more", "--validation", 0, "--judge", "llm")
    assert "train.jsonl: 3 rows of 3 tasks\nleft out of 3 solutions: none\n" in believed.output


def test_evaluation_files_and_runs_are_named_by_options(bank, tmp_path):
    (tmp_path / "test.jsonl").write_text(json.dumps({"problem": TASKS[1], "answer": "7"}))
    run = run_of(tmp_path / "run", learned(text="It is 24 + 48 = 72: \\boxed{72}"))
    words = ["--not-in", tmp_path / "test.jsonl", "--run", run, "--samples", 1, "--validation", 0]
    done = harvest(bank, tmp_path / "out", *words)
    assert "train.jsonl: 1 row of 1 task" in done.output
    assert "left out of 4 solutions: 1 not verified, 1 same task, 1 longer than those kept" in done.output
    alone = call("harvest", tmp_path / "alone", "--run", run, "--arm", "learning", "--validation", 0)
    assert "train.jsonl: 1 row of 1 task" in alone.output


def test_what_cannot_be_made_is_said_in_one_line(bank, tmp_path):
    assert "there is nothing to harvest" in call("harvest", tmp_path / "out").output
    harvest(bank, tmp_path / "out")
    again = harvest(bank, tmp_path / "out")
    assert (again.exit_code, again.output.count("\n")) == (1, 1)
    assert "holds a harvest already" in again.output
    mistyped = call("harvest", tmp_path / "new", "--namespace", "math/an", "--bank", bank)
    assert (mistyped.exit_code, (tmp_path / "new").exists()) == (2, False)


def test_forgetting_names_the_rows_that_a_harvest_has_of_it(bank, tmp_path):
    out = tmp_path / "out"
    harvest(bank, out, "--validation", 0)
    check = harvest(bank, out, "--check")
    assert (check.exit_code, check.output) == (0, f"{out}: 0 rows to learn from no longer\n")
    place = next(n for n, one in enumerate(rows_in(out), 1) if one["prompt"][-1]["content"] == TASKS[0])
    told = f"{out}: 1 row to learn from no longer\n  train.jsonl, line {place}: episode a: forgotten\n"
    words = ["bank", "forget", "--namespace", "math/ann", "--bank", bank, "--harvest", out]
    assert call(*words, "--item", "a").output.endswith(told)
    check = harvest(bank, out, "--check")
    assert (check.exit_code, check.output) == (1, told)


def test_a_mistyped_harvest_stops_before_anything_is_forgotten(bank, tmp_path):
    words = ["bank", "forget", "--namespace", "math/ann", "--bank", bank, "--harvest", tmp_path / "nothing"]
    done = call(*words, "--item", "a")
    assert (done.exit_code, "holds no harvest" in done.output) == (1, True)
    assert harvest(bank, tmp_path / "out", "--validation", 0).output.startswith("train.jsonl: 2 rows")


def test_a_check_needs_the_namespace(bank, tmp_path):
    assert call("harvest", tmp_path, "--check", "--bank", bank).exit_code == 2
