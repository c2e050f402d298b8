"""Many runs of a guard at once, on tasks that come in pairs, with and without memory, of given rates."""

from typing import NamedTuple

import numpy as np

from reasoningbank_langgraph.policies import GuardStatus
from reasoningbank_langgraph.policies.evidence import evidence

NEVER = 10**9


class Switches(NamedTuple):
    """When each run was first switched off, and how often on, by pairs seen."""

    off: np.ndarray
    confirmed: np.ndarray

    def part_off(self, within):
        return float(np.mean(self.off <= within))

    @property
    def median_off(self):
        return float(np.median(self.off))


def least_against(alpha, most):
    """Return for each count of pairs in favour the least count against at which the evidence is enough."""
    least, against = [], 0
    for in_favour in range(most):
        while evidence(against, in_favour) < 1 / alpha:
            against += 1
        least.append(against)
    return np.array(least)


def paired_runs(fixed, broken, *, runs=1000, pairs=400, alpha=0.05, seed=1):
    """Let guards watch pairs of which given parts are fixed and broken by the memory."""
    draw, least = np.random.default_rng(seed), least_against(alpha, pairs)
    good, bad, confirmed = (np.zeros(runs, dtype=int) for _ in range(3))
    off = np.full(runs, NEVER)
    for pair in range(1, pairs + 1):
        outcome = draw.random(runs)
        good += outcome < fixed
        bad += (outcome >= fixed) & (outcome < fixed + broken)
        hurts, helps = bad >= least[good], good >= least[bad]
        off[hurts & (off == NEVER)] = pair
        confirmed += helps
        good[hurts | helps] = bad[hurts | helps] = 0
    return Switches(off, confirmed)


def shows(guard, key, status):
    """Say whether a guard has a task solved with memory."""
    return guard.trial(key, status).withheld is None


def stream(guard, right_shown, right_held_out, *, tasks, seed):
    """Yield after each task of a stream whether it was solved with memory, and what the guard knows then."""
    draw, status = np.random.default_rng(seed), GuardStatus()
    for number in range(1, tasks + 1):
        shown = shows(guard, f"{seed}-{number}", status)
        right = bool(draw.random() < (right_shown if shown else right_held_out))
        status = guard.after(status, shown=shown, right=right)
        yield shown, status


def first_decisions(guard, right_shown, right_held_out, *, runs=100, tasks=3000):
    """Return for several streams after how many tasks the guard decides for the first time, and what."""
    streams = (stream(guard, right_shown, right_held_out, tasks=tasks, seed=run) for run in range(runs))
    undecided = NEVER, "trying"
    return [
        next(((number, now.state) for number, (_, now) in enumerate(one, 1) if now.tests), undecided) for one in streams
    ]


def parts_shown(guard, right_shown, right_held_out, *, runs=100, tasks=300):
    """Return which part of the streams saw memory at each task."""
    streams = (stream(guard, right_shown, right_held_out, tasks=tasks, seed=run) for run in range(runs))
    return np.mean([[shown for shown, _ in one] for one in streams], axis=0)
