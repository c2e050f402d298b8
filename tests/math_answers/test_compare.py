"""Answers of math problems are equal exactly when they say the same."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank_langgraph.math_answers import compare, equivalent, symbolic
from tests.conftest import check_each

ROOT = Path(__file__).parents[2]
OWN_PAIRS = Path(__file__).parents[1] / "data" / "math_answer_pairs.jsonl"
WRITINGS = OWN_PAIRS.with_name("math_answer_writings.jsonl")
SHARED_CASES = ROOT / ".." / "shared" / "cases" / "math_equivalence.jsonl"
DATA = ROOT / ".." / "shared" / "data"
DATA_SETS = ("gsm8k_test", "gsm8k_train", "math", "multiarith", "svamp")

needs_math = pytest.mark.skipif(not symbolic.is_available(), reason="the extra `math` is not installed")


def rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@needs_math
@check_each(rows(OWN_PAIRS))
def test_pairs_labelled_by_hand_are_told_apart_in_both_orders(pair: dict[str, Any]) -> None:
    assert equivalent(pair["gold"], pair["prediction"]) is pair["expected"]
    assert equivalent(pair["prediction"], pair["gold"]) is pair["expected"]


@needs_math
@check_each(rows(WRITINGS))
def test_each_way_of_writing_an_answer_equals_it_and_no_other_in_both_orders(row: dict[str, Any]) -> None:
    pairs = [(gold, answer) for gold in row["golds"] for answer in row["answers"]]
    pairs += [(answer, gold) for gold, answer in pairs]
    assert [pair for pair in pairs if equivalent(*pair) is not row["equal"]] == []


@needs_math
@pytest.mark.skipif(not SHARED_CASES.exists(), reason="the shared cases are not on this machine")
@check_each(rows(SHARED_CASES))
def test_shared_cases_get_their_label(pair: dict[str, Any]) -> None:
    assert equivalent(pair["gold"], pair["prediction"]) is pair["expected"]


@pytest.mark.parametrize("name", DATA_SETS)
def test_every_known_answer_equals_itself(name: str) -> None:
    answers = {str(row["answer"]) for row in rows(DATA / f"{name}.jsonl")}
    if not answers:
        pytest.skip(f"{name}.jsonl is not here")
    assert [answer for answer in answers if not equivalent(answer, answer)] == []


def test_without_the_extra_expressions_are_equal_only_when_written_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic, "is_available", lambda: False)
    assert equivalent(r"2\sqrt{2}", r"2 \sqrt 2")
    assert equivalent(r"\frac12", "0.5")
    assert not equivalent(r"\sqrt{8}", r"2\sqrt{2}")


def test_without_the_extra_nothing_is_equal_that_is_not_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic, "is_available", lambda: False)
    different = [row for row in rows(OWN_PAIRS) if not row["expected"]]
    assert different
    assert [row for row in different if equivalent(str(row["gold"]), str(row["prediction"]))] == []


rationals = st.fractions(max_denominator=10_000, min_value=-(10**6), max_value=10**6)


@given(rationals, rationals)
def test_fractions_are_equal_when_their_values_are(left: object, right: object) -> None:
    assert equivalent(str(left), str(right)) is (left == right)
    assert equivalent(str(right), str(left)) is (left == right)


@given(rationals)
def test_a_fraction_in_latex_equals_the_same_fraction_with_a_slash(value: object) -> None:
    above, _, below = str(value).partition("/")
    assert equivalent(str(value), rf"\frac{{{above}}}{{{below or 1}}}")


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_visible_text_equals_itself(text: str) -> None:
    assert equivalent(f"7 {text}", f"7 {text}")


latexish = st.text(alphabet="0123456789.,+-*/^_=<>(){}[]|!%$&;: abcxyz\\'\"", max_size=40)
PIECES = (
    r"\frac \sqrt { } ( ) [ ] 1 23 x ^ _ + - \pm , \text{cm} \begin{pmatrix} \end{pmatrix} \\ & \cup \{ \} = < ! "
    r"\sin \log \infty \pi % \$ ^\circ : \boxed{ and or 10^ |"
)
pieces = st.lists(st.sampled_from(PIECES.split()), max_size=14).map(" ".join)


@settings(max_examples=150)
@given(st.one_of(latexish, pieces, st.text(max_size=80)), st.one_of(latexish, pieces))
def test_any_two_texts_get_a_plain_answer(left: str, right: str) -> None:
    assert equivalent(left, right) in (True, False)


@settings(max_examples=60)
@given(st.sampled_from(rows(OWN_PAIRS)), st.sampled_from([" ", "  ", "\n", "\t"]))
def test_blanks_around_an_answer_change_nothing(row: dict[str, Any], blank: str) -> None:
    gold, prediction = str(row["gold"]), str(row["prediction"])
    assert equivalent(blank + gold, prediction + blank) is equivalent(gold, prediction)


@pytest.mark.parametrize(
    ("gold", "prediction"),
    [
        ("70", "100 - 30 = 70"),
        ("7", "3+4=7"),
        ("1", "1 egg"),
        ("7", "7 men"),
        ("2/3", "2/3 cup"),
        ("60", "60 km/h"),
        ("60 mph", "60 miles/hour"),
        ("5", "$5 per hour"),
    ],
)
def test_units_of_three_letters_rates_and_sums_that_are_worked_out_are_read(gold: str, prediction: str) -> None:
    assert equivalent(gold, prediction)


@pytest.mark.parametrize(
    ("gold", "prediction"),
    [
        ("5", "five sixths"),
        ("5", "5 hundredths"),
        ("3", r"\text{three sevenths}"),
        ("2", "2 ninths"),
        ("5", "five halves"),
        ("5", "5 lakh"),
        ("5", "5 basis points"),
        ("4", "4 negative"),
        ("2", "2 doubled"),
        ("71", "100 - 30 = 71"),
        ("70", "100 - 30 = 71"),
        ("60 km/h", "60 m/h"),
        ("5 dollars", "$5 per hour"),
    ],
)
def test_a_word_that_changes_the_number_and_a_sum_that_is_wrong_are_no_units(gold: str, prediction: str) -> None:
    assert not equivalent(gold, prediction)


def test_numbers_are_compared_exactly_however_long_the_symbolic_reading_took(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object, deadline: float, **__: object) -> None:
        time.sleep(max(0.0, deadline - time.monotonic()) + 0.01)

    monkeypatch.setattr(symbolic, "ask_worker", slow)
    monkeypatch.setattr(compare, "SECONDS", 0.05)
    assert equivalent("36 m", "36 meters")
