"""Curves over time: what they say, how they are drawn, and the same as figures."""

from datetime import UTC, datetime, timedelta

import pytest

from reasoningbank_langgraph.policies import Credit, Evidence, GroupCredit, Guard, Trial
from reasoningbank_langgraph.records import Provenance
from reasoningbank_langgraph.view.charts import Curve, chart
from tests.small_bank import lesson
from tests.view.visitor import Visitor, bank_with

START = datetime(2026, 1, 1, tzinfo=UTC)


def curve(name, *values, every=timedelta(days=1)):
    return Curve(name, "success", [(START + number * every, value) for number, value in enumerate(values)])


def say(bank, attempt, credit, *ids):
    source = Provenance(attempt_digest=attempt)
    bank.add([], evidence=Evidence(credit=GroupCredit(ids=ids, credit=credit, known_as=attempt, provenance=source)))


def solve(bank, task, *, right, withheld=None, model="small", test=0):
    trial = Trial(guard=Guard(model=model), task_key=task, test=test, withheld=withheld, right=right)
    bank.add([], evidence=Evidence(trial))


@pytest.fixture
def bank():
    """Two lessons of which attempts said something, and a guard that counted tasks with memory and without."""
    bank = bank_with(lesson(0), lesson(1))
    say(bank, "both", Credit(1, 1, 0, 0), "lesson-0", "lesson-1")
    say(bank, "one", Credit(1, 0, 1, 0), "lesson-0")
    for task, right, withheld in (("a", True, None), ("b", False, "held_out"), ("c", False, None), ("d", True, None)):
        solve(bank, task, right=right, withheld=withheld)
    return bank


def test_what_a_group_said_of_several_lessons_is_told_once_oldest_first(bank):
    before = datetime.now(UTC)
    say(bank, "later", Credit(2, 0, 0, 2), "lesson-1")
    both, one, later = bank.credit_history()
    assert (set(both.ids), both.credit) == ({"lesson-0", "lesson-1"}, Credit(1, 1, 0, 0))
    assert (one.ids, later.ids) == (("lesson-0",), ("lesson-1",))
    assert both.time <= one.time <= before <= later.time
    assert bank.as_of(before).credit_history() == [both, one]


def test_tasks_that_a_guard_counted_are_told_by_model_oldest_first_and_each_once(bank):
    told = bank.trial_history("small")
    assert [(one.shown, one.right) for one in told] == [(True, True), (False, False), (True, False), (True, True)]
    assert [one.time for one in told] == sorted(one.time for one in told)
    assert bank.as_of(told[1].time).trial_history("small") == told[:2]
    solve(bank, "a", right=False, model="large")
    assert [one.right for one in bank.trial_history("large")] == [False]
    assert len(bank.trial_history("small")) == 4
    assert bank.trial_history() == []


def test_counts_begin_at_zero_and_rise_in_steps_to_their_last_value():
    drawing = chart([curve("fixed", 1, 3, 4)])
    (line,) = drawing.lines
    assert (line.name, line.said) == ("fixed", "4")
    assert line.path.startswith(f"M{drawing.left} {drawing.bottom:.1f}H{drawing.left}")
    assert line.path.endswith(f"H{drawing.right}V{drawing.top:.1f}H{drawing.right}")
    assert [tick.text for tick in drawing.up] == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize(("last", "ticks"), [(0, "0 1"), (1, "0 1"), (7, "0 2 4 6 8"), (139, "0 50 100 150")])
def test_the_axis_of_counts_has_round_numbers(last, ticks):
    assert [tick.text for tick in chart([curve("fixed", 0, last)]).up] == ticks.split()


def test_shares_reach_from_nothing_to_all_whatever_their_values():
    drawing = chart([curve("with memory", 0.5, 0.25)], share=True)
    assert [tick.text for tick in drawing.up] == ["0%", "50%", "100%"]
    assert drawing.lines[0].said == "25%"
    assert drawing.lines[0].path.startswith(f"M{drawing.left} {(drawing.top + drawing.bottom) / 2:.1f}")


def test_the_axis_of_time_tells_its_ends_apart():
    forms = ((timedelta(days=9), "2026-01-10"), (timedelta(hours=9), "01-01 09:00"), (timedelta(seconds=9), "00:00:09"))
    for every, last in forms:
        ticks = chart([curve("fixed", 1, 2, every=every)]).across
        assert [tick.anchor for tick in ticks] == ["start", "middle", "end"]
        assert ticks[-1].text == last
    assert [tick.text for tick in chart([curve("fixed", 1)]).across] == ["2026-01-01 00:00:00"]


def test_names_of_lines_that_end_together_stand_apart_the_higher_one_first():
    drawing = chart([curve("broke", 0, 9), curve("fixed", 0, 10)])
    assert [line.name for line in drawing.lines] == ["fixed", "broke"]
    assert drawing.lines[1].name_y - drawing.lines[0].name_y >= 13


def test_a_long_curve_has_a_step_for_each_pixel_at_most_and_few_figures():
    drawing = chart([curve("fixed", *range(1, 5001), every=timedelta(minutes=1))])
    assert drawing.lines[0].path.count("H") <= drawing.right - drawing.left + 2
    assert len(drawing.rows) == 12
    assert (drawing.rows[0][1], drawing.rows[-1][1]) == (["1"], ["5000"])


def test_figures_say_what_each_line_was_at_that_time_and_nothing_before_a_share_is_known():
    late = Curve("without", "quiet", [(START + timedelta(days=1), 1.0)])
    early = curve("with memory", 0.5, 0.5, 0.25)
    assert [values for _, values in chart([early, late], share=True).rows] == [
        ["", "50%"],
        ["100%", "50%"],
        ["100%", "25%"],
    ]


def test_only_what_happened_while_there_were_values_is_marked():
    marks = [(START + timedelta(days=day), name) for day, name in ((-1, "on"), (1, "off"), (9, "on"))]
    (mark,) = chart([curve("fixed", 1, 2, 3)], marks=marks).marks
    assert mark.text == "off"


def test_without_a_value_there_is_no_chart():
    assert chart([curve("fixed"), curve("broke")]) is None


def test_worth_shows_how_tasks_and_pairs_went_in_time_as_curves_and_as_figures(bank):
    document = Visitor(bank).page("/worth")
    for said in ("with memory 67%", "without 0%", "fixed 1", "broke 1"):
        assert said in document.text
    assert [tag for tag, _ in document.elements].count("table") == 2


def test_a_lesson_has_curves_of_what_was_said_of_it_alone(bank):
    visitor = Visitor(bank)
    assert "fixed 1" in visitor.page("/entry", id="lesson-1").text
    assert "broke 0" in visitor.page("/entry", id="lesson-1").text
    assert "broke 1" in visitor.page("/entry", id="lesson-0").text
    bank.add([lesson(2)])
    assert "figure" not in [tag for tag, _ in visitor.page("/entry", id="lesson-2").elements]


def test_the_moment_at_which_memory_was_switched_is_marked():
    bank = bank_with(lesson(0))
    for number in range(8):
        for arm, withheld in ((False, None), (True, "held_out")):
            solve(bank, f"{number} {arm}", right=arm, withheld=withheld)
    assert bank.guard("small").state == "off"
    source = Visitor(bank).client.get("/worth").text
    assert source.count('class="mark"') == 1
    assert ">off</text>" in source
