"""How much solutions of a cycle differ, and when cycles are in vain."""

import pytest

from reasoningbank_langgraph.errors import InvalidRecordError
from reasoningbank_langgraph.experiments.training import CycleSummary
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.train.improvement.compound import in_vain
from reasoningbank_langgraph.train.improvement.variety import Variety
from tests.train import improving

TWO, SIX = Problem("p0", "What is 1 + 1?", "2"), Problem("p1", "What is 2 * 3?", "6")


def test_solutions_are_the_same_where_their_numbers_are_and_repeated_where_their_text_is():
    one, other, another = "4 / 2 is \\boxed{2}.", "Take 4 / 2, which is \\boxed{2}.", "1 + 1 = \\boxed{2}."
    found = Variety.of({TWO: [one, other, one, another]})
    assert (found.attempts, found.right, found.distinct, found.repeated) == (4, 4, 2, 0.25)
    assert found.reply_length == sum(map(len, (one, other, one, another))) / 4


def test_what_is_distinct_is_counted_problem_by_problem_and_among_right_solutions_only():
    found = Variety.of(
        {
            TWO: ["1 + 1 = \\boxed{2}.", "3 - 1 = \\boxed{2}.", "4 - 1 = \\boxed{3}."],
            SIX: ["3 + 3 = \\boxed{6}."],
            TWO._replace(id="p2"): ["5 - 1 = \\boxed{4}."],
        }
    )
    assert (found.right, found.distinct, found.repeated) == (3, 1.5, 0)


def test_no_attempt_has_no_variety():
    assert Variety.of({}) == Variety(0, 0, 0.0, 0.0, 0.0)


def cycles(accepted):
    given = {"bank": 1, "attempts": 1, "right": 1, "distinct": 1, "repeated": 0, "reply_length": 9, "rows": 1}
    return [CycleSummary(cycle=n, accepted=one, reason="r", **given) for n, one in enumerate(accepted, 1)]


@pytest.mark.parametrize(
    ("accepted", "ends"),
    [
        ([], False),
        ([False], False),
        ([False, False], True),
        ([True, False], False),
        ([False, True, False, False], True),
    ],
)
def test_two_cycles_without_an_adapter_are_in_vain(accepted, ends):
    assert in_vain(cycles(accepted)) is ends


@pytest.mark.parametrize("changes", [{"validation": None}, {"protocol": "phase1"}])
def test_validation_problems_belong_to_cycles(changes, tmp_path):
    with pytest.raises(InvalidRecordError, match="protocol 'compound' needs validation problems"):
        improving.compound(tmp_path, **changes)
