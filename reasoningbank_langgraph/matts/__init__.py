"""Memory-aware test-time scaling (paper section 4): several attempts at a task, all with the same memory.

settings.py    what can be chosen
rollouts.py    one attempt as a record, and the channels of the graph
attempt.py     the graph of one rollout: solve, check again, judge
rollout.py     the node that runs it, and what becomes of its errors
sequential.py  check again, until the answer stands
parallel.py    the fan-out, in waves, and when it may end early
answers.py     which rollouts say the same
select.py      the best of them: verifier, then majority, then a model
choice.py      how the model is asked
scores.py      pass@1, pass@k, majority@k and best-of-k of one run
contrast.py    lessons from what sets the rollouts apart
build.py       the whole graph

- `build`: the graph of MaTTS: retrieve once, roll out, gather, select, extract, consolidate
- `settings`: what can be chosen about the scaling of one task
- `attempt`: the graph of one rollout: solve, check again as often as asked, judge
- `rollout`: the node that runs one rollout. Its errors are recorded, never raised
- `rollouts`: one rollout as a record, and the channels the rollouts of a task are gathered in
- `carried`: what a rollout leaves in the solver's channels, as the update that the solver alone would have made
- `parallel`: the fan-out: rollouts in waves, and when the rest of them can be spared
- `sequential`: sequential scaling: re-examine the attempt, then check again
- `selection`: the node that selects one rollout and leaves the graph as if it had been the only one
- `select`: the best of the rollouts: what a verifier accepts, else what most of them answer
- `scores`: what one run says about more and less scaling. Only where the right answer is known
- `answers`: which answers say the same
- `choice`: which of several attempts is the best, as a model sees it: asked twice, the second time in reverse order
- `contrast`: lessons from what sets the rollouts of one task apart: labelled self-contrast (paper section 4)
"""

from reasoningbank_langgraph.matts.build import create_matts
from reasoningbank_langgraph.matts.settings import Scaling

__all__ = ["Scaling", "create_matts"]
