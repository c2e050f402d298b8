"""What a policy decides on a lesson beside those that are like it, and which lessons leave a full bank."""

from datetime import timedelta

import pytest

from reasoningbank_langgraph import Policy
from reasoningbank_langgraph.policies import Neighbour, Treatment, as_policy, leaving, word_overlap, words_of
from reasoningbank_langgraph.records import Utility, utc_now
from tests.bank.test_bank import lesson

NEW = lesson("new", "task")


def neighbour(name, similarity=0.9, overlap=0.9, *, is_equal=False, **changes):
    return Neighbour(lesson(name, "task", **changes), similarity, overlap, is_equal)


EQUAL, NEAR = neighbour("equal", is_equal=True), neighbour("near")


@pytest.mark.parametrize(
    ("policy", "near", "decision"),
    [
        (Policy(copies="append"), [EQUAL, NEAR], Treatment("add")),
        (Policy(copies="skip"), [EQUAL, NEAR], Treatment("skip", "equal")),
        (Policy(copies="skip"), [NEAR], Treatment("add")),
        (Policy(similarity=0.8), [EQUAL, NEAR], Treatment("skip", "equal")),
        (Policy(similarity=0.8), [NEAR], Treatment("link", "near")),
        (Policy(similarity=0.95), [NEAR], Treatment("add")),
        (Policy(similarity=0.8), [neighbour("other words", overlap=0.5)], Treatment("add")),
        (Policy(similarity=0.8), [neighbour("without an index", similarity=None)], Treatment("add")),
        (Policy(), [NEAR], Treatment("add")),
        (Policy(copies=lambda lesson, near: Treatment("skip")), [], Treatment("skip")),
    ],
)
def test_equal_lessons_are_skipped_and_near_ones_linked(policy, near, decision):
    assert policy.decide(NEW, near) == decision


@pytest.mark.parametrize("said", ["skip", None, Treatment("merge"), Treatment("link"), Treatment("skip", "somebody")])
def test_a_function_that_decides_on_something_else_is_refused(said):
    with pytest.raises(ValueError, match="a policy"):
        Policy(copies=lambda lesson, near: said).decide(NEW, [NEAR])


@pytest.mark.parametrize(
    "setting",
    [
        {"copies": "merge"},
        {"similarity": 0},
        {"similarity": 1.5},
        {"capacity": 4},
        {"capacity": True},
        {"per_run": 0},
        {"per_hour": 1.5},
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(setting):
    with pytest.raises(ValueError, match=next(iter(setting))):
        Policy(**setting)


def test_a_policy_is_named_or_given():
    assert as_policy("append").only_appends
    assert as_policy("skip") == Policy(copies="skip")
    assert not Policy(copies="append", per_run=1).only_appends
    with pytest.raises(TypeError, match="Policy"):
        as_policy(3)


def test_words_are_compared_whatever_their_case_and_order():
    one, other = words_of("Check units", "when", "convert"), words_of("convert", "WHEN", "units, check")
    assert word_overlap(one, other) == 1
    assert word_overlap(one, words_of("draw", "a", "picture")) == 0
    assert word_overlap(frozenset(), frozenset()) == 1


def resident(name, age, near="", **worth):
    made = utc_now() - timedelta(days=age)
    return lesson(name, "task", near=near, utility=Utility(**worth), created_at=made)


def test_what_is_of_least_use_leaves_first_then_copies_then_the_oldest():
    bank = [
        resident("useful", 9, used=9, helped=9),
        resident("old", 8),
        resident("harmful", 1, used=9, hurt=9),
        resident("young", 2),
        resident("copy", 1, near="old"),
        resident("copy of one that is gone", 3, near="gone"),
    ]
    order = ["harmful", "copy", "old", "copy of one that is gone", "young", "useful"]
    assert [item.id for item in leaving(bank, 6, 6)] == order
    assert [item.id for item in leaving(bank, 6, 2)] == order[:2]
    assert leaving(bank, 8, 2) == []


def test_a_full_bank_makes_room_for_a_twentieth_at_once():
    bank = [resident(str(number), number) for number in range(100)]
    assert [item.id for item in leaving(bank, 100, 1)] == ["99", "98", "97", "96", "95"]
    assert len(leaving(bank, 100, 9)) == 9
