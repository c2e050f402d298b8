"""Which problems and items are nearly the same, however long they are."""

import random
import string

import pytest

from reasoningbank_langgraph.experiments.leaks import gives_away, near_duplicates
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.records import MemoryItem
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.growth import assert_linear, repeated


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


def test_two_long_problems_that_differ_in_numbers_and_a_word_are_near_duplicates():
    text = "Anna has 12 apples and gives some of them away, one by one, to her friends at school. "
    long = text * 40 + "How many are left?"
    pairs = near_duplicates([problem(long, "train")], [problem(long.replace("12", "7") + " Say why.", "test")],
                            HashEmbeddings(64))  # fmt: skip
    assert [(pair.train_id, pair.test_id) for pair in pairs] == [("train", "test")]
    assert pairs[0].text_similarity > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["a", "ab", "a b ", "1.", "abcdefghij ", "\\frac{1}{2}"])
def test_comparing_two_problems_is_linear(unit):
    def compared(text):
        near_duplicates([problem("x" + text)], [problem(text[::-1] + "y")], HashEmbeddings(8))

    assert_linear(compared, repeated(unit), (12_500, 50_000))
