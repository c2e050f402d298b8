"""The measure of growth: it tells linear work from quadratic."""

import re

import pytest

from tests.growth import assert_linear, repeated


def test_inputs_have_the_length_that_was_asked_for():
    assert repeated("ab", "<", ">")(10) == "<abababab>"
    assert len(repeated("abc", "x")(50_000)) == 49_999


def test_linear_work_passes():
    assert_linear(lambda text: [char.casefold() for char in text], repeated("a"))


def test_work_that_does_not_grow_passes():
    assert_linear(len, repeated("a"))


def test_quadratic_work_is_named():
    with pytest.raises(AssertionError, match="times the input"):
        assert_linear(
            lambda text: [text[at:] for at in range(0, len(text), 4)], repeated("a"), (25_000, 50_000, 100_000)
        )


def test_quadratic_work_inside_one_regular_expression_is_seen():
    with pytest.raises(AssertionError, match="times the input"):
        assert_linear(re.compile(r" *!").search, repeated(" "), (4_000, 8_000, 16_000))
