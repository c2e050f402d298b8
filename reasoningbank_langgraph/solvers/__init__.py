"""TODO-MAP solvers"""

from reasoningbank_langgraph.solvers.agents import prepared, retrieving_for

__all__ = ["prepared", "retrieving_for"]
