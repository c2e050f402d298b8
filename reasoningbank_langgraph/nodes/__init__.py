"""The four nodes of the loop.

- `retrieve`: first node of the loop: find lessons for the task and render them for the model
- `judge`: after the answer: did the attempt succeed?
- `extract`: after the verdict: distil general lessons from the attempt. Nothing is written here
- `consolidate`: last node of the loop: write the checkpointed lessons into the bank, exactly once
- `_loop`: the nodes of a whole loop, made from the arguments that both factories share
- `_defer`: the node that ends a run after the answer: the attempt waits in the bank, and no model is called
- `_background`: a worker of this process that judges and distils what waits, after the answer
- `_learner`: one attempt that waits: judged, if it has no verdict, and distilled
- `_base`: the class of the four nodes, and what a node knows of the run it is part of
- `_caching`: whether LangGraph caches the updates of a node
- `_outage`: what is done when the store cannot be reached: the run goes on without it
"""

from reasoningbank_langgraph.nodes.consolidate import create_consolidate
from reasoningbank_langgraph.nodes.extract import create_extract
from reasoningbank_langgraph.nodes.judge import create_judge
from reasoningbank_langgraph.nodes.retrieve import create_retrieve

__all__ = ["create_consolidate", "create_extract", "create_judge", "create_retrieve"]
