"""`reasoningbank solve` as a person sees it: what was recalled, answered, judged and learned, and how to go on."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.errors import ProblemFileError
from reasoningbank_langgraph.local import model_choice
from reasoningbank_langgraph.math_solver.problems import read_problems
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel
from tests.conftest import REPOSITORY
from tests.loop_fakes import lessons, verdict

PROBLEMS = [
    {"id": "p1", "problem": "Ann has 2 apples and buys 3. How many apples?", "answer": "5"},
    {"id": "p2", "problem": "Bob has 4 apples and buys 5. How many apples?", "answer": "9"},
    {"id": "p3", "problem": "Eve has 6 apples and buys 7. How many apples?", "answer": "12"},
]


def scripted(ways):
    """A model that solves by adding, and names a way to do it as its lesson."""

    def reply(messages):
        system, last = messages[0].text, messages[-1].text
        if "You check whether" in system:
            return verdict()
        if "You teach" in system:
            return lessons("add them up", way=next(ways))
        numbers = [int(word) for word in last.replace(".", " ").split() if word.isdigit()]
        return f"I add. \\boxed{{{sum(numbers)}}}"

    return ScriptedChatModel(reply)


@pytest.fixture
def solve(monkeypatch, tmp_path):
    ways = iter(range(100))
    model = scripted(ways)
    chosen = model_choice.ResolvedModel(model, "a scripted model: for tests")
    monkeypatch.setattr(model_choice, "resolve_model", lambda *_, **__: chosen)
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    problems = tmp_path / "problems.jsonl"
    problems.write_text("".join(json.dumps(row) + "\n" for row in PROBLEMS))

    def run(*arguments):
        given = [str(argument) for argument in arguments] or ["--file", str(problems)]
        return CliRunner().invoke(app, ["solve", *given, "--bank", str(tmp_path / "bank")], env={"COLUMNS": "200"})

    run.problems, run.model = problems, model
    return run


def test_each_problem_shows_what_was_recalled_answered_judged_and_learned(solve):
    done = solve()
    assert done.exit_code == 0, done.output
    first, second, third = (
        done.output.split("[1/3]")[1].split("[2/3]")[0],
        *done.output.split("[2/3]")[1].split("[3/3]"),
    )
    assert "recalled  nothing" in first
    assert "answer    5 (expected 5)" in first
    assert "verdict   success (reference): the final answer '5' is right" in first
    assert "learned   add them up: Way 0 to add them up" in first
    assert "recalled  add them up (from a success; similarity" in second
    assert "failure (reference): the final answer '13' is wrong" in third
    assert "2 of 3 with a reference" in done.output
    assert "3 lessons of 3 attempts (2 from success, 1 from failure)" in done.output


def test_the_next_run_starts_from_the_bank_and_says_so_and_no_problem_recalls_itself(solve):
    assert ": empty\n" in solve().output
    again = solve()
    assert "3 lessons of 3 attempts (2 from success, 1 from failure) from earlier runs" in again.output
    assert "for 3 problems; of the problem itself: 0" in again.output


def test_a_weak_model_is_shown_a_solution_of_its_own_and_that_is_said(solve):
    solve.model.metadata = {"parameters": 500_000_000}
    done = solve().output
    second = done.split("[2/3]")[1].split("[3/3]")[0]
    assert "2 solved problems of 3 attempts" in done.split("bank now")[1]
    assert "recalled  Ann has 2 apples and buys 3. How many apples? (from a success; similarity" in second


def test_one_problem_without_a_reference_is_judged_by_the_model(solve):
    done = solve("What is 2 + 3 ?")
    assert "success (llm): checked" in done.output
    assert "no reference given" in done.output
    assert "1 success (1 by the model: it may be wrong, a file with answers is better)" in done.output


def test_without_learning_the_bank_stays_as_it_is(solve):
    solve()
    done = solve("--file", solve.problems, "--no-learn")
    assert "3 lessons of 3 attempts" in done.output.split("bank now")[1]


def test_a_run_of_the_same_name_does_nothing_twice(solve):
    solve("--file", solve.problems, "--thread", "mine", "--limit", 2)
    calls = len(solve.model.calls)
    done = solve("--file", solve.problems, "--thread", "mine")
    assert "[1/3] p1 (already done)" in done.output
    assert "[3/3] p3  " in done.output
    assert len(solve.model.calls) == calls + 2


def test_a_problem_that_fails_is_shown_and_the_others_go_on(solve):
    answers = iter([RuntimeError("server gone")])
    inner = solve.model.script
    solve.model.script = lambda messages: next(answers, None) or inner(messages)
    done = solve("--file", solve.problems, "--thread", "mine")
    assert done.exit_code == 1
    assert "error     RuntimeError: server gone" in done.output
    assert "2 lessons of 2 attempts" in done.output
    assert "[1/3] p1 (resumed)" in solve("--file", solve.problems, "--thread", "mine").output


def test_ctrl_c_leaves_a_whole_bank_and_says_how_to_go_on(solve):
    inner = solve.model.script

    def interrupting(messages):
        if "Bob" in messages[-1].text:
            raise KeyboardInterrupt
        return inner(messages)

    solve.model.script = interrupting
    stopped = solve("--file", solve.problems, "--thread", "mine")
    assert stopped.exit_code == 130
    assert "the bank is intact, resume with" in stopped.output
    assert "--thread mine" in stopped.output
    solve.model.script = inner
    assert "3 lessons of 3 attempts" in solve("--file", solve.problems, "--thread", "mine").output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no problem"),
        ("{", "line 1: is not JSON"),
        ('{"problem": "2 + 2"}\n[]\n', "line 2: needs a text in 'problem'"),
        ('{"problem": "  "}', "line 1: needs a text"),
        ('{"id": 1, "problem": "a"}\n{"id": 1, "problem": "b"}', "uses an id twice"),
        ("[" * 100_000, "line 1: is not JSON"),
    ],
)
def test_a_file_that_holds_no_problems_is_refused_with_its_line(solve, tmp_path, content, message):
    file = tmp_path / "bad.jsonl"
    file.write_text(content)
    done = solve("--file", file)
    assert done.exit_code == 1
    assert message in done.output
    with pytest.raises(ProblemFileError, match=r"a line looks like"):
        read_problems(file)


def test_a_missing_file_is_named(solve, tmp_path):
    done = solve("--file", tmp_path / "none.jsonl")
    assert done.exit_code == 1
    assert "none.jsonl: No such file" in done.output


def test_a_bank_path_that_is_a_file_is_refused(solve, tmp_path):
    (tmp_path / "bank").write_text("mine")
    done = solve()
    assert done.exit_code == 1
    assert "cannot hold a bank" in done.output
    assert (tmp_path / "bank").read_text() == "mine"


@pytest.mark.parametrize("arguments", [[], ["2 + 2", "--file", "x.jsonl"]])
def test_a_problem_or_a_file_is_needed_and_not_both(arguments):
    assert CliRunner().invoke(app, ["solve", *arguments]).exit_code == 2


def test_problem_text_cannot_control_the_terminal(solve, tmp_path):
    file = tmp_path / "evil.jsonl"
    file.write_text(json.dumps({"problem": "\x1b[2J\x1b]8;;http://x.invalid\x07 add 1 and 2", "answer": "3"}))
    assert "\x1b" not in solve("--file", file).output


def test_ids_default_to_line_numbers_and_answers_may_be_numbers(tmp_path):
    file = tmp_path / "p.jsonl"
    file.write_bytes('{"problem": "a\u2028b", "answer": 4}\r\n\n{"problem": "c"}\n'.encode())
    first, second = read_problems(file)
    assert (first.id, first.text, first.answer) == ("line-1-c8687a08", "a\u2028b", "4")
    assert (second.id[:7], second.answer) == ("line-3-", None)


@pytest.mark.real_model
def test_a_run_on_the_packaged_model_killed_in_the_middle_goes_on_where_it_stopped(tmp_path):
    file = tmp_path / "p.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in PROBLEMS[:2]))
    command = [sys.executable, "-m", "reasoningbank_langgraph.cli", "solve", "--file", str(file), "--thread", "mine"]
    command += ["--bank", str(tmp_path / "bank")]
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY, env=quiet) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if "[1/2]" in line:
                time.sleep(1)
                run.send_signal(signal.SIGKILL)
                break
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY, env=quiet)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[1/2] p1 (already done)" in done.stdout
    assert "of the problem itself: 0" in done.stdout


def test_a_run_that_goes_on_with_another_file_does_not_take_its_results_for_the_old_ones(solve, tmp_path):
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps({"id": "p1", "problem": "What is 1 + 1 ?", "answer": "2"}))
    assert solve("--file", file, "--thread", "mine").exit_code == 0
    file.write_text(json.dumps({"id": "p1", "problem": "What is 3 + 4 ?", "answer": "7"}))
    done = solve("--file", file, "--thread", "mine")
    assert done.exit_code != 0
    assert "already has problem p1 with another text: choose a new --thread" in done.output
    assert "already done" not in done.output


def test_lessons_are_skipped_and_asked_for_by_what_the_options_say(solve):
    solve.model.script = scripted(itertools.repeat(0)).script
    done = solve("--file", solve.problems, "--policy", "skip", "--where", "tags=sums")
    assert done.exit_code == 0, done.output
    assert "recalled  nothing" in done.output.split("[3/3]")[1]
    assert "2 lessons of 3 attempts (1 from success, 1 from failure)" in done.output
