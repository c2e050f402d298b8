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
"""

from reasoningbank_langgraph.matts.build import create_matts
from reasoningbank_langgraph.matts.settings import Scaling

__all__ = ["Scaling", "create_matts"]
