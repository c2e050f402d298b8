"""Learning at another time than in the run: from attempts that wait, and from the threads that a checkpointer holds.

- `overdue`: attempts that wait too long, or for a model only: judged by a model, or given up
- `threads`: walks the threads, judges and distils what was not learned yet
- `attempts`: one attempt of a thread: judged, distilled and written, unless the bank holds it
- `asking`: who judges and who distils, for a caller without a loop or with one
- `coverage`: what such a walk has seen, what it has learned, and what it has left out and why
- `checkpoints`: what a checkpointer holds of a thread: where its runs ended, on which branch
- `readers`: the state of a thread at a checkpoint, with the graph that made it or without
- `turns`: the attempts that a state of a thread holds: one for each turn of the user
- `watermark`: how far threads have been read, kept in the store
"""

from reasoningbank_langgraph.learn.coverage import Coverage, Skip, SkipReason
from reasoningbank_langgraph.learn.overdue import Overdue, aresolve_overdue, resolve_overdue
from reasoningbank_langgraph.learn.threads import alearn_from_threads, learn_from_threads
from reasoningbank_langgraph.nodes._background import adrain, drain

__all__ = [
    "Coverage",
    "Overdue",
    "Skip",
    "SkipReason",
    "adrain",
    "alearn_from_threads",
    "aresolve_overdue",
    "drain",
    "learn_from_threads",
    "resolve_overdue",
]
