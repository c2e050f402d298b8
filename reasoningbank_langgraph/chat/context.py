"""How many tokens a model's context holds, and how much of an attempt fits beside the instructions and the reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reasoningbank_langgraph.text.trajectory import Room

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_CHARS_A_TOKEN = 2.5
"""A cautious estimate: English has about four, digits and LaTeX fewer."""
_INSTRUCTIONS = 600
"""Tokens of the package's own instructions and of the chat template."""


def context_tokens(model: BaseChatModel) -> int | None:
    """Return how many tokens of prompt and reply a model's context holds, or None if the model does not say.

    LangChain keeps the number in the model's profile. It is known for the large providers; for your own server, set it
    as in `ChatOpenAI(..., profile={"max_input_tokens": 4096})`.
    """
    size = (getattr(model, "profile", None) or {}).get("max_input_tokens")
    return size if isinstance(size, int) and size > 0 else None


def room_in(model: BaseChatModel, max_tokens: int) -> Room:
    """Return how much text fits into the model's context beside the instructions and a reply of `max_tokens` tokens."""
    context = context_tokens(model)
    if context is None:
        return Room()
    chars = max(1_000, round((context - max_tokens - _INSTRUCTIONS) * _CHARS_A_TOKEN))
    return Room(*(min(most, chars * most // sum(Room())) for most in Room()))
