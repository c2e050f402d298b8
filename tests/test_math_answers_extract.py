"""The final answer of a reply is found, or the reason why there is none."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoningbank_langgraph.math_answers import ExtractedAnswer, extract_answer

FOUND = [
    (r"So \boxed{42}.", "42"),
    (r"First \boxed{1}, then \boxed{2}.", "2"),
    (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
    (r"\boxed{\{1,2\}}", r"\{1,2\}"),
    (r"\boxed{\left\{ \frac{1}{2} \right\}}", r"\left\{ \frac{1}{2} \right\}"),
    (r"\boxed {7}", "7"),
    ("\\boxed{\n  7\n}", "7"),
    (r"\boxed 5", "5"),
    (r"\boxed 5.", "5"),
    (r"$\boxed 12$ apples", "12"),
    (r"\fbox{9}", "9"),
    (r"\boxed{\boxed{3}}", "3"),
    (r"\boxed{3} and an empty \boxed{}", "3"),
    (r"An unclosed \boxed{ and later \boxed{8}", "8"),
    (r"<think>\boxed{1}</think>\boxed{2}", "2"),
    (r"<think>first</think> middle <think>\boxed{1}</think>\boxed{3}", "3"),
    (r"\boxed{1}</think>\boxed{2}", "2"),
    (r"<thinking>\boxed{1}</thinking> #### 6", "6"),
    ("She sells 9 eggs.\n#### 18", "18"),
    ("#### 1,234", "1,234"),
    ("#### $18.50", "$18.50"),
    ("#### -3\nThat is all.", "-3"),
    ("#### Step one\nwe add\n#### 12", "12"),
    ("Answer: 5\n#### 18", "18"),
    ("#### 18\nso \\boxed{19}", "19"),
    ("The final answer is 12.", "12"),
    ("The final answer is: $12$.", "$12$"),
    ("The final answer is $\\frac{1}{2}$. I hope it is correct.", "$\\frac{1}{2}$"),
    ("**Answer:** 18", "18"),
    ("**Final Answer:**\n\n18", "18"),
    ("Answer: $3.50", "$3.50"),
    ("The answer is 3.5.", "3.5"),
    ("the answer is 4\nand the final answer is 5\nthe answer is 6", "5"),
    ("The answer is not 5.\nAnswer: 6", "6"),
    ("Final answer: x = 3", "x = 3"),
    ("The correct answer is (B).", "(B)"),
]

MISSING = [
    ("", "empty"),
    (" \n\t ", "empty"),
    (r"<think>I know: \boxed{3}</think>", "empty"),
    (r"<think>I know: \boxed{3}", "truncated"),
    (r"\boxed{3} <think> wait", "truncated"),
    (r"\boxed{12", "truncated"),
    (r"\boxed{\frac{1}{2}", "truncated"),
    (r"\boxed", "truncated"),
    (r"\boxed{1} and finally \boxed{2", "truncated"),
    ("The final answer is", "truncated"),
    ("I do not know.", "no_marker"),
    ("There are 12 apples left", "no_marker"),
    ("#### Step 1\nWe add the two numbers and see.", "no_marker"),
    (r"Put it in \boxed.", "no_marker"),
    (r"\boxedness{4}", "no_marker"),
]


@pytest.mark.parametrize(("reply", "answer"), FOUND)
def test_the_marked_answer_is_found(reply: str, answer: str) -> None:
    assert extract_answer(reply) == ExtractedAnswer(answer, None)


@pytest.mark.parametrize(("reply", "reason"), MISSING)
def test_a_missing_answer_has_its_reason(reply: str, reason: str) -> None:
    assert extract_answer(reply) == (None, reason)


TAGS = ("<think>", "</think>", "\\boxed{", "\\boxed ", "#### ", "answer is ", "answer: ", "final ", ". A")
PARTS = (*TAGS, *"{}\\ \n*1")
RUNS = (*PARTS, "{}", "\\boxed{}", "final answer", "answer **", "<think></think>", ":", "####\n")


@pytest.mark.parametrize("part", RUNS)
def test_two_hundred_thousand_hostile_characters_are_read_in_passing(part: str) -> None:
    run = part * (200_000 // len(part))
    for text in (run, "\\boxed{" + run, "answer" + run + "7", "####" + run):
        start = time.process_time()
        extract_answer(text)
        assert time.process_time() - start < 2


@given(st.one_of(st.text(), st.lists(st.sampled_from(PARTS)).map("".join)))
def test_any_text_gives_either_an_answer_or_a_reason(reply: str) -> None:
    text, reason = extract_answer(reply)
    assert (text is None) is (reason in ("truncated", "empty", "no_marker"))
    assert text is None or text.strip()
