"""A weak model writes the solution as a program, which is a lesson if it computes the right answer."""

import pytest
from langchain_core.messages import AIMessage

from reasoningbank_langgraph.extraction import Judged, LessonExtractor
from reasoningbank_langgraph.extraction.formulas import parse_formula
from reasoningbank_langgraph.records import Attempt, Verdict
from reasoningbank_langgraph.testing import ScriptedChatModel

TASK = "Anna works 6 hours at $14 an hour and Ben 2 hours. A fee of 5 dollars is taken from each. How much do they get?"
PROGRAM = """```python
hourly_rate = 14
anna_hours = 6
ben_hours = 2
unused = 99
pay = hourly_rate * (anna_hours + ben_hours)  # both
total_pay = pay - 2 * 5
print(total_pay)
```"""
LESSON = {
    "title": "Total pay",
    "description": "Use this when a problem asks for the total pay and gives the hourly rate, first hours and second "
    "hours, and where total pay = pay - a given number * a given number.",
    "content": "Compute pay = hourly rate * (first hours + second hours), then total pay = pay - a given number * "
    "a given number.",
}
TIP = "When a problem asks for the pay of several people, you multiply the rate by all hours and subtract the fees."
SUCCESS = Verdict(status="success", judge="x")


def attempt(answer="102", reference=None, task=TASK):
    return Attempt(
        task=task, messages=[("user", task), ("ai", f"So it is {answer}.")], answer=answer, reference=reference
    )


def weak(*replies, parameters=1_500_000_000):
    return ScriptedChatModel([AIMessage(text) for text in replies], metadata={"parameters": parameters})


def test_a_program_that_computes_the_right_answer_is_a_lesson_in_named_quantities_without_numbers_and_names():
    chat = weak(PROGRAM)
    assert LessonExtractor(chat).invoke(Judged(attempt(), SUCCESS)).items == [LESSON]
    assert "Write it as a short Python program" in chat.calls[0][-1].text


@pytest.mark.parametrize("answer", ["102", r"\boxed{102}", "$102", "They get 102 dollars.\n#### 102"])
def test_the_answer_may_be_written_in_any_way(answer):
    assert parse_formula(AIMessage(PROGRAM), attempt(answer)).items == [LESSON]


def test_a_program_with_another_result_is_left_out_and_a_tip_is_asked_for():
    chat = weak(PROGRAM, TIP)
    [lesson] = LessonExtractor(chat).invoke(Judged(attempt("101"), SUCCESS)).items
    assert lesson["content"].startswith("You multiply the rate")
    assert len(chat.calls) == 2


def test_of_a_model_of_less_than_a_billion_parameters_a_program_is_all_that_is_asked_for():
    chat = weak(PROGRAM, TIP, parameters=500_000_000)
    assert LessonExtractor(chat).invoke(Judged(attempt("101"), SUCCESS)).reason == "unparsed"
    assert len(chat.calls) == 1


def test_the_known_answer_goes_before_the_one_of_the_attempt():
    assert parse_formula(AIMessage(PROGRAM), attempt("7", "102")).items == [LESSON]
    assert parse_formula(AIMessage(PROGRAM), attempt("102", "7")).items == []


def test_where_the_answer_is_no_number_no_program_is_asked_for():
    chat = weak(TIP)
    assert LessonExtractor(chat).invoke(Judged(attempt("both of them"), SUCCESS)).items
    assert "Python" not in chat.calls[0][-1].text


def test_a_model_that_cannot_be_reached_is_asked_no_second_time():
    def away(_):
        raise ConnectionError("away")

    chat = ScriptedChatModel(away, metadata={"parameters": 1_500_000_000})
    assert LessonExtractor(chat).invoke(Judged(attempt(), SUCCESS)).reason == "error"


def test_another_name_for_what_was_computed_is_no_step():
    program = PROGRAM.replace("total_pay = pay - 2 * 5", "sum_of_pay = pay - 2 * 5\ntotal_pay = sum_of_pay")
    assert parse_formula(AIMessage(program), attempt()).items == [LESSON]


def test_a_step_that_only_converts_units_is_part_of_no_condition():
    program = "minutes = 90\nspeed = 68\nhours = minutes / 60\nway = hours * speed"
    [lesson] = parse_formula(AIMessage(program), attempt(task="How far is 90 minutes at 68 km an hour?")).items
    assert lesson["description"] == "Use this when a problem asks for the way and gives the minutes and speed."


def test_names_are_said_in_words():
    program = "numCars = 51\nper_car2 = 2\ntotal_seats = numCars * per_car2"
    [lesson] = parse_formula(AIMessage(program), attempt(task="How many seats do 51 cars have?")).items
    assert lesson["content"] == "Compute total seats = number of cars * per car2."


def test_numbers_of_a_method_stay_and_those_of_the_task_go():
    task = "A car drives 90 km in 45 minutes, then half as far. How many km is that in all?"
    program = "way = 90\nsecond_way = way / 2\nwhole_way = way + second_way + 0 * 45 * 60"
    [lesson] = parse_formula(AIMessage(program), attempt("135", task=task)).items
    assert "gives the way, and where second way = way / 2 and whole way = " in lesson["description"]
    assert lesson["content"] == (
        "Compute second way = way / 2, then whole way = way + second way + a given number * a given number * 60."
    )


@pytest.mark.parametrize(
    "program",
    [
        "",
        "no program",
        "total = 102",
        "part = 102\ntotal = part",
        "part = 100\ntotal = part + 2 + b",
        "part = 51\npart = part * 2",
        "total = 51\ntotal += 51",
        "part = b = 51\ntotal = part + b",
        "part, b = 51, 51\ntotal = part + b",
        "part = 51\ntotal = sum([part, part])",
        "import os\npart = 51\ntotal = part + part",
        "part = 51\nfor _ in range(2):\n    total = part + part",
        "part = 51\ntotal = part + part if part else 0",
        "part = 51\ntotal = (lambda: part + part)()",
        "part = 51\ntotal = part.real + part",
        "part = 51\ntotal = part + part + 0 ** 9",
        "part = 51\ntotal = part + part + True",
        "part = 51\ntotal = part + part + 0 * 1e999",
        "part = 0\ntotal = 102 / part",
        "part = 51\ntotal = part + part\nprint('\\d')",
        "part = 3\n" + "\n".join(f"part{n} = part{n - 1} * part{n - 1}" for n in range(1, 60)).replace("part0", "part"),
        "part = 51\ntotal = " + "(" * 900 + "part + part" + ")" * 900,
        "part = 51\ntotal = part + part" + " + 0" * 900,
        "größe = 51\ntotal = größe + größe",
        "\n".join(f"part{n} = 1" for n in range(102)) + "\ntotal = " + " + ".join(f"part{n}" for n in range(102)),
        "part = 1\n"
        + "\n".join(f"part{n} = part + {n}" for n in range(9))
        + "\ntotal = part0 + part8 + 92 + part1 + part2 + part3 + part4 - 14",
        "a = 51\ntotal = a + a",
    ],
    ids=range(27),
)
def test_what_is_no_short_arithmetic_with_the_right_result_gives_no_lesson(program):
    assert parse_formula(AIMessage("part = 51\ntotal = part + part"), attempt()).items
    found = parse_formula(AIMessage(program), attempt())
    assert (found.items, found.reason) == ([], "unparsed")


def test_a_long_sum_is_refused_however_deep_the_call_is():
    def called_from(depth):
        if depth:
            return called_from(depth - 1)
        return parse_formula(AIMessage("part = 51\ntotal = part + part" + "+0" * 900), attempt())

    assert called_from(500).reason == "unparsed"
