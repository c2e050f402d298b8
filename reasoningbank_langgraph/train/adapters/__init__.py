"""Adapters side by side: used only if better, and taken out of use again.

- `decisions`: accept an adapter if it is better, reject it, or go back to what was in use before
- `trial`: an adapter on problems beside its base, and beside the adapter in use
- `validation`: the problems that an adapter is tried on: those of a file that it does not know from its data
- `outcomes`: what weights made of problems, kept for the next trial
- `listing`: the adapters of a folder: what each is, what was decided on it, and whether it is in use
"""

from reasoningbank_langgraph.local.adapters import AdapterTrial, Decision, RivalComparison, read_history
from reasoningbank_langgraph.train.adapters.decisions import accept, reject, rollback
from reasoningbank_langgraph.train.adapters.listing import Adapter, list_adapters
from reasoningbank_langgraph.train.adapters.trial import TrialProgress, difference

__all__ = [
    "Adapter",
    "AdapterTrial",
    "Decision",
    "RivalComparison",
    "TrialProgress",
    "accept",
    "difference",
    "list_adapters",
    "read_history",
    "reject",
    "rollback",
]
