"""Memory-aware test-time scaling (paper section 4): several attempts at a task, and which of them see the memory.

- `scaling`: what can be chosen about the scaling of one task
- `build`: the graph of MaTTS: retrieve at most once, roll out, gather, select, extract, consolidate
- `records`: one rollout as a record, and the channels in which the rollouts of a task are gathered
- `rollout_graph`: the graph of one rollout: solve, check again as often as asked, judge
- `rollout_node`: the node that runs it and records its errors
- `solver_channels`: what a rollout leaves in the solver's channels, as the update the solver alone would have made
- `refine`: sequential scaling: re-examine the attempt, then check again, until the answer stands
- `fan_out`: rollouts in waves, and when the rest of them can be spared
- `select_node`: the node that selects one rollout and leaves the graph as if it had been the only one
- `selectors`: the best of the rollouts: verifier first, then majority, then a model
- `votes`: which answers say the same
- `with_and_without`: rollouts with memory and without it: which are which, whether those without agree, how both did
- `comparison`: how a model compares attempts: twice, the second time in reverse order
- `scores`: pass@1, pass@k, majority@k and best-of-k of one run
- `contrast`: the node that distils lessons from what sets the rollouts of one task apart
"""

from reasoningbank_langgraph.matts.build import create_matts
from reasoningbank_langgraph.matts.scaling import Scaling

__all__ = ["Scaling", "create_matts"]
