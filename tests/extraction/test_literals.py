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


@pytest.mark.parametrize(
    ("answer", "lesson", "named"),
    [
        ("-12", "The sum is -12, as the debt is larger.", ["-12"]),
        ("-12", "Take 20-12 away.", []),
        ("-3", "Then x = -3.", ["=-3"]),
        ("1,250", "It comes to 1250.", ["1250"]),
        ("3/4", "So the share is 3/4 of it.", ["=3/4"]),
        ("3/4", "Compare the share with 3/4 first; it is 3/40.", []),
        (r"\frac{3}{4}", r"The probability is $\frac{3}{4}$.", [r"\frac{3}{4}"]),
        ("12:30", "The train leaves at 12:30.", ["12:30"]),
        (r"5\sqrt{2}", r"The diagonal has 5\sqrt{2}.", [r"5\sqrt{2}"]),
        ("the red one", "Choose the red one.", ["the red one"]),
        ("the red one", "Sort the redones.", []),
        ("well-known", "It is a well-known one.", ["well-known"]),
        ("no reason " * 50, "Say no reason twice.", []),
    ],
)
def test_an_answer_is_found_however_it_is_written(answer, lesson, named):
    attempt = Attempt(task="How much is left?", answer="\\boxed{none}", reference=answer)
    assert named_literals(lesson, task_literals(attempt)) == named


def agent(arguments, result="cancelled", task="What is the status of Bob's order 4?"):
    call = {"id": "call_A1234", "function": {"name": "status", "arguments": arguments}}
    answered = {"role": "tool", "content": result, "tool_call_id": "call_A1234"}
    return Attempt(task=task, messages=[{"role": "assistant", "tool_calls": [call]}, answered])


@pytest.mark.parametrize(
    ("attempt", "lesson", "named"),
    [
        (agent({"order": "BOB-4"}), "Call status with order BOB-4.", ["BOB-4"]),
        (agent({"order": "BOB-4"}), "Call status with order bob-4, not BOB-41.", ["BOB-4"]),
        (agent({"filter": [{"ids": ["ord_48213"]}]}), "Filter by `ord_48213`.", ["ORD_48213"]),
        (agent('{"order": "BOB-4"}'), "Call status('BOB-4').", ["BOB-4"]),
        (agent({"order": 48213}), "Ask for order 48213 first.", ["48213"]),
        (agent({"name": "Bob"}, "Bob has order BOB-4"), "Take BOB-4 from the result.", ["BOB-4"]),
        (agent({}, task="Why did JIRA-812 fail?"), "Look at JIRA-812 first.", ["812", "JIRA-812"]),
        (agent({"encoding": "utf-8", "python": "python3"}), "Open the file as UTF-8 with python3.", []),
        (agent({"code": "x1 = Conv2D(3)"}, "Conv2D has no x1; see call_A1234"), "Give Conv2D its x1 first.", []),
        (agent({"retries": 30}), "Ask again up to 30 times.", []),
    ],
)
def test_identifiers_that_tools_work_on_are_details_and_names_of_techniques_are_not(attempt, lesson, named):
    assert named_literals(lesson, task_literals(attempt)) == named
