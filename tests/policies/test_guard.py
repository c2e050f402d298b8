"""A guard finds harm in time, raises few false alarms, and changes its mind."""

import math
import re

import pytest

from reasoningbank_langgraph import Guard
from reasoningbank_langgraph.errors import InvalidRecordError
from reasoningbank_langgraph.policies import GuardStatus, Pairs
from reasoningbank_langgraph.policies.evidence import evidence, log_evidence
from tests.policies.guard_runs import first_decisions, paired_runs, parts_shown, shows

KEYS = [f"task {number}" for number in range(2000)]


def exact(against, in_favour):
    """The formula in whole numbers: dividend and divisor."""
    pairs, total, chosen = against + in_favour, 0, 1
    for j in range(against + 1):
        total, chosen = total + chosen, chosen * (pairs + 1 - j) // (j + 1)
    return total, (pairs + 1) * math.comb(pairs, against)


def fed(guard, outcomes, status=None):
    """Feed a guard pairs (with memory, without)."""
    status = status or GuardStatus()
    for shown, held_out in outcomes:
        status = guard.after(guard.after(status, shown=True, right=shown), shown=False, right=held_out)
    return status


def test_evidence_is_the_exact_sum():
    for against in range(30):
        for in_favour in range(30):
            total, divisor = exact(against, in_favour)
            assert math.isclose(evidence(against, in_favour), total / divisor, rel_tol=1e-12)


@pytest.mark.parametrize("against", [0, 4_999, 5_000, 5_001, 5_200, 6_500, 10_000])
def test_evidence_of_ten_thousand_pairs_is_the_exact_sum(against):
    total, divisor = exact(against, 10_000 - against)
    logarithm = math.log(total) - math.log(divisor)
    assert math.isclose(log_evidence(against, 10_000 - against), logarithm, rel_tol=1e-9, abs_tol=1e-9)


def test_evidence_is_a_martingale_where_memory_has_no_effect():
    assert evidence(0, 0) == 1
    for against in range(40):
        for in_favour in range(40):
            after = (evidence(against + 1, in_favour) + evidence(against, in_favour + 1)) / 2
            assert math.isclose(after, evidence(against, in_favour), rel_tol=1e-12)


def test_evidence_beyond_the_largest_float_is_still_a_number():
    assert evidence(10_000, 0) > 1e300
    assert math.isfinite(evidence(10_000, 0))


def test_memory_that_hurts_as_much_as_measured_is_off_within_sixty_pairs():
    assert paired_runs(0.06, 0.25).median_off <= 60


def test_memory_without_effect_is_switched_off_in_at_most_one_run_of_twenty():
    assert paired_runs(0.155, 0.155).part_off(400) <= 0.05


def test_memory_that_helps_is_never_switched_off():
    runs = paired_runs(0.25, 0.06)
    assert runs.part_off(400) == 0
    assert runs.confirmed.min() >= 1


def test_mild_harm_is_found_late():
    runs = paired_runs(0.10, 0.15, pairs=4000)
    assert runs.part_off(60) < 0.1
    assert runs.part_off(4000) > 0.9


def test_the_guard_decides_where_the_simulated_ones_do():
    status = fed(Guard(), [(False, True)] * 6)
    assert (status.state, status.pairs) == ("trying", Pairs(broken=6))
    status = fed(Guard(), [(False, True)], status)
    assert (status.state, status.decided_by, status.changes) == ("off", Pairs(broken=7), 1)
    assert Pairs(broken=7).hurts >= 20 > Pairs(broken=6).hurts


def test_streams_with_every_fifth_task_held_out_are_decided_rightly():
    found = first_decisions(Guard(), 0.52, 0.71, runs=20)
    assert [state for _, state in found].count("off") >= 19
    found = first_decisions(Guard(share=0.5), 0.71, 0.52, runs=20)
    assert [state for _, state in found].count("on") >= 19


def test_a_guard_switches_on_again_where_memory_begins_to_help():
    status = fed(Guard(), [(False, True)] * 7)
    status = fed(Guard(), [(True, True)] * 50 + [(True, False)] * 7, status)
    assert (status.state, status.changes, status.tests) == ("on", 2, 2)


def test_a_decision_that_confirms_the_state_begins_a_new_test():
    status = fed(Guard(), [(True, False)] * 70)
    assert (status.state, status.tests, status.changes) == ("on", 10, 1)
    assert fed(Guard(), [(False, True)] * 7, status).state == "off"


def test_a_guard_shows_memory_to_all_but_its_share_of_tasks():
    shown = [shows(Guard(), key, GuardStatus()) for key in KEYS]
    assert 0.77 < sum(shown) / len(shown) < 0.83


def test_switched_off_it_shows_memory_to_a_quarter_of_its_share():
    off = GuardStatus(state="off", tests=1)
    assert 0.035 < sum(shows(Guard(), key, off) for key in KEYS) / len(KEYS) < 0.065


def part_held_out(**pairs):
    """The part of the tasks that guards who know such pairs hold out: still trying, and switched off."""
    known = Pairs(**pairs)
    return [Guard().held_out(GuardStatus(state=state, pairs=known)) for state in ("trying", "off")]


def test_the_likelier_harm_is_the_fewer_tasks_see_memory():
    trying = [part_held_out(broken=broken)[0] for broken in range(7)]
    assert trying == sorted(set(trying))
    assert math.isclose(trying[0], 0.2)
    assert math.isclose(trying[1], 0.2 + 0.5 * 0.75)
    assert 0.9 < trying[-1] < 0.95
    assert part_held_out(broken=5)[1] == part_held_out()[1] == 0.95


def test_the_likelier_help_is_the_more_tasks_see_memory_that_was_off():
    off = [part_held_out(fixed=fixed)[1] for fixed in range(7)]
    assert off == sorted(set(off), reverse=True)
    assert 0.2 < off[-1] < 0.25
    assert part_held_out(fixed=5)[0] == part_held_out(fixed=2, broken=2, ties=9)[0] == 0.2


def test_the_chance_of_harm_is_that_of_the_pairs_that_differ():
    for broken in range(12):
        for fixed in range(12):
            differ = broken + fixed
            expected = sum(math.comb(differ + 1, j) for j in range(broken + 1)) / 2 ** (differ + 1)
            assert math.isclose(Pairs(broken=broken, fixed=fixed).harm_chance, expected, rel_tol=1e-12)


def test_harm_is_held_off_before_it_is_proven_and_good_memory_is_hardly_withheld():
    bad, good = parts_shown(Guard(), 0.52, 0.71, runs=30), parts_shown(Guard(), 0.71, 0.52, runs=30)
    assert bad[:100].mean() < 0.6
    assert bad[200:].mean() < 0.25
    assert good.mean() > 0.72


def test_memory_without_effect_in_a_stream_is_switched_off_as_rarely():
    found = first_decisions(Guard(alpha=0.2), 0.7, 0.7, runs=60, tasks=300)
    assert [state for _, state in found].count("off") <= 0.25 * 60


def test_the_same_task_is_held_out_again_in_the_same_test_and_drawn_anew_in_the_next():
    guard, first, second = Guard(), GuardStatus(), GuardStatus(state="on", tests=1)
    held_out = {key for key in KEYS if not shows(guard, key, first)}
    assert held_out == {key for key in KEYS if not shows(Guard(), key, first)}
    assert len(held_out & {key for key in KEYS if not shows(guard, key, second)}) < 0.3 * len(held_out)
    assert held_out != {key for key in KEYS if not shows(Guard(seed=1), key, first)}


def test_tasks_without_a_partner_wait_for_one():
    guard, status = Guard(), GuardStatus()
    for right in (True, True, False):
        status = guard.after(status, shown=True, right=right)
    assert (status.shown, status.shown_right, status.pairs) == (3, 2, Pairs())
    status = guard.after(status, shown=False, right=True)
    assert (status.held_out, status.pairs, status.waiting_shown) == (1, Pairs(broken=1), (True, True))
    for _ in range(100):
        status = guard.after(status, shown=True, right=True)
    assert len(status.waiting_shown) == 8


def test_a_status_comes_back_from_json():
    status = fed(Guard(), [(False, True)] * 8 + [(True, True)])
    assert GuardStatus.model_validate(status.to_json()) == status


@pytest.mark.parametrize("options", [{"share": 0}, {"share": 1}, {"share": 1.5}, {"alpha": 0}, {"alpha": -1}])
def test_a_share_or_alpha_that_is_no_part_is_named(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be between 0 and 1"):
        Guard(**options)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"share": "0.2"}, "share must be a number, got str: '0.2'"),
        ({"share": True}, "share must be a number, got bool"),
        ({"alpha": None}, "alpha must be a number, got NoneType"),
        ({"model": None}, "model must be the name of a model, got NoneType"),
        ({"model": object}, "model must be the name of a model, got type"),
        ({"seed": "x"}, "seed must be a whole number, got str: 'x'"),
        ({"seed": 1.0}, "seed must be a whole number, got float: 1.0"),
        ({"seed": False}, "seed must be a whole number, got bool"),
    ],
)
def test_what_is_of_another_type_is_named(options, told):
    with pytest.raises(TypeError, match=re.escape(told)):
        Guard(**options)


def test_counts_below_zero_are_refused():
    with pytest.raises(InvalidRecordError):
        Pairs(broken=-1)
