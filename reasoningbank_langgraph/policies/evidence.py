"""An always-valid test on pairs: how much the outcomes so far speak for harm, however often one looks."""

from __future__ import annotations

import math

_NEGLIGIBLE = 1e-17
_LARGEST = 709.0
"""The logarithm of the largest float, rounded down."""


def evidence(against: int, in_favour: int) -> float:
    """Return how much pairs that differ speak against something: the value of an e-process.

    Under the null each pair that differs goes against it with a chance of at most 1/2. The value is a likelihood ratio:
    the mixture of all chances from 1/2 to 1 with equal weight, over 1/2. A mixture of likelihood ratios is a martingale
    where the chance is 1/2 and a supermartingale below, starting at 1. So by Ville's inequality it ever reaches 1/alpha
    with a chance of at most alpha, however often one looks and whenever one stops. With n pairs, b of them against, it
    is the sum of C(n + 1, j) for j up to b, over (n + 1) C(n, b).

    Args:
        against: pairs that went against it.
        in_favour: pairs that went the other way.
    """
    return math.exp(min(_LARGEST, log_evidence(against, in_favour)))


def log_evidence(against: int, in_favour: int) -> float:
    """Return the logarithm of `evidence`, which has no largest value."""
    pairs = against + in_favour
    if against <= in_favour:
        return math.log(_up_to(against, pairs)) - math.log(pairs + 1)
    chosen = math.lgamma(pairs + 1) - math.lgamma(against + 1) - math.lgamma(in_favour + 1)
    whole = (pairs + 1) * math.log(2) - chosen
    return whole + math.log1p(-_up_to(in_favour, pairs) * math.exp(-whole)) - math.log(pairs + 1)


def _up_to(last: int, pairs: int) -> float:
    """Return the sum of C(pairs + 1, j) / C(pairs, last) for j up to `last`, which is at most half of the pairs."""
    term = total = (pairs + 1) / (pairs + 1 - last)
    for j in range(last, 0, -1):
        term *= j / (pairs + 2 - j)
        total += term
        if term < total * _NEGLIGIBLE:
            break
    return total
