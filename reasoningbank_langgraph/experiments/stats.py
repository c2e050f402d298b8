"""Statistics of paired outcomes. The unit is the problem: what its seeds gave belongs together.

Solutions of one problem under several seeds are alike, so counting each as an observation of its own would make every
interval too narrow. Here a problem's seeds are averaged first, and problems are what is resampled, tested and counted.
scipy and statsmodels do the arithmetic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from reasoningbank_langgraph.errors import MissingDependencyError
from reasoningbank_langgraph.records import Record

if TYPE_CHECKING:
    import numpy as np

LEVEL, ALPHA, POWER = 0.95, 0.05, 0.8
RESAMPLES = 9999
_BATCH = 1_000_000
"""Numbers drawn at a time, so that memory does not grow with the problems."""

Method = Literal["wilson", "bca", "no variation"]
Key = tuple[int, str]
"""Seed and id of a problem."""


class Interval(Record):
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float
    method: Method


class Paired(NamedTuple):
    """Two arms on the problems and seeds that both have."""

    differences: dict[str, float]
    """By problem: share of its seeds that are right, second arm minus first."""
    fixed: list[Key]
    """Wrong in the first arm, right in the second."""
    broken: list[Key]
    pairs: int
    left_out: int
    """Outcomes of either arm that the other one lacks."""

    @property
    def better(self) -> int:
        """Problems of which the second arm got more seeds right."""
        return sum(difference > 0 for difference in self.differences.values())

    @property
    def worse(self) -> int:
        """Problems of which the second arm got fewer seeds right."""
        return sum(difference < 0 for difference in self.differences.values())


def share(outcomes: Mapping[Key, bool]) -> Interval:
    """Return the share that is right with its Wilson interval, over problems.

    With several seeds the interval takes the seeds of a problem for fully dependent: never too narrow, for a model
    that varies a little too wide.
    """
    problems = _by_problem(outcomes)
    if not problems:
        return Interval(value=0.0, low=0.0, high=1.0, method="wilson")
    right = sum(problems.values())
    low, high = _wilson(right, len(problems))
    return Interval(value=right / len(problems), low=low, high=high, method="wilson")


def pair(first: Mapping[Key, bool], second: Mapping[Key, bool]) -> Paired:
    """Match two arms; a problem and seed that only one of them has is left out and counted."""
    both = [key for key in first if key in second]
    changes = {key: float(second[key]) - float(first[key]) for key in both}
    return Paired(
        _by_problem(changes),
        [key for key in both if changes[key] > 0],
        [key for key in both if changes[key] < 0],
        len(both),
        len(first) + len(second) - 2 * len(both),
    )


def mean_difference(differences: Sequence[float], *, level: float = LEVEL, seed: int = 0) -> Interval | None:
    """Return the mean of per-problem differences with its bootstrap interval (BCa), or None for no problem.

    Where all differences are equal a bootstrap would give an interval of no width, as if n were infinite; then the
    interval is what a share of unlike problems as large as Wilson's bound for "none in n" could make of the mean.
    (For differences that are not all equal BCa is always defined: some resamples lie on either side of the mean.)
    """
    import numpy as np

    values = np.asarray(differences, dtype=float)
    if not values.size:
        return None
    if np.ptp(values) == 0:
        return _without_variation(float(values[0]), values.size)
    low, high = _bootstrap(values, level, seed)
    return Interval(value=float(values.mean()), low=low, high=high, method="bca")


def mcnemar_p(better: int, worse: int) -> float:
    """Return the two-sided p of McNemar's exact test.

    Args:
        better: problems the second arm is better on. With one seed these are the fixed ones; with several, a problem
            is better where more of its seeds are right, which makes the test the exact sign test over problems.
        worse: problems it is worse on.
    """
    try:
        from statsmodels.stats.contingency_tables import mcnemar
    except ImportError as error:
        raise MissingDependencyError("statsmodels", "experiments") from error
    return min(1.0, float(mcnemar([[0, better], [worse, 0]], exact=True).pvalue))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values adjusted for being several (Holm), in their order."""
    if not p_values:
        return []
    try:
        from statsmodels.stats.multitest import multipletests
    except ImportError as error:
        raise MissingDependencyError("statsmodels", "experiments") from error
    return [float(p) for p in multipletests(p_values, method="holm")[1]]


def mcnemar_power(problems: int, discordance: float, net: float, alpha: float = ALPHA) -> float:
    """Return the power of the exact test before it is known how many problems will differ.

    Args:
        problems: how many are compared.
        discordance: share of them on which the arms differ, 0..1.
        net: share the second arm is better on minus share it is worse on; at most `discordance`.
        alpha: two-sided level.
    """
    import numpy as np

    binom = _binom()
    differing = np.arange(problems + 1)
    chance = binom.pmf(differing, problems, discordance)
    limit = binom.ppf(alpha / 2, differing, 0.5)
    limit = np.where(binom.cdf(limit, differing, 0.5) <= alpha / 2, limit, limit - 1)
    upward = (1 + net / discordance) / 2
    rejected = binom.cdf(limit, differing, upward) + binom.sf(differing - limit - 1, differing, upward)
    return float(np.sum(chance * rejected))


def detectable(differences: Sequence[float], alpha: float = ALPHA) -> float | None:
    """Return the smallest true difference this comparison would have shown with a power of 80 %.

    It assumes as many differing problems as were seen (more where the difference itself asks for more), each differing
    by as much as those seen: with one seed, by 1. It says what the run could see, not what is likely.

    Returns:
        A difference of accuracy, or None where no difference of any size would have been shown.
    """
    changed = [abs(difference) for difference in differences if difference]
    seen, size = len(changed) / max(len(differences), 1), sum(changed) / len(changed) if changed else 1.0

    def lack(net: float) -> float:
        return POWER - mcnemar_power(len(differences), max(seen, net), net, alpha)

    if not differences or lack(1.0) > 0:
        return None
    return size * _root(lack, 1e-6, 1.0)


def _by_problem(outcomes: Mapping[Key, float]) -> dict[str, float]:
    seeds: dict[str, list[float]] = defaultdict(list)
    for (_, problem), outcome in outcomes.items():
        seeds[problem].append(float(outcome))
    return {problem: sum(values) / len(values) for problem, values in seeds.items()}


def _wilson(count: float, total: int) -> tuple[float, float]:
    try:
        from statsmodels.stats.proportion import proportion_confint
    except ImportError as error:
        raise MissingDependencyError("statsmodels", "experiments") from error
    low, high = proportion_confint(count, total, alpha=1 - LEVEL, method="wilson")
    return max(0.0, float(low)), min(1.0, float(high))


def _without_variation(value: float, problems: int) -> Interval:
    """Allow for as many problems at -1, or at 1, as none in so many seen does not rule out."""
    _, unseen = _wilson(0, problems)
    low, high = value - unseen * (1 + value), value + unseen * (1 - value)
    return Interval(value=value, low=low, high=high, method="no variation")


def _bootstrap(values: np.ndarray, level: float, seed: int) -> tuple[float, float]:
    import numpy as np

    try:
        from scipy.stats import bootstrap
    except ImportError as error:
        raise MissingDependencyError("scipy", "experiments") from error
    interval = bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, _BATCH // values.size),
        confidence_level=level,
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(interval.low), float(interval.high)


def _binom() -> Any:
    try:
        from scipy.stats import binom
    except ImportError as error:
        raise MissingDependencyError("scipy", "experiments") from error
    return binom


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=1e-4))
