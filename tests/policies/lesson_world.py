"""A world of easy and hard tasks with lessons that help, do nothing and hurt, each shown where it fits."""

from typing import NamedTuple

import numpy as np

from reasoningbank_langgraph.policies import Credit, compare

EASY, HARD = 0.9, 0.3
"""How often tasks are solved without any lesson."""


class Planted(NamedTuple):
    name: str
    task: float
    effect: float


PLANTED = [
    Planted("helpful on hard tasks", HARD, 0.25),
    Planted("helpful on easy tasks", EASY, 0.08),
    Planted("useless on hard tasks", HARD, 0.0),
    Planted("useless on easy tasks", EASY, 0.0),
    Planted("harmful on hard tasks", HARD, -0.2),
    Planted("harmful on easy tasks", EASY, -0.25),
]


class Seen(NamedTuple):
    """What was seen of one lesson."""

    planted: Planted
    credit: Credit
    confounded: float
    """(s + 1) / (u + 2): success of the attempts in which it was shown."""


def see(planted, *, groups, tries, seed):
    """Try tasks several times, half of the tries with the lesson."""
    draw = np.random.default_rng(seed)
    with_it = draw.random((groups, tries // 2)) < planted.task + planted.effect
    without = draw.random((groups, tries // 2)) < planted.task
    credit = Credit.total(compare(one.tolist(), other.tolist()) for one, other in zip(with_it, without, strict=True))
    return Seen(planted, credit, (with_it.sum() + 1) / (with_it.size + 2))


def see_all(*, groups=150, tries=4, seed=3):
    """Return what is seen of each planted lesson."""
    return [see(planted, groups=groups, tries=tries, seed=seed + place) for place, planted in enumerate(PLANTED)]


def selected_by_disagreement(*, tasks, seed=5):
    """Show a useless lesson only where two attempts without it disagree, and compare with those two."""
    draw = np.random.default_rng(seed)
    solved = np.where(draw.random(tasks) < 0.5, EASY, HARD)
    without, with_it = (draw.random((tasks, 2)) < solved[:, None] for _ in range(2))
    groups = [
        compare(one.tolist(), other.tolist())
        for one, other in zip(with_it, without, strict=True)
        if other[0] != other[1] or not other.any()  # two wrong answers differ too
    ]
    return Credit.total(groups)
