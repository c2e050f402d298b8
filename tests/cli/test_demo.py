"""`reasoningbank demo` as a person sees it: a bank that grows, a comparison in pairs, and what is said of it."""

import re
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import ChromaStore, embeddings
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.cli.demo import LEARNING_PROBLEMS, NEW_PROBLEMS
from reasoningbank_langgraph.cli.demo_problems import draw_problems
from reasoningbank_langgraph.cli.demo_report import DemoReport, DemoResult
from reasoningbank_langgraph.local import model_choice
from reasoningbank_langgraph.math_solver import MATH_NAMESPACE
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.namespaces import EPISODES, beside
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel
from tests.loop_fakes import lessons

PASSES = r"First pass(.*)Second pass(.*)Summary(.*)"


def adder(counter):
    """A model that adds whatever it is asked, right about sums and wrong elsewhere; memory makes it say 1."""

    def reply(messages):
        if "You teach" in messages[0].text:
            return lessons("add them up", way=next(counter))
        if len(messages) > 2:  # something stands between the system message and the problem
            return "\\boxed{1}"
        return f"\\boxed{{{sum(int(number) for number in re.findall('[0-9]+', messages[-1].text))}}}"

    return ScriptedChatModel(reply)


@pytest.fixture
def demo(monkeypatch, tmp_path):
    chosen = model_choice.ResolvedModel(adder(iter(range(1000))), "a scripted model: for tests")
    monkeypatch.setattr(model_choice, "resolve_model", lambda *_, **__: chosen)
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)

    def run():
        done = CliRunner().invoke(app, ["demo", "--bank", str(tmp_path / "bank")], env={"COLUMNS": "200"})
        assert done.exit_code == 0, done.output
        return done.output

    return run


def test_each_problem_has_a_line_and_the_end_counts_what_stood_there(demo):
    out = demo()
    first, second, end = re.search(PASSES, out, re.DOTALL).groups()
    assert len(re.findall(r"^  \S.* (right|\(not \d+\))", first, re.MULTILINE)) == LEARNING_PROBLEMS
    assert len(re.findall(r"  without .*  with ", second)) == NEW_PROBLEMS
    right = len(re.findall(r" right  (?:learned|nothing)", first))
    assert f"solved    {right} of {LEARNING_PROBLEMS} in the first pass" in end
    alone, helped = len(re.findall(r"without \S+ right", second)), len(re.findall(r"with \S+ right", second))
    assert f"{alone} of {NEW_PROBLEMS} right without the bank, {helped} with it" in end
    assert alone > 0
    assert "add them up" in end
    assert re.search(r"time +\d+ s for the first pass, \d+ s for the second", end)


def test_the_next_run_starts_from_the_bank_with_other_problems(demo):
    first, second = demo(), demo()
    assert ": empty\n" in first
    assert re.search(rf"\d solved problems?, {LEARNING_PROBLEMS} lessons from earlier runs", second)
    asked = [set(re.findall(r"^  (\S.{57}) ", out, re.MULTILINE)) for out in (first, second)]
    assert len(asked[0] & asked[1]) < 10


def test_a_bank_of_an_older_version_which_kept_no_episodes_is_not_called_empty(demo, tmp_path):
    first = demo()
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        for row in store.search(beside(MATH_NAMESPACE, EPISODES), limit=99):
            store.delete(row.namespace, row.key)
    second = demo()
    assert f": 0 solved problems, {LEARNING_PROBLEMS} lessons from earlier runs" in second
    asked = [set(re.findall(r"^  (\S.{57}) ", out, re.MULTILINE)) for out in (first, second)]
    assert len(asked[0] & asked[1]) < 10


def test_the_same_seed_draws_the_same_problems_none_twice_and_every_kind():
    problems = draw_problems(20, "learn-0")
    assert draw_problems(20, "learn-0") == problems
    assert len({problem.text for problem in problems}) == len({problem.id for problem in problems}) == 20
    assert {problem.text for problem in draw_problems(20, "new-0")} != {problem.text for problem in problems}


def tried(right, *, marked=True):
    return DemoResult(Problem("p", "What is 1 + 1?", "2"), "2", marked, right, "add", "")


def concluded(pairs):
    report = DemoReport(SimpleNamespace(), "bank")
    report.second_pass(len(pairs), pairs)
    return report.conclusion()


@pytest.mark.parametrize(
    ("fixed", "broken", "said"),
    [
        (3, 1, "3 fixed, 1 broken, exact McNemar p 0.62. With 10 problems no difference is shown: +20.0 points ["),
        (0, 0, "p 1.00. With 10 problems no difference is shown: 0.0 points [−27.8, +27.8] (95 % interval)."),
        (6, 0, "p 0.03. It helped. This is one run of few problems"),
        (0, 6, "p 0.03. It did harm. This is one run of few problems"),
    ],
)
def test_what_is_said_of_the_bank_is_no_more_than_the_pairs_hold(fixed, broken, said):
    pairs = [(False, True)] * fixed + [(True, False)] * broken + [(True, True)] * (10 - fixed - broken)
    assert said in concluded([(tried(without), tried(having)) for without, having in pairs])


def test_what_was_fixed_by_the_form_of_the_answer_is_said():
    pairs = [(tried(False, marked=False), tried(True))] * 2 + [(tried(False), tried(True))] * 2
    assert r"4 fixed (2 had had no \boxed{} answer), 0 broken" in concluded(pairs)
