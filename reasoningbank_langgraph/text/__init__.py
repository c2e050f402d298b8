"""Sanitising, fencing, budgeting and redacting of untrusted text."""

from reasoningbank_langgraph.text.fencing import fence
from reasoningbank_langgraph.text.memories import parse_rendered, render_memories, without_memories
from reasoningbank_langgraph.text.redaction import Redacted, redact_secrets
from reasoningbank_langgraph.text.sanitise import LINK_REMOVED, clean_line, clean_text

__all__ = [
    "LINK_REMOVED",
    "Redacted",
    "clean_line",
    "clean_text",
    "fence",
    "parse_rendered",
    "redact_secrets",
    "render_memories",
    "without_memories",
]
