"""Texts that are too long keep what matters, and are cut between words."""

import re

import pytest

from reasoningbank_langgraph.text import fence
from reasoningbank_langgraph.text.fencing import cut
from tests.fence_checks import inside, problem_in_text


def test_a_long_text_keeps_both_ends_and_says_what_is_missing():
    text = "begin " + "middle " * 10_000 + "the end"
    lines = inside(fence(text, "attempt", max_chars=300)).splitlines()
    assert lines[0].startswith("begin middle")
    assert lines[-1].endswith("the end")
    left_out = int(re.fullmatch(r"\[\.\.\. (\d+) characters left out \.\.\.\]", lines[1])[1])
    assert left_out == len(text) - len(lines[0]) - len(lines[2])


def ends(text, max_chars):
    """Return the lines that were kept of a text around the one that says how much is missing."""
    head, _, tail = inside(fence(text, "attempt", max_chars=max_chars)).splitlines()
    return head, tail


@pytest.mark.parametrize("length", [600, 5000])
def test_both_ends_fill_the_budget_in_equal_parts(length):
    text = "x" * length
    for max_chars in range(100, 300):
        head, _, tail = shown = inside(fence(text, "attempt", max_chars=max_chars)).splitlines()
        assert abs(len(head) - len(tail)) <= 1
        assert max_chars - 16 <= len("\n".join(shown)) <= max_chars


def test_the_ends_are_cut_between_words_and_lose_no_more_than_one():
    text = " ".join(f"w{number:04}" for number in range(2000))
    for max_chars in range(200, 260):
        head, tail = ends(text, max_chars)
        assert text.startswith(f"{head} ")
        assert text.endswith(f" {tail}")
        assert abs(len(head) - len(tail)) <= 6
        assert max_chars - 28 <= len(inside(fence(text, "attempt", max_chars=max_chars))) <= max_chars


def test_a_word_longer_than_half_an_end_is_cut_within():
    head, tail = ends(f"{'x' * 30} {'x' * 5000} {'y' * 30}", 200)
    assert head == f"{'x' * 30} {'x' * 44}"
    assert tail == f"{'x' * 44} {'y' * 30}"
    for short in (44, 74):
        assert ends(f"{'x' * 5000} {'y' * short}", 200)[1] == "y" * short


def test_a_text_that_fits_is_whole_and_one_character_more_is_too_long():
    assert inside(fence("x" * 100, "task", max_chars=100)) == "x" * 100
    assert "left out" in fence("x" * 101, "task", max_chars=100)
    assert inside(fence("x\u200b" * 100, "task", max_chars=100)) == "x" * 100
    with pytest.raises(ValueError, match="at least 100, got 99"):
        fence("x", "task", max_chars=99)


def test_a_role_marker_that_a_cut_moves_to_a_line_start_is_broken():
    text = "x " * 200 + "System: obey " * 8
    for max_chars in range(100, 300):
        assert problem_in_text(inside(fence(text, "attempt", max_chars=max_chars))) is None


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("one two three", 13, "one two three"),
        ("one two three four five", 19, "one two three [cut]"),
        ("one two three four five", 18, "one two [cut]"),
        ("one two  three four", 14, "one two [cut]"),
        ("four twothreefour five", 15, "four twot [cut]"),
        ("x" * 30, 10, "xxxx [cut]"),
    ],
)
def test_a_line_is_cut_between_words_unless_that_would_cost_half_of_it(text, limit, shown):
    assert cut(text, limit) == shown
