"""Rows of experiments are harvested: those of the train problems, with their texts, and of one tenant."""

import json

import pytest

from reasoningbank_langgraph.errors import HarvestError
from reasoningbank_langgraph.experiments.results import CONFIG
from reasoningbank_langgraph.experiments.tries import Tries, Try
from reasoningbank_langgraph.train.harvest import harvest, read_card
from reasoningbank_langgraph.train.harvest.solutions import of_run
from tests.train.attempts import NAMESPACE, TASKS, attempt, bank_of, learned, rows_in, run_of, said


def tried(number, right, text):
    given = {"id": "p0", "seed": 0, "number": number, "request": f"request {number}", "reply_length": len(text)}
    return Try(**given, right=right, reply=text, answer="72" if right else "96")


def test_by_default_only_rows_that_learned_from_train_problems_are_taken(tmp_path):
    test_row = learned("p9").model_copy(update={"arm": "baseline", "problem": TASKS[1]})
    run = run_of(tmp_path / "run", learned(), learned("p1", right=False), test_row)
    made = harvest(tmp_path / "out", runs=[run], validation=0)
    assert [one["prompt"][-1]["content"] for one in rows_in(tmp_path / "out")] == [TASKS[0]]
    (source,) = made.rows[0].sources
    assert (source.kind, source.run, source.id, source.judge) == ("row", "run/learning/0", "p0", "reference")
    assert (made.namespace, made.runs) == ((), ("run",))
    named = harvest(tmp_path / "named", runs=[run], arms=["baseline"], validation=0)
    assert [row.sources[0].run for row in named.rows] == ["run/baseline/0"]


def test_tries_of_an_arm_that_makes_several_are_samples_and_pairs(tmp_path):
    row = learned().model_copy(update={"arm": "vote-3", "attempts": 3})
    run = run_of(tmp_path / "run", row)
    tries = Tries(run)
    for one in (
        tried(0, True, row.reply),
        tried(1, True, "48 and half of 48, 24: 72, so \\boxed{72}."),
        tried(2, False, "48 + 48 = 96, so \\boxed{96}."),
    ):
        tries.take(one.key, lambda one=one: one)
    made = harvest(tmp_path / "out", runs=[run], arms=["vote-3"], validation=0)
    assert said(rows_in(tmp_path / "out")) == sorted([row.reply, "48 and half of 48, 24: 72, so \\boxed{72}."])
    assert dict(made.left_out) == {"same text": 1}
    (pair,) = rows_in(tmp_path / "out", "preferences.jsonl")
    assert said([pair], "rejected") == ["48 + 48 = 96, so \\boxed{96}."]


def test_tries_of_arms_that_are_not_named_and_rows_that_failed_are_not_looked_at(tmp_path):
    failed = learned("p1", right=False, error="Timeout: gone")
    run = run_of(tmp_path / "run", learned(), failed)
    one = tried(0, True, "48 and half of 48, 24: 72, so \\boxed{72}.")
    Tries(run).take(one.key, lambda: one)
    assert harvest(tmp_path / "out", runs=[run], validation=0).solutions == 1


@pytest.mark.parametrize(("arms", "numbers"), [(["vote-2"], [0]), (["vote-3+memory"], [0, 1, 2, 3])])
def test_of_the_tries_that_arms_share_those_of_the_named_ones_are_taken(arms, numbers, tmp_path):
    plain = learned(attempts=2).model_copy(update={"arm": "vote-2"})
    aided = learned(attempts=4, memory_length=9).model_copy(update={"arm": "vote-3+memory"})
    run = run_of(tmp_path / "run", plain, aided)
    for number in range(4):
        one = tried(number, True, f"48 and 24, by my way {number}, are \\boxed{{72}}.")
        one = one.model_copy(update={"memory": "digest" if number % 2 else ""})
        Tries(run).take(one.key, lambda one=one: one)
    found = of_run("run", run, arms)
    assert [int(one.source.run.rpartition("/")[2]) for one in found if one.source.kind == "try"] == numbers


def test_runs_of_one_name_are_told_apart_and_a_run_that_is_named_twice_is_one(tmp_path, monkeypatch):
    for name, right in (("one", True), ("two", False)):
        (tmp_path / name).mkdir()
        run = run_of(tmp_path / name / "run", learned(right=right, attempts=3))
        text = "48 and half of 48, 24: 72, so \\boxed{72}." if right else "48 + 48 = 96, so \\boxed{96}."
        Tries(run).take(tried(0, right, text).key, lambda right=right, text=text: tried(0, right, text))
    runs = [tmp_path / "one" / "run", tmp_path / "two" / "run"]
    made = harvest(tmp_path / "out", runs=[*runs, runs[0]], validation=0)
    assert (made.runs, made.solutions, "preferences.jsonl" in made.files) == (("one/run", "two/run"), 4, False)
    monkeypatch.chdir(runs[0])
    here = harvest(tmp_path / "here", runs=["."], validation=0)
    assert (here.runs, here.rows[0].sources[0].run) == (("run",), "run/learning/0")


@pytest.mark.parametrize("content", ["{", "[]", "\udcff"])
def test_a_run_whose_settings_cannot_be_read_is_of_no_known_tenant(content, tmp_path):
    run = run_of(tmp_path / "run", learned())
    (run / CONFIG).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(HarvestError, match=r"config\.json cannot be read: whose bank the run showed is not known"):
        harvest(tmp_path / "out", runs=[run])


def test_a_reply_that_speaks_of_its_notes_is_left_out_of_rows_and_tries(tmp_path):
    aided = {"memory_length": 9, "attempts": 3}
    run = run_of(tmp_path / "run", learned("p1"), learned(text="Note 1: 48 + 24 = \\boxed{72}.", **aided))
    one = tried(0, True, "The note helps: 24 and 48 are \\boxed{72}.").model_copy(update={"memory": "digest"})
    Tries(run).take(one.key, lambda: one)
    made = harvest(tmp_path / "out", runs=[run], validation=0)
    assert dict(made.left_out) == {"speaks of its notes": 2}


def test_wrong_rows_and_tries_that_broke_off_before_their_answer_are_left_out(tmp_path):
    broken = "Later 24 are sold. We add 48 and"
    run = run_of(tmp_path / "run", learned(attempts=3), learned("p2", right=False, text=broken))
    for one in (tried(0, False, broken), tried(1, False, "48 - 24 = 24, so \\boxed{24}.")):
        Tries(run).take(one.key, lambda one=one: one)
    made = harvest(tmp_path / "out", None, "failure", runs=[run], validation=0)
    assert dict(made.left_out) == {"cut": 2}
    assert [row["completion"][0]["content"] for row in rows_in(tmp_path / "out")] == ["48 - 24 = 24, so \\boxed{24}."]


def test_an_arm_that_failed_first_makes_the_task_of_a_later_one_weigh_more(tmp_path):
    missed = learned(right=False).model_copy(update={"arm": "baseline"})
    solved = learned(shown=("m1",), memory_length=5).model_copy(update={"arm": "memory"})
    run = run_of(tmp_path / "run", missed, solved)
    harvest(tmp_path / "out", runs=[run], arms=["baseline", "memory"], validation=0)
    assert [row["weight"] for row in rows_in(tmp_path / "out")] == [2]


def test_rows_without_texts_are_counted_and_a_secret_in_one_keeps_it_out(tmp_path):
    secret = learned("p1", text="Ask ann@example.org: 48 + 24 = \\boxed{72}.")
    asked = learned("p3").model_copy(update={"problem": "ann@example.org has 48 rolls and 24. How many?"})
    run = run_of(tmp_path / "run", learned(), secret, asked, learned("p2"))
    kept = [line for line in (run / "texts.jsonl").read_text().splitlines() if '"p2"' not in line]
    (run / "texts.jsonl").write_text("\n".join([*kept, ""]))
    made = harvest(tmp_path / "out", runs=[run], validation=0)
    assert dict(made.left_out) == {"held a secret": 2, "no text": 1}
    assert [row.sources[0].id for row in made.rows] == ["p0"]


def test_an_arm_without_rows_is_named_with_those_that_have_some(tmp_path):
    run = run_of(tmp_path / "run", learned())
    with pytest.raises(HarvestError, match="no rows of memory, but of these arms: learning"):
        harvest(tmp_path / "out", runs=[run], arms=["memory"])
    only_test = run_of(tmp_path / "test", learned().model_copy(update={"arm": "baseline"}))
    with pytest.raises(HarvestError, match=r"no rows of learning\*, but of these arms: baseline"):
        harvest(tmp_path / "out", runs=[only_test])
    with pytest.raises(HarvestError, match="nothing to harvest"):
        harvest(tmp_path / "out")


@pytest.mark.parametrize(("shown", "is_refused"), [(["math", "bob"], True), (["math", "ann"], False), ([], False)])
def test_a_run_that_showed_the_bank_of_another_tenant_is_refused(shown, is_refused, tmp_path):
    run = run_of(tmp_path / "run", learned())
    (run / CONFIG).write_text(json.dumps({"namespace": shown}))
    bank = bank_of(attempt("a", TASKS[1], "63 / 9 = 7, so \\boxed{7}."))
    if is_refused:
        with pytest.raises(HarvestError, match="math/ann and math/bob: a harvest is of one namespace"):
            bank.harvest(tmp_path / "out", runs=[run])
        assert not (tmp_path / "out").exists()
    else:
        bank.harvest(tmp_path / "out", runs=[run], validation=0)
        kinds = {row.sources[0].kind for row in read_card(tmp_path / "out").rows}
        assert (read_card(tmp_path / "out").namespace, kinds) == (NAMESPACE, {"episode", "row"})


def test_two_runs_of_two_tenants_do_not_meet(tmp_path):
    runs = [run_of(tmp_path / name, learned()) for name in ("ann", "bob")]
    for run in runs:
        (run / CONFIG).write_text(json.dumps({"namespace": [run.name]}))
    with pytest.raises(HarvestError, match="ann and bob"):
        harvest(tmp_path / "out", runs=runs)
