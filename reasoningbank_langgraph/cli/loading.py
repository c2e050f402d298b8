"""The model of a command, loaded while the reader is told so, and how long one call of it may take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reasoningbank_langgraph.cli.terminal import console

if TYPE_CHECKING:
    from reasoningbank_langgraph.local.model_choice import ResolvedModel

TIME_LIMIT = 600.0
"""Seconds for one call: a small machine may write three tokens a second."""


@contextmanager
def loaded_model(name: str | None) -> Iterator[ResolvedModel]:
    """Load the model that a command names, say which one it is, and end what was started for it."""
    from reasoningbank_langgraph.local.model_choice import resolve_model

    with console.status("loading the model"):
        resolved = resolve_model(name, temperature=0)
    with resolved:
        console.print(f"model: {resolved.description}")
        yield resolved
