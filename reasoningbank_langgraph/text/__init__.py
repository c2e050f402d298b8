"""Sanitising, fencing, budgeting and redacting of untrusted text.

- `memories`: the block of lessons a model sees before it solves a task
- `trajectory`: an attempt as fenced text for the judge and the extractor: material to look at, never instructions
- `fencing`: fences: lines with a number nobody can foresee, between which a model is shown text that it must not obey
- `sanitise`: takes from untrusted text what could pass for structure, and leaves words, mathematics and scripts alone
- `roles`: lines that start like a turn of a conversation: `System: ...`, in whatever brackets, numbers or letters
- `markers`: what links, special tokens of chat models and fences look like in folded text (NFKD
- `visible`: takes from a text what a reader cannot see: controls, invisible and private characters, piled-up marks
- `folding`: how a text looks to a reader, or to a tokeniser that normalises
- `lookalikes`: characters that are drawn like ASCII ones, in every script: made by `tests/data/make_lookalikes.py`
- `redaction`: takes secrets and personal data out of text before it is stored: by shape, with nothing sent anywhere
- `secret_shapes`: what secrets look like: those with a shape of their own
"""

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
