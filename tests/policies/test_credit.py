"""Credit sees what a lesson does, not how easy the tasks are on which it is shown."""

import math

import pytest

from reasoningbank_langgraph.policies import Credit, by_utility, compare, eligible
from tests.policies.lesson_world import see, see_all, selected_by_disagreement


def ranked(seen, value):
    return [one.planted.name for one in sorted(seen, key=value, reverse=True)]


def test_the_success_of_the_tasks_it_is_shown_on_ranks_a_harmful_lesson_above_a_helpful_one():
    order = ranked(see_all(), lambda one: one.confounded)
    assert order.index("harmful on easy tasks") < order.index("helpful on hard tasks")
    assert order.index("useless on easy tasks") < order.index("helpful on hard tasks")


def test_pairs_of_attempts_at_one_task_rank_helpful_useless_harmful():
    kinds = [name.split()[0] for name in ranked(see_all(), lambda one: one.credit.utility)]
    assert kinds == ["helpful", "helpful", "useless", "useless", "harmful", "harmful"]


def test_harmful_lessons_are_found_and_no_others():
    found = {one.planted.name for one in see_all() if one.credit.is_harmful}
    assert found == {"harmful on easy tasks", "harmful on hard tasks"}


def test_a_useless_lesson_is_rarely_taken_for_harmful_however_often_one_looks():
    useless = see_all()[3].planted
    alarms = 0
    for run in range(200):
        credit = Credit()
        for group in range(40):
            credit = Credit.total([credit, see(useless, groups=1, tries=4, seed=1000 * run + group).credit])
            if credit.is_harmful:
                alarms += 1
                break
    assert alarms <= 10


def test_attempts_that_were_chosen_for_their_outcome_are_no_fair_partners():
    """What a lesson does not do would count as its gain: the reason why such groups give no credit."""
    assert selected_by_disagreement(tasks=1000).utility > 0.05


def test_no_evidence_is_neutral():
    assert Credit().utility == 0
    assert Credit(shown=50, ties=50).utility == 0
    assert not Credit(shown=50, ties=50).is_harmful


def test_one_success_or_failure_proves_nothing():
    assert Credit(1, 1, 0, 0).utility == 0
    assert Credit(1, 0, 1, 0).utility == 0


@pytest.mark.parametrize(("more", "fewer"), [(4, 0), (10, 3), (60, 40), (900, 700), (5000, 4000)])
def test_utility_is_a_bound_of_the_posterior(more, fewer):
    beta = pytest.importorskip("scipy.stats").beta
    bound = max(0.0, 2 * float(beta.ppf(0.1, more + 1, fewer + 1)) - 1)
    assert math.isclose(Credit(0, more, fewer, 0).utility, bound, rel_tol=1e-6)
    assert math.isclose(Credit(0, fewer, more, 0).utility, -bound, rel_tol=1e-6)
    assert math.isclose(Credit(0, more, fewer, more + fewer).utility, bound / 2, rel_tol=1e-6)


def test_seven_pairs_lost_and_none_won_are_harm():
    assert not Credit(6, 0, 6, 0).is_harmful
    assert Credit(7, 0, 7, 0).is_harmful
    assert not Credit(14, 7, 7, 0).is_harmful


def test_attempts_are_compared_in_pairs_and_those_without_a_partner_are_only_shown():
    assert compare([True, True, False], [False, True]) == Credit(3, 1, 0, 1)
    assert compare([False], [True]) == Credit(1, 0, 1, 0)
    assert compare([True], []) == Credit(1)


def test_credits_add_up():
    assert Credit.total([Credit(2, 1, 0, 1), Credit(3, 0, 2, 1)]) == Credit(5, 1, 2, 2)
    assert Credit.total([]) == Credit()


def test_utility_reorders_what_is_nearly_as_similar_and_nothing_else():
    scores = {"a": 0.80, "b": 0.78, "c": 0.75, "d": 0.40}
    near = eligible(scores, 2)
    assert near == eligible(scores, 1) == ["a", "b", "c"]
    assert eligible(scores, 4) == ["a", "b", "c", "d"]
    assert by_utility(near, {}) == ["a", "b", "c"]
    assert by_utility(near, {"c": 0.2, "d": 0.9}) == ["c", "a", "b"]
    assert by_utility(near, {"a": -0.1}) == ["b", "c", "a"]
    assert eligible({}, 3) == []


def test_the_nearest_is_eligible_however_far_away_it_is():
    assert eligible({"a": -0.1, "b": -0.105, "c": -0.2}, 1) == ["a", "b"]
    assert eligible({"a": 0.3, "b": -0.2}, 2) == ["a", "b"]
    assert eligible({"a": 0.0, "b": -0.2}, 1) == ["a"]
