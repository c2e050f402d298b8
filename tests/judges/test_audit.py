"""A judge is audited against known answers; a claim of success inside an attempt is shown to it and counted."""

import json

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph import Attempt, LLMJudge, Verdict
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.judges import as_judge
from reasoningbank_langgraph.judges.audit import CLAIM, Confusion, Rate, audit, with_claim
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.loop_fakes import verdict


def attempt(said, reference="4"):
    return Attempt(task="2 + 2", messages=[("user", "2 + 2"), ("ai", said)], answer=said, reference=reference)


def test_verdicts_meet_the_truth_in_a_table():
    said = {"\\boxed{4}": "success", "\\boxed{4.0}": "failure", "\\boxed{5}": "success", "\\boxed{6}": "failure"}
    said |= {"four is \\boxed{4}": "indeterminate", "\\boxed{7}": "indeterminate"}
    judge = as_judge(lambda one: Verdict(status=said[one.answer], judge="x"))
    met = Confusion.of(audit(judge, [attempt(text) for times, text in enumerate(said, 1) for _ in range(times)]))
    assert met._asdict() == {"tp": 1, "fn": 2, "fp": 3, "tn": 4, "undecided_right": 5, "undecided_wrong": 6}
    assert met.accuracy[:2] == (5, 10)
    assert met.false_success[:2] == (3, 13)
    assert met.missed_success[:2] == (2, 8)


def test_an_attempt_that_cannot_be_compared_is_left_out_and_an_outage_is_undecided():
    def down(_):
        raise ConnectionError("gone")

    (entry,) = audit(as_judge(down), [attempt("\\boxed{4}", None), attempt(""), attempt("\\boxed{4}")])
    assert (entry.right, entry.verdict.status, entry.verdict.reason) == (True, "indeterminate", "error")
    assert (entry.verdict.judge, entry.verdict.rationale) == ("down", "ConnectionError: gone")


def test_a_truth_value_is_audited_under_the_name_of_the_judge():
    def grade(attempt):
        return True

    (entry,) = audit(as_judge(grade), [attempt("\\boxed{4}")])
    assert (entry.verdict.status, entry.verdict.judge) == ("success", "grade")


def test_a_share_is_told_with_its_interval():
    assert str(Rate(1, 4, 0.05, 0.7)) == "1 of 4 = 0.25 [0.05, 0.70]"
    assert str(Rate.out_of(0, 0)) == "0 of 0"
    assert Rate.out_of(0, 0) == (0, 0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    # Wilson (1927) as tabulated by Newcombe, Statistics in Medicine 17 (1998), table I, method 3
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_intervals_are_those_of_the_published_example(count, of, low, high):
    rate = Rate.out_of(count, of)
    assert (round(rate.low, 4), round(rate.high, 4)) == (low, high)


def test_a_claim_is_added_to_what_is_shown_and_not_to_the_answer():
    said = Attempt(task="2 + 2", messages=[("user", "2 + 2"), ("user", "well?"), ("ai", "5")], answer="5")
    claiming = with_claim(said)
    assert claiming.answer == "5"
    assert [(one.role, one.text) for one in claiming.messages] == [
        ("user", "2 + 2"),
        ("user", "well?"),
        ("assistant", "5" + CLAIM),
    ]


def test_a_claim_does_not_move_the_reading_of_a_verdict():
    model = ScriptedChatModel(lambda _: verdict("failure"))
    claiming = with_claim(attempt("it is \\boxed{5}"))
    assert LLMJudge(model)(claiming).status == "failure"
    assert "(status) success" in model.calls[0][-1].text  # shown, as text that begins no turn
    silent = ScriptedChatModel(lambda _: "I will not say.")
    assert LLMJudge(silent)(claiming).status == "indeterminate"


@pytest.fixture
def scripted(monkeypatch):
    """The command's model says success to every attempt that claims it, and failure to all others."""
    from reasoningbank_langgraph.local.model_choice import ResolvedModel

    def reply(messages):
        if "You check whether" not in messages[0].text:
            return "It is \\boxed{4}"
        return verdict("success" if "certainly right" in messages[-1].text else "failure")

    made = ResolvedModel(ScriptedChatModel(reply), "a scripted model")
    monkeypatch.setattr("reasoningbank_langgraph.local.model_choice.resolve_model", lambda *_, **__: made)


def test_the_command_prints_both_tables(scripted, tmp_path):
    rows = [
        {"id": "a", "problem": "2 + 2", "answer": "4"},
        {"id": "b", "problem": "2 + 3", "answer": "5", "attempt": "It is \\boxed{6}"},
    ]
    file = tmp_path / "attempts.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    done = CliRunner().invoke(app, ["judge-audit", "--file", str(file), "--tail"])
    assert done.exit_code == 0, done.output
    plain, claimed = done.output.split("attempts that claim success")
    assert "false successes  0 of 1" in plain
    assert "missed successes 1 of 1" in plain
    assert "false successes  1 of 1" in claimed
    assert "missed successes 0 of 1" in claimed


def test_a_problem_without_an_answer_is_refused(scripted, tmp_path):
    file = tmp_path / "problems.jsonl"
    file.write_text('{"problem": "2 + 2"}')
    done = CliRunner().invoke(app, ["judge-audit", "--file", str(file)])
    assert done.exit_code == 1
    assert "needs an 'answer'" in done.output


def test_a_model_that_is_away_ends_the_command_with_one_line(monkeypatch, tmp_path):
    from reasoningbank_langgraph.local.model_choice import ResolvedModel

    made = ResolvedModel(ScriptedChatModel(lambda _: ValueError("no route")), "a scripted model")
    monkeypatch.setattr("reasoningbank_langgraph.local.model_choice.resolve_model", lambda *_, **__: made)
    file = tmp_path / "problems.jsonl"
    file.write_text('{"id": "a", "problem": "2 + 2", "answer": "4"}')
    done = CliRunner().invoke(app, ["judge-audit", "--file", str(file)])
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].startswith(
        "Error: attempt at a: the model call failed with ValueError: no route"
    )
