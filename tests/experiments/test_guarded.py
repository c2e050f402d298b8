"""The arms that need no memory of their own: a guard over the rows of two arms, and a rule to write every step."""

import json

import pytest

from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.guarded import guarded_rows
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.policies.guard import Guard, GuardStatus
from reasoningbank_langgraph.prompts import EVERY_STEP, MATH_SOLVER_SYSTEM
from reasoningbank_langgraph.records import task_key

from . import worlds
from .fake_rows import row

GUARDED = Arm("guarded")


def both_arms(count, *, baseline=True, memory=False, aided="memory"):
    """Problems, and the rows of both arms."""
    problems = [Problem(f"p{number}", f"problem {number}", "72") for number in range(count)]
    made = [row("baseline", one.id, baseline, memory="", tokens_in=1) for one in problems]
    return problems, [*made, *(row(aided, one.id, memory, tokens_in=2, memory_length=9) for one in problems)]


@pytest.mark.parametrize(
    ("arm", "aided"), [("guarded", "memory"), ("guarded+examples", "examples"), ("guarded+recurring", "recurring")]
)
def test_each_row_is_that_of_the_arm_the_guard_chooses(arm, aided):
    problems, rows = both_arms(40, aided=aided)
    made = list(guarded_rows(rows, problems, 0, Arm(arm)))
    guard, status = Guard(share=0.5, seed=0), GuardStatus()
    for problem, found in zip(problems, made, strict=True):
        shown = guard.trial(task_key(problem.text), status).withheld is None
        assert (found.arm, found.id) == (arm, problem.id)
        assert (bool(found.memory_length), found.tokens_in, found.right) == (shown, 2 if shown else 1, not shown)
        status = guard.after(status, shown=shown, right=not shown)
    assert {bool(found.memory_length) for found in made} == {True, False}


def test_a_memory_that_always_breaks_is_switched_off():
    problems, rows = both_arms(300)
    made = list(guarded_rows(rows, problems, 0, GUARDED))
    assert sum(found.right for found in made[-100:]) > 85
    assert sum(found.right for found in made[:10]) < 7


@pytest.mark.parametrize("arm", ["baseline", "memory"])
@pytest.mark.parametrize("gone", [True, False])
def test_a_row_that_failed_or_is_missing_ends_them(arm, gone):
    problems, rows = both_arms(10)
    changed = [one.model_copy(update={"error": "ModelError"}) if one.key == (arm, 0, "p4") else one for one in rows]
    kept = [one for one in changed if not gone or one.error is None]
    assert [found.id for found in guarded_rows(kept, problems, 0, GUARDED)] == ["p0", "p1", "p2", "p3"]


def test_where_nothing_is_retrieved_nothing_is_decided():
    problems, rows = both_arms(30)
    none = [one.model_copy(update={"memory": "", "memory_length": 0, "shown": ()}) for one in rows]
    assert {found.tokens_in for found in guarded_rows(none, problems, 0, GUARDED)} == {1}


def test_another_seed_is_guarded_anew():
    problems, rows = both_arms(30)
    other = [one.model_copy(update={"seed": 1}) for one in rows]
    choices = [[found.tokens_in for found in guarded_rows([*rows, *other], problems, seed, GUARDED)] for seed in (0, 1)]
    assert choices[0] != choices[1]


@pytest.mark.parametrize(("aided", "guarded"), [("memory", "guarded"), ("recurring", "guarded+recurring")])
def test_a_run_replays_the_guard_without_a_call_and_only_once(aided, guarded, tmp_path):
    chat = worlds.model()
    plain = worlds.config(tmp_path, arms=("baseline", aided))
    worlds.carry_out(plain, tmp_path / "plain", chat)
    asked = len(chat.calls)
    settings = worlds.config(tmp_path, arms=("baseline", aided, guarded))
    run = worlds.carry_out(settings, tmp_path / "out", chat)
    assert len(chat.calls) == 2 * asked
    arms = worlds.by_arm(run)
    assert [found.id for found in arms[guarded]] == [problem.id for problem in run.problems.test]
    assert any(found.memory_length for found in arms[guarded])
    lines = run.results.path.read_text()
    worlds.carry_out(settings, tmp_path / "out", chat)
    assert run.results.path.read_text() == lines


def test_a_run_goes_on_guarding_where_a_row_had_failed(tmp_path):
    settings = worlds.config(tmp_path, arms=("baseline", "memory", "guarded"))
    whole = worlds.carry_out(settings, tmp_path / "whole")
    third = whole.problems.test[2]

    def failing(messages):
        return TimeoutError("late") if messages[-1].text == third.text else worlds.reply(messages)

    run = worlds.carry_out(settings, tmp_path / "out", worlds.model(failing))
    assert len(worlds.by_arm(run)["guarded"]) == 2
    again = worlds.carry_out(settings, tmp_path / "out")
    told = [[(one.id, one.memory, one.right) for one in worlds.by_arm(one)["guarded"]] for one in (whole, again)]
    assert told[0] == told[1]
    assert len(told[0]) == 6


@pytest.mark.parametrize("protocol", ["phase1", "stream"])
def test_the_long_arm_asks_for_every_step_and_shows_nothing(protocol, tmp_path):
    chat = worlds.model()
    run = worlds.carry_out(worlds.config(tmp_path, protocol, arms=("baseline", "long")), tmp_path / "out", chat)
    solving = [messages for messages in chat.calls if worlds.is_solving(messages)]
    long = [messages for messages in solving if EVERY_STEP in messages[0].text]
    assert len(long) == 6
    assert {messages[0].text for messages in long} == {f"{MATH_SOLVER_SYSTEM} {EVERY_STEP}"}
    assert {len(messages) for messages in long} == {2}
    assert {messages[0].text for messages in solving if messages not in long} == {MATH_SOLVER_SYSTEM}
    rows = worlds.by_arm(run)["long"]
    assert {(one.memory, one.shown, one.attempts) for one in rows} == {("", (), 1)}
    sent = {entry["hash"]: entry for entry in map(json.loads, run.prompts.path.read_text().splitlines())}
    assert all(EVERY_STEP in sent[one.prompt_hash]["messages"][0][1] for one in rows)
