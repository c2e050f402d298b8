"""A lesson that states the answer is kept out by the guard and found by the audit, in whatever form it states it."""

import random
import string
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank_langgraph.experiments.leaks import gives_away, states_answer
from reasoningbank_langgraph.experiments.leaks.answer_forms import holds_answer
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.records import MemoryItem
from tests.growth import assert_linear, repeated

DETECTORS = pytest.mark.parametrize("finds", [states_answer, holds_answer], ids=["guard", "audit"])
FORMS = [
    ("1000", ["1,000", "1 000", "1000.0", "$1,000.00", "1{,}000", r"1\,000", "1k", "1 thousand", "a thousand",
              "One Thousand", "１０００", "١٠٠٠", "1000km", "1\u200b000", "2000/2"]),
    ("1,000", ["1000", "one thousand"]),
    ("41", ["41.0", "41.", "forty-one", "forty one", "forty\N{NON-BREAKING HYPHEN}one", "82/2", "41%",
            "forty-one percent", "41/50"]),
    ("0.5", ["1/2", ".5", "0.50", "50%", "50 %", r"50\%", "50 per cent", "fifty percent", r"\frac{1}{2}", r"\dfrac12",
             r"\tfrac{2}{4}", "½", "the answer is one half", "equals a half", "the result is zero point five"]),
    ("50%", ["1/2", "0.5", "50", "fifty"]),
    ("12", ["a dozen", "one dozen", "1 dozen", "twelve"]),
    ("2.5", ["2 1/2", "2½", r"2\frac{1}{2}", "5/2", "250%", "a total of two and a half", "answer: two point five"]),
    ("115", ["one hundred and fifteen", "a hundred fifteen"]),
    ("1200", ["twelve hundred", "1.2 thousand", "one thousand, two hundred"]),
    ("1250040", ["1,250,040", "one million two hundred and fifty thousand and forty"]),
    ("500000", ["half a million", "0.5 million", "five hundred thousand"]),
    ("30", ["two and a half dozen", "thirty"]),
    ("-7", ["-7", "\N{MINUS SIGN}7.0", "the sum is seven"]),
    ("4", ["$4 million"]),
    (r"\$18", ["18"]),
    ("18 dollars", ["18"]),
    ("x = 18", ["18"]),
    (r"\sqrt{2}", [r"it is \sqrt{2}"]),
    ("Monday", ["on Monday,"]),
    ("B", ["choose B"]),
]  # fmt: skip
OTHERS = [
    ("41", ["141", "410", "41,000", "4.1", "41.5", "the 41st", "p41", "forty", "one", "forty-two", "141/2", "٤٢",
            "km / h"]),
    ("1000", ["1,000,000", "1000.5", "thousands", "a thousandth", "two thousand"]),
    ("0.4", ["one hundred and forty percent"]),
    ("3", ["3 1/2", "1/3"]),
    ("10", ["ten steps"]),
    ("0.5", ["half of it", "one half of them", "1/20", "1.5", "11/2", "5%"]),
    ("2", ["1/2", "two steps", "in two of them", "20%", "the answer is twenty two", "the 2nd"]),
    ("40", ["forty-one", "one hundred and forty"]),
    ("1", ["1. Read it.\n2. Solve it.", "Do this: 1. Read it", "a"]),
    ("2", ["Do this: 1. Read it. 2. Solve it. 3. Check it.", "(1) Read (it). (2) Check."]),
    ("B", ["a Bee", "be"]),
    ("", ["", "nothing", "0"]),
    ("1/0", ["1", "0"]),
]  # fmt: skip


@DETECTORS
@pytest.mark.parametrize(("answer", "form"), [(answer, form) for answer, forms in FORMS for form in forms])
def test_an_answer_is_found_in_every_form(finds, answer, form):
    for text in (form, f"So we get {form}, and that is all.", f"It is ({form}).\nCheck it."):
        assert finds(text, answer), text


@DETECTORS
@pytest.mark.parametrize(("answer", "text"), [(answer, text) for answer, texts in OTHERS for text in texts])
def test_other_numbers_and_small_talk_are_not_the_answer(finds, answer, text):
    assert not finds(text, answer)


@DETECTORS
@pytest.mark.parametrize("before", ["The answer is", "which gives", "a total of", "The result: ", "= ", "equal to"])
def test_a_small_number_in_words_counts_where_it_is_announced_and_in_digits_everywhere(finds, before):
    assert finds(f"{before} three.", "3")
    assert finds("Add it 3 times.", "3")
    assert not finds(f"{before} many; three steps.", "3")


@DETECTORS
def test_the_answer_behind_a_colon_is_not_the_number_of_a_list(finds):
    assert finds("The answer is: 12. Check it.", "12")
    assert finds("The answer is: 1. Check it.", "1")
    assert not finds("The answer is: 1. 200 are left.", "1200")
    assert finds("1. Add 12 to it.\n2. Stop.", "12")


def test_the_numbers_of_a_date_or_a_version_are_read_one_by_one():
    assert states_answer("Seen on 3.41.2026, in 1.2.3.4", "41")
    assert not states_answer("Seen on 3.41.2026, in 1.2.3.4", "3.41")


ONES = dict(enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"], 1))
TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = dict(enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2))


def in_words(number, hyphen, joint):
    """A number of up to nine digits, as people write it."""
    for worth, scale in ((1_000_000, " million"), (1_000, " thousand"), (100, " hundred")):
        if number >= worth:
            words, rest = in_words(number // worth, hyphen, joint) + scale, number % worth
            return words + (joint if rest < 100 else " ") + in_words(rest, hyphen, joint) if rest else words
    if number < 20:
        return ONES[number] if number < 10 else TEENS[number - 10]
    return TENS[number // 10] + (f"{hyphen}{ONES[number % 10]}" if number % 10 else "")


@DETECTORS
@given(st.integers(1, 999_999_999), st.sampled_from("- "), st.sampled_from([" ", " and "]), st.booleans())
def test_a_number_in_words_is_found_and_its_neighbour_is_not(finds, number, hyphen, joint, loud):
    words = in_words(number, hyphen, joint)
    text = f"The answer is {words.upper() if loud else words}, I think."
    assert finds(text, str(number))
    assert not finds(text, str(number + 1))


@DETECTORS
@given(st.integers(1, 5_000_000), st.integers(0, 3), st.integers(1, 100))
def test_a_number_in_digits_is_found_and_its_neighbour_is_not(finds, thousandths, zeros, times):
    above, below = Fraction(thousandths, 1_000).as_integer_ratio()
    whole, rest = divmod(thousandths, 1_000)
    forms = [
        f"{whole}.{rest:03}{'0' * zeros}",
        f"{whole:,}.{rest:03}",
        f"{thousandths // 10}.{thousandths % 10}{' ' * (zeros % 2)}%",
        f"{above * times}/{below * times}",
        rf"\frac{{{above * times}}}{{{below * times}}}",
        *([f"{whole:,}", f"{whole:,}".replace(",", " ")] if not rest else []),
        *([f"{whole} {above % below * times}/{below * times}"] if whole and rest else []),
    ]
    for form in forms:
        assert finds(f"It must be {form} in all.", f"{whole}.{rest:03}"), form
        assert not finds(f"It must be {form} in all.", f"{thousandths + 7_000_001}.5"), form


@pytest.mark.slow
@DETECTORS
@pytest.mark.parametrize("unit", ["1", "1,", "1,111", "1 111", "1.", "1/", "one ", "one hundred and ", "two million ",
                                  "a ", "half ", "\\frac{1}", "{,}", " 1. ", ":", "½", ".5", "k", " "])  # fmt: skip
def test_looking_for_an_answer_is_linear(finds, unit):
    assert_linear(lambda text: finds(text, "123456"), repeated(unit), (25_000, 100_000))


def problem(text, name="p"):
    return Problem(id=name, text=text, answer="no such answer")


def item(text):
    return MemoryItem(title="T", description="D", content=text, outcome="success", task="t")


def changed(text, share, seed=7):
    """The text with that share of its letters changed."""
    rng = random.Random(seed)
    return "".join(rng.choice(string.ascii_lowercase) if rng.random() < share else letter for letter in text)


@pytest.mark.parametrize("length", [300, 900, 1_100, 3_900])
def test_a_text_with_few_letters_changed_is_nearly_the_same_and_one_with_many_is_not(length):
    rng = random.Random(length)
    text = "".join(rng.choice(string.ascii_lowercase + "    ") for _ in range(length))
    assert gives_away(item(changed(text, 0.04)), problem(text))
    assert not gives_away(item(changed(text, 0.25)), problem(text))
    assert not gives_away(item("".join(rng.sample(text, length))), problem(text))
