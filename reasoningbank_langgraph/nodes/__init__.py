"""The four nodes of the loop."""

from reasoningbank_langgraph.nodes.consolidate import create_consolidate
from reasoningbank_langgraph.nodes.extract import create_extract
from reasoningbank_langgraph.nodes.judge import create_judge
from reasoningbank_langgraph.nodes.retrieve import create_retrieve

__all__ = ["create_consolidate", "create_extract", "create_judge", "create_retrieve"]
