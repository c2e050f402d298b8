"""Planted secrets are found, and mathematics is left alone."""

import json

import pytest

from reasoningbank_langgraph.text import redact_secrets
from tests.conftest import DATA
from tests.data.planted_secrets import CLEAN, PLANTED

PROBLEMS = sorted(DATA.glob("*.jsonl"))


@pytest.mark.parametrize(("kind", "text"), PLANTED, ids=ascii)
def test_a_planted_secret_is_taken_out_of_the_text_around_it(kind, text):
    redacted = redact_secrets(f"The agent wrote: {text} and went on.")
    assert redacted.found == {kind: 1}
    assert redacted.text.startswith("The agent wrote: ")
    assert f"[{kind} removed]" in redacted.text


def test_there_are_a_hundred_planted_secrets():
    assert len(PLANTED) >= 100


@pytest.mark.parametrize("text", CLEAN, ids=ascii)
def test_what_only_looks_like_a_secret_stays(text):
    assert redact_secrets(f"We see {text} here.") == (f"We see {text} here.", {})


@pytest.mark.skipif(not PROBLEMS, reason="the math problems are not on this machine")
def test_no_math_problem_or_solution_is_changed():
    texts = [json.loads(line) for path in PROBLEMS for line in path.read_bytes().split(b"\n") if line]
    changed = [
        row["id"] for row in texts for name in ("problem", "solution") if redact_secrets(row.get(name, "")).found
    ]
    assert changed == []


def test_all_kinds_in_one_text_are_counted():
    found = redact_secrets("\n".join(text for _, text in PLANTED)).found
    assert set(found) == {kind for kind, _ in PLANTED}


def test_redacting_again_changes_nothing():
    once = redact_secrets("\n".join(text for _, text in PLANTED)).text
    assert redact_secrets(once) == (once, {})


def test_the_name_of_a_password_stays():
    assert redact_secrets("password=hunter2x").text == "password=[password removed]"
