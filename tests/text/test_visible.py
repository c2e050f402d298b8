"""What a reader cannot see is taken out of a text, and what a terminal would obey or hide is shown as its escape."""

import pytest

from reasoningbank_langgraph.text.visible import is_invisible, printable, without_invisible

ACCENT, CIRCLE = "\u0301", "\u20dd"


@pytest.mark.parametrize("mark", [ACCENT, CIRCLE], ids=["an accent", "an enclosing circle"])
def test_of_marks_in_a_row_the_first_eight_stay(mark):
    assert without_invisible("e" + mark * 9) == "e" + mark * 8
    assert without_invisible(mark * 9) == mark * 8


def test_marks_are_counted_anew_behind_every_letter():
    text = f"a{ACCENT * 8}b{ACCENT * 8}"
    assert without_invisible(text) == text


def test_a_joiner_stays_only_behind_a_letter_of_a_script_that_joins():
    assert without_invisible("\u200dक\u200d\u200da\u200d") == "क\u200da"


def test_line_ends_and_tabs_stay_beside_what_is_taken_out():
    assert without_invisible("é\n\t\u200b\x1b") == "é\n\t"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\t", "plain\n\t"),
        ("é\n\t", "é\n\t"),
        ("\x1b[31m", r"\x1b[31m"),
        ("\u202e", r"\u202e"),
        ("a\u2028b\u2029c\x85d", r"a\u2028b\u2029c\x85d"),
        ("क\u200dष", "क\u200dष"),
    ],
    ids=ascii,
)
def test_a_terminal_is_shown_what_it_would_obey_or_hide(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("char", "unseen"),
    [("\u200b", True), ("\u200d", True), ("\x1b", True), (" ", False), ("\t", False), ("\u2028", False), ("a", False)],
    ids=ascii,
)
def test_white_space_is_seen_and_joiners_are_not(char, unseen):
    assert is_invisible(char) is unseen
