"""Every pair of problems is looked at for near copies: the same problem with other numbers and names."""

import random
import string

import pytest

from reasoningbank_langgraph.experiments.leaks import near_copies, near_duplicates
from reasoningbank_langgraph.experiments.leaks.near_copies import text_similarity
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.growth import assert_linear, repeated


def problem(text, name="p"):
    return Problem(id=name, text=text, answer="no such answer")


def test_two_long_problems_that_differ_in_numbers_and_a_word_are_near_duplicates():
    text = "Anna has 12 apples and gives some of them away, one by one, to her friends at school. "
    long = text * 40 + "How many are left?"
    pairs = near_duplicates([problem(long, "train")], [problem(long.replace("12", "7") + " Say why.", "test")],
                            HashEmbeddings(64))  # fmt: skip
    assert [(pair.train_id, pair.test_id) for pair in pairs] == [("train", "test")]
    assert pairs[0].text_similarity > 0.95


APPLES = "Anna bought 12 apples and 7 pears at the market. She gave 5 of them to Ben. How many did Anna keep?"
COPY = "Carla bought 30 apples and 19 pears at the market. She gave 8 of them to Dan. How many did Carla keep?"
OTHER = "A train leaves at 9 and travels 80 miles an hour. When does it arrive in a town 240 miles away?"


def test_a_copy_with_other_names_and_numbers_is_found_among_all_others():
    learned = [*(problem(f"{OTHER} Say how {word} it is.", word) for word in "abcdefghij"), problem(APPLES, "apples")]
    solved = [problem(f"{OTHER} Explain it.", "train"), problem(COPY, "copy")]
    pairs = near_duplicates(learned, solved, HashEmbeddings(64))
    assert {(pair.train_id, pair.test_id) for pair in pairs} == {
        ("apples", "copy"),
        *((a, "train") for a in "abcdefghij"),
    }
    assert text_similarity(APPLES, COPY) > 0.95
    assert text_similarity(f"{APPLES} \ud800", f"{COPY} \ud800") > 0.95
    assert text_similarity(APPLES, OTHER) < 0.7


def test_within_one_list_each_pair_is_named_once_the_earlier_one_first():
    problems = [problem(APPLES, "a"), problem(OTHER, "o"), problem(COPY, "c")]
    (pair,) = near_duplicates(problems, problems, HashEmbeddings(64))
    assert (pair.train_id, pair.test_id) == ("a", "c")
    assert near_duplicates([], problems, HashEmbeddings(64)) == near_duplicates(problems, [], HashEmbeddings(64)) == []


class Meanings(HashEmbeddings):
    """Puts all texts about fruit in one place, and each other text in one of its own."""

    def embed_documents(self, texts):
        return [[1.0, 0.05, 0.0] if "fruit" in text else [0.0, 0.0, float(len(text))] for text in texts]


def test_problems_of_the_same_meaning_are_near_copies_in_other_words():
    one, two = problem("Some fruit is bought.", "one"), problem("Here a person pays for fruit twice!", "two")
    (pair,) = near_duplicates([one, problem("Nothing of it.", "x")], [two], Meanings(3))
    assert (pair.train_id, pair.embedding_similarity) == ("one", 1.0)
    assert pair.text_similarity < 0.9


def test_every_one_of_many_problems_is_compared_with_every_other(monkeypatch):
    monkeypatch.setattr(near_copies, "_BLOCK", 20)
    draw = random.Random(7)
    many = [problem("".join(draw.choices(string.ascii_lowercase + " ", k=90)), f"p{n}") for n in range(50)]
    copies = [problem(many[3].text, "of 3"), problem(many[45].text, "of 45")]
    every = [*many, *copies]
    found = [pair for pair in near_duplicates(every, every, Meanings(3)) if pair.text_similarity > 0.9]
    assert [(pair.train_id, pair.test_id) for pair in found] == [("p3", "of 3"), ("p45", "of 45")]


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["a", "ab", "a b ", "1.", "abcdefghij ", "\\frac{1}{2}"])
def test_comparing_two_problems_is_linear(unit):
    def compared(text):
        near_duplicates([problem("x" + text)], [problem(text[::-1] + "y")], HashEmbeddings(8))

    assert_linear(compared, repeated(unit), (12_500, 50_000))
