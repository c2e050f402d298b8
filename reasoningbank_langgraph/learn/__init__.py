"""Learning at another time than in the run: from the threads that a checkpointer holds.

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
from reasoningbank_langgraph.learn.threads import alearn_from_threads, learn_from_threads

__all__ = ["Coverage", "Skip", "SkipReason", "alearn_from_threads", "learn_from_threads"]
