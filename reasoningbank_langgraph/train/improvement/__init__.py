"""Does a model get better by what it solved itself? Experiments whose arms are tuned.

- `self_improve`: protocol `self-improve`: memory, an adapter, both, and adapters of other data
- `adapters`: the adapters of an experiment: harvested, trained and served when an arm asks for them
- `datasets`: training data of equal size for an adapter and for those it is compared with
"""

from reasoningbank_langgraph.train.improvement.self_improve import run_self_improve

__all__ = ["run_self_improve"]
