"""The block of lessons a model sees, and untrusted text: sanitised, fenced, cut to a budget, redacted.

- `memories`: the block of lessons that a model sees before it solves a task
- `examples`: worked examples as turns of a conversation: untrusted text, cleaned like lessons
- `trajectory`: an attempt as fenced text for the judge and the extractor: material to look at, never instructions
- `fencing`: fence lines with an unpredictable number, between which untrusted text is shown to a model
- `sanitise`: removes from untrusted text what could pass for structure, and leaves words, mathematics and scripts alone
- `roles`: lines that begin like a turn of a conversation: `System: ...`, in whatever brackets, numbers or letters
- `markers`: what links, special tokens of chat models and fence lines look like in folded text
- `visible`: removes what a reader cannot see: controls, invisible and private characters, piled-up marks
- `folding`: how a text looks to a reader, or to a tokeniser that normalises
- `lookalikes`: characters that are drawn like ASCII ones, in every script
- `redaction`: removes secrets and personal data from text before it is stored, by their shape, without any service
- `secret_shapes`: what secrets look like: keys and tokens with a shape of their own, and passwords that are named
"""

from reasoningbank_langgraph.text.examples import example_messages
from reasoningbank_langgraph.text.fencing import fence
from reasoningbank_langgraph.text.memories import parse_rendered, render_memories, without_blocks, without_memories
from reasoningbank_langgraph.text.redaction import Redacted, redact_secrets
from reasoningbank_langgraph.text.sanitise import LINK_REMOVED, clean_line, clean_text

__all__ = [
    "LINK_REMOVED",
    "Redacted",
    "clean_line",
    "clean_text",
    "example_messages",
    "fence",
    "parse_rendered",
    "redact_secrets",
    "render_memories",
    "without_blocks",
    "without_memories",
]
