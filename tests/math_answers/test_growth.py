"""The work on an answer grows with its length and no faster, whatever it holds."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoningbank_langgraph.math_answers import equivalent, extract_answer, is_refusal
from reasoningbank_langgraph.math_answers.exact import MAX_BITS, Exact, NotRationalError
from reasoningbank_langgraph.math_answers.nodes import Node, apply, number
from tests.growth import assert_linear, repeated

pytestmark = pytest.mark.slow

SIGNS_ALONE = ["{", "}", "\\", " ", "\n", "\t", "*", "_", "#", "$", "\\(", ". A", "1", "\u0301", "\u200b"]
MARKERS = [
    "<think>",
    "</think>",
    r"\boxed",
    r"\boxed ",
    r"\boxed{",
    r"\boxed{}",
    r"x=\boxed{1} or ",
    "####\n",
    "#### a ",
]
LINES = [
    "answer",
    "answer (",
    "answer ",
    "answer\n",
    "final answer is ",
    "answer is .\n",
    r"\text{answer ",
    "<b>answer</b>\n",
]
HEADINGS = ["# Final Answer\n", "**Answer**\n", "Answer\n---\n", "Answer\n1 and 2 and 3 and 4\n", "Answer:\n$$\n"]
REPLIES = [*SIGNS_ALONE, *MARKERS, *LINES, *HEADINGS, "Final Answer\nThe **sum** of it all is known\n"]
DRESSES = [("", ""), (r"The answer is \boxed{", "}")]


@pytest.mark.parametrize("unit", REPLIES)
def test_finding_the_answer_of_a_reply_is_linear(unit):
    def found(text):
        return [extract_answer(head + text + tail) for head, tail in DRESSES]

    assert_linear(found, repeated(unit), sizes=(50_000, 200_000))


@pytest.mark.parametrize("unit", ["I ", "cannot ", "sorry ", "\\text{", "{", "no ", "’"])
def test_telling_a_refusal_is_linear(unit):
    assert_linear(is_refusal, repeated(unit))


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        " ",
        "{",
        r"\frac",
        r"\sqrt{",
        "(",
        "1,",
        "+1",
        "\u0301",
        "\ufdfa",
        "x^",
        "|",
        r"\{",
        "1 not ",
        "(B) ",
        "one ",
    ],
)
def test_comparing_long_answers_is_linear(unit):
    assert_linear(lambda text: equivalent(text, text + "1"), repeated(unit))


NESTED = [
    (r"\{", r"\}"),
    (r"\{1,", r"\}"),
    (r"\{1,\{", r"\},2\}"),
    ("(1,", ")"),
    ("(", ")"),
    (r"2\frac{", "}{3}"),
    (r"\frac{1}{", "}"),
    (r"\sqrt{", "}"),
    ("x=", ""),
    (r"\lfloor ", r"\rfloor "),
    (r"\text{", "}"),
    (r"\boxed{", "}"),
    ("2^{", "}"),
    ("|", "|"),
]


@pytest.mark.parametrize(("opening", "closing"), NESTED)
def test_what_is_nested_does_not_multiply_the_work_at_every_level(opening, closing):
    def compared(text):
        return equivalent(text, text), equivalent(text, text.replace("7", "8"))

    def nested(size):
        depth = size // len(opening + closing)
        return opening * depth + "7" + closing * depth

    assert_linear(compared, nested, sizes=(60, 120, 240), doubling=6)


def test_the_work_on_all_values_of_a_comparison_is_bounded():
    exact, big = Exact(), apply("pow", number(3), number(MAX_BITS // 2))
    quotients = (apply("div", big, apply("add", big, number(term))) for term in range(1, 10_000))
    computed = 0
    with contextlib.suppress(NotRationalError):
        for quotient in quotients:
            exact.value(quotient)
            computed += 1
    assert 10 < computed < 1_000


@pytest.mark.parametrize("op", ["add", "mul"])
def test_a_value_on_the_way_is_no_longer_than_the_last_one_may_be(op):
    terms = [apply("pow", number(base), number(-MAX_BITS // 12)) for base in (3, 5, 7, 11, 13, 17)]
    with pytest.raises(NotRationalError):
        Exact().value(Node(op, (*terms, *terms)))


MACROS = r"\frac \sqrt \sqrt[3] \boxed \text \binom \left \right \pm \cup \in \log_ \sin \lfloor \rfloor \overline"
SIGNS = r"{ } ( ) [ ] | ^ _ & , ; : = < > ! % $ + - * / . \{ \} \\ ** and (cm) six \begin{pmatrix} \end{pmatrix}"
ATOMS = ["1", "23", "0", "x", "e", "i", "9^99", "1e400", " ", "\u0301", "\ufdfa", "\u200b", "½", "٣", "\ud800"]
hostile = st.lists(st.sampled_from([*MACROS.split(), *SIGNS.split(" "), *ATOMS]), max_size=40).map("".join)


@settings(max_examples=300)
@given(hostile, hostile)
def test_hostile_latex_gets_a_plain_answer_and_the_same_one_in_both_orders(left, right):
    assert equivalent(left, right) in (True, False)
    assert equivalent(left, right) is equivalent(right, left)


@settings(max_examples=300)
@given(hostile, st.sampled_from([r"\boxed{%s}", "The answer is %s", "### Final Answer\n%s", "#### %s", "%s"]))
def test_an_answer_that_is_found_is_equal_to_itself(text, dress):
    found = extract_answer(dress.replace("%s", text))
    assert found.text is None or equivalent(found.text, found.text)
