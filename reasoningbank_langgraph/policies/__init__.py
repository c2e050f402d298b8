"""What follows from counted outcomes: whether memory is shown at all, and which lessons come first.

- `evidence`: an always-valid test on pairs: how much the outcomes so far speak for harm, however often one looks
- `guard`: solves a share of the tasks without memory and switches it off where it hurts, on where it helps
- `credit`: what a lesson is worth: attempts with and without it at the same task, compared
- `pruning`: which lessons go out of use, by rule, and why
- `ledger`: every change of a bank as a row that names the hashes of those before, so that a missing one is found
"""

from reasoningbank_langgraph.policies.credit import Credit, Evidence, GroupCredit, by_utility, compare, eligible
from reasoningbank_langgraph.policies.guard import Guard, GuardState, GuardStatus, Pairs, Trial, Withheld
from reasoningbank_langgraph.policies.ledger import Change, ChangeKind, LogReport

__all__ = [
    "Change",
    "ChangeKind",
    "Credit",
    "Evidence",
    "GroupCredit",
    "Guard",
    "GuardState",
    "GuardStatus",
    "LogReport",
    "Pairs",
    "Trial",
    "Withheld",
    "by_utility",
    "compare",
    "eligible",
]
