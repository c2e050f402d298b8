"""What follows from counted outcomes: whether memory is shown, which lessons come first, and which a bank takes.

- `evidence`: an always-valid test on pairs: how much the outcomes so far speak for harm, however often one looks
- `guard`: solves a share of the tasks without memory and switches it off where it hurts, on where it helps
- `credit`: what a lesson is worth: attempts with and without it at the same task, compared
- `levels`: which lessons come first where no similar task was learned from: those that several tasks led to
- `pruning`: which lessons go out of use, by rule, and why
- `ledger`: every change of a bank as a row that names the hashes of those before, so that a missing one is found
- `consolidation`: what becomes of a new lesson beside those a bank has: added, left out, or linked to one like it
"""

from reasoningbank_langgraph.policies.consolidation import (
    MEASURED,
    OVERLAP,
    Copies,
    Decide,
    Effect,
    Neighbour,
    Policy,
    PolicyLike,
    Treatment,
    as_policy,
    leaving,
    word_overlap,
    words_of,
)
from reasoningbank_langgraph.policies.credit import Credit, Evidence, GroupCredit, by_utility, compare, eligible
from reasoningbank_langgraph.policies.guard import Guard, GuardState, GuardStatus, Pairs, Trial, Withheld
from reasoningbank_langgraph.policies.ledger import Change, ChangeKind, LogReport
from reasoningbank_langgraph.policies.levels import GENERAL, LOW, by_levels, is_low

__all__ = [
    "GENERAL",
    "LOW",
    "MEASURED",
    "OVERLAP",
    "Change",
    "ChangeKind",
    "Copies",
    "Credit",
    "Decide",
    "Effect",
    "Evidence",
    "GroupCredit",
    "Guard",
    "GuardState",
    "GuardStatus",
    "LogReport",
    "Neighbour",
    "Pairs",
    "Policy",
    "PolicyLike",
    "Treatment",
    "Trial",
    "Withheld",
    "as_policy",
    "by_levels",
    "by_utility",
    "compare",
    "eligible",
    "is_low",
    "leaving",
    "word_overlap",
    "words_of",
]
