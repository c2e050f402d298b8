"""What would give a lesson away as not general: numbers, answer, names and links of its task."""

import pytest

from reasoningbank_langgraph import Attempt
from reasoningbank_langgraph.extraction.literals import named_literals, task_literals

TASK = "Luke had 32 marbles and gave 1,250 to Debby's sister. How many are left? See https://x.invalid/a."
LITERALS = task_literals(Attempt(task=TASK, answer="\\boxed{8}"))


def test_the_details_of_a_task_are_its_numbers_names_links_and_answer():
    assert {"32", "1250", "Luke", "Debby", "https://x.invalid/a.", "=8"} == LITERALS


@pytest.mark.parametrize(
    ("lesson", "named"),
    [
        ("Subtract what is given away from what was there.", []),
        ("Start with 32 and subtract.", ["32"]),
        ("Start with 1,250 marbles.", ["1250"]),
        ("Luke's marbles come first; ask what Debby gets.", ["Debby", "Luke"]),
        ("So the answer is 8.", ["=8"]),
        ("Check that 4 + 4 = 8.", ["=8"]),
        ("Read the task 8 times.", []),
        ("Use 320 or 132 or 3.32 instead.", []),
        ("Look at https://x.invalid/a.", ["https://x.invalid/a."]),
        ("Convert hours to minutes with 60, percent with 100.", []),
        ("The sister of the boy is lucky.", []),
    ],
)
def test_a_lesson_that_names_one_is_found(lesson, named):
    assert named_literals(lesson, LITERALS) == named


@pytest.mark.parametrize(
    "task",
    [
        "How many are left if half of them go?",
        "There are 5 apples. What is left after 2 go?",
        "Factor $x^2 - 5x + 6$.",
        "If X is even, is Y odd?",
        "Add 5 to the sum. Rationalize the denominator. Expand $(x+1)^2$.",
        "Finally, she sold 3. According to the label all was fresh.",
        "Cones cost $2. If she buys 6 cones, what does she pay?",
    ],
)
def test_small_numbers_symbols_and_common_openers_are_no_details(task):
    assert task_literals(Attempt(task=task)) == set()


def test_a_name_at_the_start_of_a_sentence_is_one_and_so_is_a_capital_within_it():
    task = "Luke's 5 apples are red. Nancy, the baker, has 3. How many rose if Rose has 2? Rose a day."
    assert task_literals(Attempt(task=task)) == {"Luke", "Nancy", "Rose"}


def test_the_reference_is_a_detail_too():
    assert "42" in task_literals(Attempt(task="six by seven", answer="\\boxed{41}", reference="42"))
