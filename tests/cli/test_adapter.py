"""`reasoningbank adapter`: try, accept, reject, roll back and list, from the shell."""

import json

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.records import task_key
from reasoningbank_langgraph.train.adapters import trial
from tests.train.adapted import Servers, adapter_in, problem, problems_in, used


def call(*words):
    return CliRunner().invoke(app, ["adapter", *map(str, words)], env={"COLUMNS": "250"})


@pytest.fixture
def adapters(tmp_path, monkeypatch):
    """Two adapters, of which `sums` is better than their base; and problems, two of which it knows."""
    monkeypatch.setattr(trial, "start_local_model", Servers(base={0}, sums=set(range(12)), more={0, 1}).start)
    problems_in(tmp_path / "validation.jsonl", range(14))
    known = [task_key(problem(number)["problem"]) for number in (12, 13)]
    for name in ("sums", "more"):
        adapter_in(tmp_path / "adapters", name, tasks=known)
    return tmp_path / "adapters"


def accept(adapters, name, *words):
    return call("accept", adapters / name, "--problems", adapters.parent / "validation.jsonl", *words)


def test_a_trial_says_what_was_compared_what_was_left_out_and_what_was_decided(adapters):
    done = accept(adapters, "sums")
    assert done.exit_code == 0, done.output
    assert done.output.lstrip() == (
        "sums against the base: 12 of 12 right, 1 without; "
        "+91.7 points [+52.9, +100.0], 11 fixed, 0 broken, p < 0.001\n"
        "left out of validation.jsonl: 2 same task\n"
        "near copies of what it learned could not be looked for: its card does not name its data\n"
        "accepted: sums is in use\n"
        f"Use it with: --model {adapters}\n"
    )
    assert used(adapters) == "sums"


def test_one_that_is_not_better_ends_with_exit_code_1_and_is_not_used(adapters):
    accept(adapters, "sums")
    done = accept(adapters, "more", "--alpha", 0.1)
    assert done.exit_code == 1
    assert "more against the base: 2 of 12 right, 1 without; +8.3 points" in done.output
    assert "more against sums: 2 of 12 right, 12 without; −83.3 points" in done.output
    assert done.output.endswith("not better: more is kept and not used\n")
    assert used(adapters) == "sums"


def test_a_further_trial_says_that_all_problems_count_at_half_the_level(adapters):
    accept(adapters, "more")
    problems_in(adapters.parent / "validation.jsonl", range(12))
    assert "p is held against" not in accept(adapters, "more").output
    problems_in(adapters.parent / "validation.jsonl", range(11))
    assert "2 of 12 right" in accept(adapters, "more").output
    problems_in(adapters.parent / "validation.jsonl", [50, 51])
    assert (
        "p is held against 0.025, as it was tried before, on other problems or in another way\n"
        in call("accept", adapters / "more", "--problems", adapters.parent / "validation.jsonl").output
    )


def test_the_way_back_says_what_is_in_use_now(adapters):
    accept(adapters, "sums")
    done = call("rollback", adapters, "--reason", "it was rude")
    assert done.output == f"sums is in use no longer\nthe base, without an adapter, is in use in {adapters}\n"
    again = call("rollback", adapters)
    assert again.exit_code == 1
    assert "there is nothing to go back from" in again.output
    assert call("reject", adapters / "more", "--reason", "slow").output.startswith("more is rejected\n")
    assert accept(adapters, "more").exit_code == 1
    assert call("reject", adapters / "more").exit_code == 2


def test_the_list_shows_the_state_of_each_adapter_and_how_its_trial_went(adapters):
    assert f"no adapter of {adapters} is in use: --model {adapters} is their base\n" in call("list", adapters).output
    accept(adapters, "sums")
    call("reject", adapters / "more", "--reason", "it names customers")
    done = call("list", adapters)
    sums, more = (next(line for line in done.output.splitlines() if f"│ {name} " in line) for name in ("sums", "more"))
    assert "│ in use   │" in sums
    assert "│ 2.000 to 1.500  │ against the base +91.7 points" in sums
    assert "│ rejected │" in more
    assert "│ it names customers " in more
    rows = [json.loads(line) for line in call("list", adapters, "--json").output.splitlines()]
    assert [(row["name"], row["state"]) for row in rows] == [("more", "rejected"), ("sums", "in use")]
    assert rows[1]["decision"]["trial"]["comparisons"][0]["fixed"] == 11


@pytest.mark.parametrize("words", [("--alpha", 0), ("--alpha", 1), ("--max-tokens", 0)])
def test_settings_that_make_no_sense_are_refused(adapters, words):
    assert accept(adapters, "sums", *words).exit_code == 2


def test_what_is_no_folder_of_adapters_is_named(adapters):
    gone, one, empty = (adapters / name for name in ("none", "sums", "empty"))
    for words, named in (
        (("list", gone), f"there is no folder {gone}"),
        (("list", one), f"{one} is one adapter: name the folder that it lies in, {adapters}"),
        (("rollback", gone), f"there is no folder {gone}"),
        (("reject", gone / "x", "--reason", "r"), f"there is no folder {gone}"),
    ):
        done = call(*words)
        assert done.exit_code == 1
        assert named in done.output
    empty.mkdir()
    assert call("list", empty).output == f"no adapter is in {empty}\n"
