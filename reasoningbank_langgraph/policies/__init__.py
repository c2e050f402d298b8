"""What follows from counted outcomes: whether memory is shown at all, and which lessons come first.

- `evidence`: an always-valid test on pairs: how much the outcomes so far speak for harm, however often one looks
- `guard`: solves a share of the tasks without memory and switches it off where it hurts, on where it helps
- `credit`: what a lesson is worth: attempts with and without it at the same task, compared
"""

from reasoningbank_langgraph.policies.credit import Credit, Evidence, GroupCredit, by_utility, compare, eligible
from reasoningbank_langgraph.policies.guard import Guard, GuardState, GuardStatus, Pairs, Trial, Withheld

__all__ = [
    "Credit",
    "Evidence",
    "GroupCredit",
    "Guard",
    "GuardState",
    "GuardStatus",
    "Pairs",
    "Trial",
    "Withheld",
    "by_utility",
    "compare",
    "eligible",
]
