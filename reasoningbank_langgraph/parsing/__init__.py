"""Model reply -> verdict or items: tolerant of form, strict about meaning.

Pure functions: no model is called, nothing is raised, and garbage of any length is refused in bounded time.
"""

from reasoningbank_langgraph.parsing.items import ItemsReason, ParsedItems, parse_items
from reasoningbank_langgraph.parsing.verdicts import parse_verdict

__all__ = ["ItemsReason", "ParsedItems", "parse_items", "parse_verdict"]
