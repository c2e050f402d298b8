"""The problems on which two arms differ are listed: the main comparison first, and a bounded number of each."""

from types import SimpleNamespace

import pytest

from reasoningbank_langgraph.experiments.report.differences import FEW, MOST, listed_comparisons
from reasoningbank_langgraph.experiments.summary import RowId

from .fake_rows import row


def comparison(arm, against, broken, fixed, group="arm"):
    """So many problems were broken, the next ones fixed, under seed 3."""
    names = [RowId(seed=3, id=f"p{number}") for number in range(broken + fixed)]
    return SimpleNamespace(
        arm=arm, against=against, group=group, broken=tuple(names[:broken]), fixed=tuple(names[broken:])
    )


def rows(*arms, problems=200):
    made = [row(arm, f"p{number}", seed=3) for arm in arms for number in range(problems)]
    return {one.key: one for one in made}


@pytest.mark.parametrize(
    ("broken", "fixed", "listed"),
    [
        (3, 2, (3, 2)),
        (0, 0, (0, 0)),
        (MOST, MOST, (MOST // 2, MOST // 2)),
        (MOST, 10, (MOST - 10, 10)),
        (10, MOST, (10, MOST - 10)),
        (MOST // 2, MOST // 2, (MOST // 2, MOST // 2)),
    ],
)
def test_half_of_the_differences_are_broken_ones_or_more_where_the_others_are_fewer(broken, fixed, listed):
    given = comparison("memory", "baseline", broken, fixed)
    ((found, differences, is_main),) = listed_comparisons([given], rows("baseline", "memory", problems=2 * MOST))
    assert (found is given, is_main) == (True, True)
    assert [one.kind for one in differences] == ["broken"] * listed[0] + ["fixed"] * listed[1]
    wanted = [*given.broken[: listed[0]], *given.fixed[: listed[1]]]
    assert [one.before.key for one in differences] == [("baseline", 3, name.id) for name in wanted]
    assert [one.after.key for one in differences] == [("memory", 3, name.id) for name in wanted]


def test_the_main_comparison_comes_first_and_of_the_others_a_few_are_shown():
    others = [comparison("memory", "filler", 50, 50, "control"), comparison("vote-3", "baseline", 0, 50)]
    main = comparison("memory", "baseline", 50, 0)
    listed = list(listed_comparisons([*others, main], rows("baseline", "memory", "filler", "vote-3")))
    assert [one.comparison for one in listed] == [main, *others]
    assert [(one.is_main, len(one.differences)) for one in listed] == [(True, 50), (False, FEW), (False, FEW)]
