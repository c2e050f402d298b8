"""The summary says what the rows say, with no more certainty."""

import sys

import pytest

from reasoningbank_langgraph.errors import MissingDependencyError
from reasoningbank_langgraph.experiments.summarise import summarise
from reasoningbank_langgraph.experiments.summary import Summary

from .fake_rows import config, needs_extra, only, row, rows, two_arms

pytestmark = needs_extra


def test_a_summary_survives_json():
    found = summarise(two_arms(9, 2, 40), config())
    assert Summary.model_validate_json(found.model_dump_json()) == found


def test_an_arm_is_counted_and_averaged():
    prices = {"price_in": 2.0, "price_out": 10.0}
    given = [
        row(id="p0", tokens_in=100, tokens_out=50, seconds=1.0, attempts=3, learned=2, bank=0, scores=(0.5, 0.9)),
        row(id="p1", right=False, tokens_in=300, tokens_out=150, seconds=3.0, learned=1, bank=2, scores=(0.7,)),
        row(
            id="p2",
            right=False,
            error="TimeoutError: 9",
            reply="",
            answer="",
            memory="",
            shown=(),
            scores=(),
            seconds=5.0,
            attempts=9,
        ),
    ]
    (arm,) = summarise(given, config(arms=("memory",), **prices)).arms
    assert (arm.rows, arm.right, arm.errors, arm.learned) == (3, 1, 1, 3)
    assert arm.accuracy.value == pytest.approx(1 / 2)
    assert (arm.seconds, arm.shown, arm.similarity) == (2.0, 1.0, pytest.approx(0.8))
    assert (arm.tokens_in, arm.tokens_out, arm.attempts) == (200, 100, 2)
    assert arm.bank == 24
    assert arm.cost == pytest.approx((arm.tokens_in * 2 + arm.tokens_out * 10) / 1e6)


def test_pass_at_k_is_there_for_arms_that_try_several_times():
    given = rows({"baseline": 0.4, "memory": 0.4, "vote-3": 0.5}, 20)
    arms = {arm.arm: arm for arm in summarise(given, config(protocol="scaling", attempts=(3,))).arms}
    assert arms["baseline"].pass_at_k is None
    assert arms["vote-3"].pass_at_k.value >= arms["vote-3"].accuracy.value
    assert arms["vote-3"].attempts == 3


@pytest.mark.parametrize(
    ("fixed", "broken", "says", "shown"),
    [
        (14, 2, "memory gained on baseline: +20.0 points [", True),
        (2, 14, "memory lost to baseline: −20.0 points [", True),
        (6, 4, "No difference between memory and baseline could be shown: +3.3 points [", False),
        (0, 0, "No difference between memory and baseline could be shown: 0.0 points [−6.0, +6.0], p = 1.", False),
    ],
)
def test_a_sentence_says_what_was_found(fixed, broken, says, shown):
    found = only(summarise(two_arms(fixed, broken, 60 - fixed - broken), config()))
    assert (len(found.fixed), len(found.broken), found.shown) == (fixed, broken, shown)
    assert found.says.startswith(says)
    assert ("could have shown a true difference of" in found.says) is not shown


def test_a_run_that_is_too_small_says_so():
    found = summarise(two_arms(3, 0, 1), config())
    assert "With 4 problems no difference of any size could have been shown reliably." in found.headline


def test_an_interval_without_zero_is_not_enough():
    found = only(summarise(two_arms(5, 0, 30), config()))
    assert found.difference.low > 0
    assert not found.shown
    assert found.says.endswith("The interval leaves out 0, the test does not: a hint, no finding.")


def test_rows_without_a_counterpart_are_left_out_and_counted():
    given = [*two_arms(4, 1, 20), row("baseline", "only here"), row("memory", "p0", seed=9)]
    found = summarise(given, config())
    assert (only(found).pairs, only(found).left_out) == (25, 2)
    assert any("Up to 2 pairs of a comparison lacked a row" in note for note in found.notes)


def test_arms_without_a_common_problem_are_not_compared():
    found = summarise([row("baseline", "p1"), row("memory", "p2")], config())
    assert only(found).difference is None
    assert found.headline == "Memory and baseline have no problem in common, so nothing can be said."


def test_differences_name_their_rows():
    given = [row("baseline", "p7", False, seed=3), row("memory", "p7", True, seed=3)]
    given += [row("baseline", "p8", True, seed=3), row("memory", "p8", False, seed=3)]
    found = only(summarise(given, config(seeds=(3,))))
    assert [(one.seed, one.id) for one in found.fixed] == [(3, "p7")]
    assert [(one.seed, one.id) for one in found.broken] == [(3, "p8")]


@pytest.mark.parametrize("down", [("memory",), ("baseline",), ("baseline", "memory")])
def test_an_outage_counts_against_no_arm(down):
    whole = two_arms(3, 1, 30)
    given = [*whole]
    for arm in ("baseline", "memory"):
        failed = {"error": "TimeoutError: 600 s", "reply": "", "answer": ""} if arm in down else {}
        given.append(row(arm, "p99", not failed, **failed))
    found = summarise(given, config())
    assert (only(found).difference, only(found).pairs) == (only(summarise(whole, config())).difference, 34)
    assert only(found).left_out == 1
    assert "p99" not in [one.id for one in (*only(found).fixed, *only(found).broken)]
    assert any(f"{len(down)} row{'s' * (len(down) - 1)} failed with an error" in note for note in found.notes)
    assert any("Up to 1 pair of a comparison" in note for note in found.notes)


@pytest.mark.slow
def test_seeds_of_a_problem_are_one_observation():
    once = summarise(two_arms(6, 1, 30), config())
    thrice = summarise([row for seed in range(3) for row in two_arms(6, 1, 30, seed=seed)], config(seeds=(0, 1, 2)))
    assert (only(thrice).pairs, only(thrice).problems) == (3 * 37, 37)
    assert (only(thrice).p, only(thrice).difference) == (only(once).p, only(once).difference)


@pytest.mark.slow
def test_memory_is_compared_with_every_control_and_maths_with_its_twin():
    controls = config(arms=("baseline", "memory", "shuffled", "filler"), bank_sizes=(10,))
    given = rows({"baseline": 0.4, "memory": 0.6, "shuffled": 0.4, "filler": 0.4, "memory-10": 0.5}, 30)
    asked = [(found.arm, found.against, found.group) for found in summarise(given, controls).comparisons]
    assert asked == [
        ("memory", "baseline", "arm"),
        ("shuffled", "baseline", "placebo"),
        ("filler", "baseline", "placebo"),
        ("memory-10", "baseline", "bank size"),
        ("memory", "shuffled", "control"),
        ("memory", "filler", "control"),
    ]
    scaling = {"baseline": 0.4, "memory": 0.5, "vote-3": 0.5, "vote-3+memory": 0.6, "vote-3+matts": 0.6}
    found = summarise(rows(scaling, 30), config(protocol="scaling", attempts=(3,)))
    assert [(one.arm, one.against, one.group) for one in found.comparisons if one.against != "baseline"] == [
        ("vote-3+memory", "vote-3", "same attempts"),
        ("vote-3+matts", "vote-3", "same attempts"),
        ("vote-3+matts", "vote-3+memory", "matts"),
    ]


@pytest.mark.slow
def test_p_values_are_adjusted_within_a_question():
    given = rows({"baseline": 0.4, "memory": 0.6, "shuffled": 0.45, "random": 0.5}, 60)
    found = summarise(given, config(arms=("baseline", "memory", "shuffled", "random"))).comparisons
    alone = next(one for one in found if one.group == "arm")
    assert (alone.tests, alone.p_holm) == (1, alone.p)
    controls = sorted((one for one in found if one.group == "control"), key=lambda one: one.p)
    assert controls[0].p_holm == pytest.approx(min(1, 2 * controls[0].p))


@pytest.mark.slow
def test_a_gain_that_any_text_brings_is_not_put_down_to_memory():
    chances = {"baseline": 0.35, "memory": 0.62, "filler": 0.6}
    found = summarise(rows(chances, 80), config(arms=("baseline", "memory", "filler")))
    assert found.headline.startswith("Memory gained on baseline")
    assert "Memory was not shown to be better than filler" in found.headline


def test_nothing_is_compared_before_the_first_arm_has_rows():
    found = summarise([row("memory", f"p{number}") for number in range(5)], config())
    assert (found.comparisons, found.headline) == ((), "There is nothing to compare yet.")


def test_where_the_bank_was_learned_is_counted_and_not_compared():
    learned = [row("learning", f"t{number}", memory="", shown=(), verdict="success") for number in range(5)]
    found = summarise([*learned, *two_arms(3, 1, 20)], config())
    assert [(arm.arm, arm.compared) for arm in found.arms] == [
        ("baseline", True),
        ("memory", True),
        ("learning", False),
    ]
    assert len(found.comparisons) == 1


def test_verdicts_meet_the_truth():
    said = [("success", True), ("success", False), ("failure", True), ("indeterminate", False), (None, True)]
    learned = [row("learning", f"t{n}", right, verdict=verdict) for n, (verdict, right) in enumerate(said)]
    found = summarise([*learned, *two_arms(1, 1, 5)], config(judge="self"))
    (met,) = found.judges
    assert (met.arm, met.tp, met.fp, met.fn, met.tn, met.undecided_wrong) == ("learning", 1, 1, 1, 0, 1)
    assert "did not see the reference answers" in found.taught_by
    assert "by the reference answers" in summarise(learned, config()).taught_by


@pytest.mark.slow
def test_the_notes_name_what_weakens_the_result():
    notes = " ".join(summarise(two_arms(5, 2, 20), config(limit=100)).notes)
    for told in (
        "27 problems, 1 seed",
        "One seed",
        "it may help less",
        "No control arm",
        "memory 1.5 times",
        "not ended",
    ):
        assert told in notes
    stream = summarise(two_arms(5, 2, 20), config(protocol="stream", train=None, judge="self"))
    assert any("In a stream" in note for note in stream.notes)


@pytest.mark.parametrize(("tokens", "told"), [(105, True), (104, False), (100, False)])
def test_an_arm_is_named_that_takes_a_twentieth_more_tokens_than_the_first(tokens, told):
    given = [row("baseline", tokens_in=90, tokens_out=10), row("memory", tokens_in=tokens - 10, tokens_out=10)]
    assert any("against baseline: memory" in note for note in summarise(given, config()).notes) is told


@pytest.mark.parametrize(
    ("fixed", "modes", "told"), [(False, "sequential", True), (True, "sequential", False), (False, "parallel", False)]
)
def test_a_number_of_attempts_that_is_only_the_most_is_called_so(fixed, modes, told):
    settings = config(protocol="scaling", fixed_k=fixed, modes=(modes,))
    said = any("k is the most" in note for note in summarise(two_arms(2, 1, 5), settings).notes)
    assert said is told


def test_a_missing_package_is_named_with_the_extra_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(MissingDependencyError, match=r"scipy is not installed: .*\[experiments\]"):
        summarise(two_arms(5, 2, 20), config())
