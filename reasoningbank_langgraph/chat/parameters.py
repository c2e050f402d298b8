"""How many parameters a model has, and whether that makes it a weak one. Weak models are asked in plainer words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reasoningbank_langgraph.chat.models import model_name_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

WEAK_BELOW = 3_000_000_000
"""Parameters. Measured with models of 0.5 and 1.5 billion; larger ones keep the prompts of the paper."""
TINY_BELOW, TEACHES_FROM = 1_000_000_000, 300_000_000
"""Parameters. A tiny model is asked for its tip more briefly. Models of fewer than `TEACHES_FROM` are not asked at all:
of SmolLM2-135M's tips none could be used."""
PARAMETERS = "parameters"
"""The key of a model's `metadata` that says how many it has."""
_IN_NAME = re.compile(r"(?<![a-z0-9.])(?:(\d+(?:\.\d+)?)b|(\d{3})m)(?![a-z0-9])", re.IGNORECASE)
"""`0.5b`, `7B`, `135M`. Millions have three digits: `1M` in a name is the length of a context."""


def parameters_of(model: BaseChatModel) -> int | None:
    """Return how many parameters a model has, or None if neither its metadata nor its name says.

    The package's local server and llama.cpp's server fill in the metadata. For your own server, set the number as in
    `ChatOpenAI(..., metadata={"parameters": 1_500_000_000})`. If a name has several numbers, the largest counts.
    """
    known = (getattr(model, "metadata", None) or {}).get(PARAMETERS)
    if isinstance(known, int) and known > 0:
        return known
    sizes = [
        float(billions) * 1e9 if billions else int(millions) * 1e6
        for billions, millions in _IN_NAME.findall(model_name_of(model))
    ]
    return round(max(sizes)) if sizes else None


def writes_lessons(parameters: int | None) -> bool:
    """Say whether a model of so many parameters can be asked for lessons; one that is not known is."""
    return (parameters or TEACHES_FROM) >= TEACHES_FROM


def is_weak(model: BaseChatModel) -> bool:
    """Say whether a model is known to have fewer than three billion parameters."""
    return (parameters_of(model) or WEAK_BELOW) < WEAK_BELOW
