"""How the worth of memory came to be what it is: pairs of attempts and solved tasks, counted one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from reasoningbank_langgraph.view.charts import Curve

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import DatedCredit, DatedTrial


def pairs(said: Sequence[DatedCredit]) -> list[Curve]:
    """Return how many pairs memory had fixed and had broken by each moment."""
    fixed = accumulate(one.credit.right_with for one in said)
    broken = accumulate(one.credit.right_without for one in said)
    times = [one.time for one in said]
    return [
        Curve("fixed", "success", list(zip(times, fixed, strict=True))),
        Curve("broke", "failure", list(zip(times, broken, strict=True))),
    ]


def solved(trials: Iterable[DatedTrial]) -> list[Curve]:
    """Return the part of the tasks that were solved by each moment, with memory and without."""
    known = list(trials)
    return [
        _solved("with memory", "success", [one for one in known if one.shown]),
        _solved("without", "quiet", [one for one in known if not one.shown]),
    ]


def _solved(name: str, kind: str, trials: Sequence[DatedTrial]) -> Curve:
    rights = accumulate(one.right for one in trials)
    shares = (right / count for count, right in enumerate(rights, 1))
    return Curve(name, kind, list(zip((one.time for one in trials), shares, strict=True)))
