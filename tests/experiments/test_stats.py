"""The statistics give what published examples give, and say so where data cannot tell."""

import math
import random
from itertools import combinations

import pytest

from reasoningbank_langgraph.experiments.stats import (
    detectable,
    holm,
    mcnemar_p,
    mcnemar_power,
    mean_difference,
    pair,
    share,
)

from .fake_rows import needs_extra

pytestmark = needs_extra


def outcomes(right, of, seed=0):
    return {(seed, f"p{number}"): number < right for number in range(of)}


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3 (Wilson)
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval_of_a_share_is_the_published_one(right, of, low, high):
    found = share(outcomes(right, of))
    assert (found.value, round(found.low, 4), round(found.high, 4)) == (right / of, low, high)


def test_more_seeds_of_the_same_problems_do_not_make_an_interval_narrower():
    once, thrice = outcomes(15, 40), {(seed, f"p{n}"): n < 15 for seed in range(3) for n in range(40)}
    assert share(thrice) == share(once)


def test_the_share_of_nothing_is_unknown():
    assert (share({}).low, share({}).high) == (0.0, 1.0)


def test_arms_are_matched_by_problem_and_seed_and_the_rest_is_counted():
    first = {(0, "a"): True, (0, "b"): False, (1, "a"): False, (0, "only here"): True, (0, "c"): True, (0, "d"): False}
    second = {(0, "a"): False, (0, "b"): True, (1, "a"): True, (7, "b"): True, (0, "c"): True, (0, "d"): False}
    met = pair(first, second)
    assert met.differences == {"a": 0.0, "b": 1.0, "c": 0.0, "d": 0.0}
    assert met.fixed == [(0, "b"), (1, "a")]
    assert met.broken == [(0, "a")]
    assert (met.pairs, met.better, met.worse) == (5, 1, 0)


def changed(better, worse, of):
    return [1.0] * better + [-1.0] * worse + [0.0] * (of - better - worse)


@pytest.mark.parametrize(
    ("better", "worse", "of", "low", "high"),
    [
        # By hand: d = -19/102, s = 32/102, 1.959964 times the root of (s - d²)/102 is 0.102511
        (6, 25, 100, -0.288786, -0.083764),
        # By hand: d = 0, s = 3/12, 1.959964 times the root of 3/144 is 0.282896
        (1, 1, 10, -0.282896, 0.282896),
        # By hand: d = 1/3, s = 2/3, 1.959964 times the root of 5/27 is 0.843434; no difference is above 1
        (1, 0, 1, -0.510101, 1.0),
        (0, 1, 1, -1.0, 0.510101),
    ],
)
def test_the_interval_of_a_difference_is_that_of_agresti_and_min(better, worse, of, low, high):
    found = mean_difference(changed(better, worse, of))
    assert found.value == pytest.approx((better - worse) / of)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))
    assert found.method == "agresti-min"


def test_where_no_problem_differs_the_interval_is_as_wide_as_for_a_share_of_none():
    found, none = mean_difference([0.0] * 20), share(outcomes(0, 20))
    assert (found.value, found.low, found.high) == (0.0, pytest.approx(-none.high), pytest.approx(none.high))
    assert found.method == "wilson"


def coverage(of, better, worse):
    """How often the interval holds the true difference: a sum over all that can come out, with its chance."""
    covered = 0.0
    for up in range(of + 1):
        for down in range(of + 1 - up):
            chance = math.comb(of, up) * math.comb(of - up, down)
            chance *= better**up * worse**down * (1 - better - worse) ** (of - up - down)
            if chance > 1e-6:
                found = mean_difference(changed(up, down, of))
                covered += chance * (found.low <= better - worse <= found.high)
    return covered


@pytest.mark.parametrize("of", [30, 60, 100])
@pytest.mark.parametrize(
    ("better", "worse"), [(0.02, 0.02), (0.02, 0.0), (0.06, 0.02), (0.1, 0.04), (0.05, 0.0), (0.2, 0.08)]
)
def test_the_interval_covers_the_truth_as_often_as_it_says_where_few_problems_differ(of, better, worse):
    assert coverage(of, better, worse) >= 0.94


def test_the_interval_of_several_seeds_covers_the_truth_as_well():
    covered = 0
    for trial in range(500):
        draw = random.Random(trial)
        hard = [draw.choice([0.05, 0.5, 0.9]) for _ in range(40)]
        found = mean_difference(
            [sum((draw.random() < one + 0.05) - (draw.random() < one) for _ in range(3)) / 3 for one in hard]
        )
        covered += found.low <= 0.05 <= found.high
    assert covered / 500 >= 0.94


@pytest.mark.parametrize("value", [0.0, 1.0, -1.0, 1 / 3])
@pytest.mark.parametrize("of", [1, 2, 30])
def test_data_without_variation_never_look_certain(value, of):
    found = mean_difference([value] * of)
    assert -1 <= found.low <= value <= found.high <= 1
    assert found.high - found.low > 1 / of / 2


def test_there_is_no_difference_of_no_problems():
    assert mean_difference([]) is None
    assert detectable([]) is None


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [
        # Fay, "Exact McNemar's Test and Matching Confidence Intervals" (vignette of R package exact2x2)
        (9, 2, 0.06543),
        # Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13:91 (2013), table 1: a stem cell trial
        (7, 1, 0.0703),
        (0, 0, 1.0),
        (5, 5, 1.0),
    ],
)
def test_the_exact_test_gives_the_published_p(better, worse, p):
    assert mcnemar_p(better, worse) == pytest.approx(p, abs=0.00005)
    assert mcnemar_p(worse, better) == mcnemar_p(better, worse)


def test_several_p_values_are_adjusted_as_in_the_textbook_example():
    """Wikipedia, "Holm-Bonferroni method", example: H4 and H1 are rejected, H3 and H2 are not."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_adjusted_p_values_are_those_of_the_closed_test():
    """Holm's is the closed test of Bonferroni's (Marcus, Peritz and Gabriel 1976), which is simple and slow."""
    for seed in range(20):
        draw = random.Random(seed)
        values = [draw.choice([0.0, 0.5, draw.random(), draw.random() / 50]) for _ in range(draw.randint(1, 8))]
        families = [family for size in range(1, 9) for family in combinations(range(len(values)), size)]
        tested = {family: min(1.0, len(family) * min(values[at] for at in family)) for family in families}
        closed = [max(p for family, p in tested.items() if at in family) for at in range(len(values))]
        assert holm(values) == pytest.approx(closed)


def test_the_power_of_the_exact_test_is_the_published_one():
    """G*Power manual, "Proportions: two dependent groups (McNemar)", after O'Brien (2002): one-sided 5 %, N = 50."""
    assert mcnemar_power(50, 0.40, 0.32 - 0.08, alpha=0.10) == pytest.approx(0.839343, abs=0.0001)


def test_the_detectable_difference_is_the_one_that_is_seen_in_four_of_five_runs():
    differences = [1] * 12 + [-1] * 8 + [0] * 80
    least = detectable(differences)
    assert mcnemar_power(100, max(0.2, least), least) == pytest.approx(0.8, abs=0.001)
    assert detectable(differences, alpha=0.05 / 6) > least
    assert detectable([difference / 3 for difference in differences]) == pytest.approx(least / 3)


def test_too_few_problems_can_show_nothing():
    assert detectable([1, 0, 0, -1, 0]) is None  # even five of five would have p = 0.06
    assert detectable([0] * 20) == pytest.approx(0.366, abs=0.01)
