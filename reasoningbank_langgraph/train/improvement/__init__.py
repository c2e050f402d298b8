"""Does a model get better by what it solved itself? Experiments whose arms are tuned.

- `self_improve`: protocol `self-improve`: memory, an adapter, both, and adapters of other data
- `adapters`: the adapters of `self-improve`: harvested, trained and served when an arm asks for them
- `datasets`: training data of equal size for an adapter and for those it is compared with
- `compound`: protocol `compound`: cycles of learn, harvest, tune and accept, each from what the last one left
- `cycle`: one cycle, in steps that are made once
- `variety`: how much the solutions of a cycle differ
- `workshop`: what trains, tries and serves adapters
"""

from reasoningbank_langgraph.train.improvement.compound import run_compound
from reasoningbank_langgraph.train.improvement.self_improve import run_self_improve

__all__ = ["run_compound", "run_self_improve"]
