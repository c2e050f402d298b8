"""Sentences claim what the figures hold: no difference is denied without the one that could have been shown."""

import pytest

from reasoningbank_langgraph.experiments.stats import Interval
from reasoningbank_langgraph.experiments.summary import Comparison
from reasoningbank_langgraph.experiments.wording import (
    below_heading,
    below_headline,
    caveat,
    claim,
    conclusion,
    heading,
    headline,
    p_value,
    points,
    power,
)


def compared(low=-0.05, high=0.15, p=0.4, **changes):
    value = changes.pop("value", (low + high) / 2)
    given = {
        "arm": "memory",
        "against": "baseline",
        "group": "arm",
        "problems": 50,
        "pairs": 50,
        "left_out": 0,
        "difference": Interval(value=value, low=low, high=high, method="agresti-min"),
        "fixed": (),
        "broken": (),
        "better": 5,
        "worse": 2,
        "p": p,
        "p_holm": p,
        "tests": 1,
        "detectable": 0.1612,
        "unflagged": None,
        "unflagged_problems": 50,
        "says": "",
    }
    return Comparison.model_validate({**given, **changes})


COULD = "This run could have shown a true difference of 17 points or more (in 4 of 5 such runs)."


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, f"No difference between memory and baseline could be shown: +5.0 points [−5.0, +15.0], p = 0.4. {COULD}"),
        ({"low": 0.02, "high": 0.2, "p": 0.01}, "memory gained on baseline: +11.0 points [+2.0, +20.0], p = 0.01."),
        ({"low": -0.2, "high": -0.02, "p": 0.0004}, "memory lost to baseline: −11.0 points [−20.0, −2.0], p < 0.001."),
        ({"difference": None}, "memory and baseline have no problem in common, so nothing can be said."),
    ],
)
def test_a_claim_has_size_interval_and_p_and_a_denial_also_what_could_have_been_shown(given, said):
    assert claim(compared(**given)) == said


def test_a_p_that_was_adjusted_says_for_how_many_comparisons():
    assert ", p = 0.4 adjusted for 2 comparisons." in claim(compared(tests=2))
    assert "adjusted" not in claim(compared(tests=1))


@pytest.mark.parametrize(
    ("detectable", "said"),
    [
        (0.1612, COULD),
        (0.16, COULD.replace("17", "16")),
        (0.01, COULD.replace("17 points", "1 point")),
        (None, "With 50 problems no difference of any size could have been shown reliably."),
    ],
)
def test_the_difference_that_could_have_been_shown_is_never_rounded_down(detectable, said):
    assert power(compared(detectable=detectable)) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, ""),
        ({"low": 0.01, "p": 0.06}, "The interval leaves out 0, the test does not: a hint, no finding."),
        ({"high": -0.01, "low": -0.2, "p": 0.05}, "The interval leaves out 0, the test does not: a hint, no finding."),
        ({"p": 0.04}, "The test rules out chance, the interval does not, and both are required."),
        ({"low": 0.01, "p": 0.04}, ""),
        ({"difference": None}, ""),
    ],
)
def test_interval_and_test_that_disagree_are_said_to(given, said):
    assert caveat(compared(**given)) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, f"No difference shown. {COULD}"),
        (
            {"low": 0.01},
            f"No difference shown. {COULD} The interval leaves out 0, the test does not: a hint, no finding.",
        ),
        ({"low": 0.01, "p": 0.01}, "Memory is better than baseline."),
        ({"low": -0.3, "high": -0.1, "p": 0.01}, "Memory is worse than baseline."),
        ({"difference": None}, "No problem in common."),
    ],
)
def test_beside_its_figures_a_comparison_has_a_conclusion(given, said):
    assert conclusion(compared(**given)) == said


def against(control, **changes):
    return compared(against=control, group="control", **changes)


def test_controls_that_memory_was_not_shown_to_beat_stand_with_their_intervals_and_the_weakest_power():
    gained = compared(low=0.02, high=0.2, p=0.01)
    controls = [against("shuffled", detectable=0.12), against("random", detectable=0.19), against("filler")]
    said = below_headline([gained, *controls])
    for control in ("shuffled", "random", "filler"):
        assert f"{control} (+5.0 points [−5.0, +15.0])" in said
    assert said.startswith("Memory was not shown to be better than shuffled (")
    assert said.endswith(COULD.replace("17", "19"))
    none = below_headline([gained, *controls, against("other", detectable=None)])
    assert none.endswith("With 50 problems no difference of any size could have been shown reliably.")


def test_controls_that_memory_beat_or_lost_to_are_told_apart():
    beat, lost = {"low": 0.02, "high": 0.2, "p": 0.01}, {"low": -0.2, "high": -0.02, "p": 0.01}
    said = below_headline(
        [compared(), against("random", **beat), against("filler", **beat), against("shuffled", **lost)]
    )
    assert said == (
        "Memory was better than the controls random and filler. Memory was not shown to be better than shuffled "
        "(−11.0 points [−20.0, −2.0]): no gain can be put down to what the lessons say."
    )
    assert below_headline([compared(), against("random", **beat)]) == "Memory was better than the control random."


def test_the_headline_is_about_memory_before_any_other_arm():
    other = compared(arm="matts-parallel-3")
    assert headline([other, compared()]).startswith("No difference between memory and baseline")
    assert headline([other]).startswith("No difference between matts-parallel-3 and baseline")
    assert headline([against("filler")]) == "There is nothing to compare yet."


NOTHING = "No difference between memory and baseline could be shown."
FIGURES = "The difference is +5.0 points [−5.0, +15.0], p = 0.4."


@pytest.mark.parametrize(
    ("given", "said", "below"),
    [
        ([compared()], NOTHING, f"{FIGURES} {COULD}"),
        ([compared(), against("filler")], NOTHING, f"{FIGURES} {below_headline([compared(), against('filler')])}"),
        (
            [compared(), against("filler", detectable=0.19)],
            NOTHING,
            f"{FIGURES} {COULD} {below_headline([compared(), against('filler', detectable=0.19)])}",
        ),
        (
            [compared(low=0.02, high=0.2, p=0.01), against("random", low=0.02, high=0.2, p=0.01)],
            "Memory gained on baseline: +11.0 points [+2.0, +20.0], p = 0.01.",
            "Memory was better than the control random.",
        ),
        ([compared(difference=None)], "Memory and baseline have no problem in common, so nothing can be said.", ""),
        ([], "There is nothing to compare yet.", ""),
    ],
)
def test_where_nothing_was_shown_the_heading_is_short_and_the_figures_stand_below(given, said, below):
    assert (heading(given), below_heading(given)) == (said, below)


@pytest.mark.parametrize(("share", "said"), [(0.0004, "0.0"), (-0.0004, "0.0"), (0.1, "+10.0"), (-0.055, "−5.5")])
def test_points_have_a_sign_unless_they_are_none(share, said):
    assert points(share) == said


@pytest.mark.parametrize(
    ("p", "said"), [(0.0009, "p < 0.001"), (0.001, "p = 0.001"), (0.234, "p = 0.23"), (1, "p = 1")]
)
def test_a_p_value_is_written_as_people_do(p, said):
    assert p_value(p) == said
