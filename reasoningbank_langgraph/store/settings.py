"""Settings every way of opening a store takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from langchain_core.embeddings import Embeddings
from langgraph.store.base import TTLConfig

from reasoningbank_langgraph.store.indexing import IndexSetting

GIBIBYTE = 1 << 30
Progress = Callable[[int, int], None]
"""Told how far a long task is: items done, items in all."""


class StoreSettings(TypedDict, total=False):
    """Settings every way of opening a store takes."""

    index: IndexSetting
    """LangGraph's `IndexConfig`: `embed` (an `Embeddings`, a function, an async function or "provider:model"), `dims`
    (found out if left out), `fields` (paths into the value, default the whole value). None: no vectors, queries are
    ignored."""
    embeddings: Embeddings | None
    """Short for `index={"embed": embeddings}`."""
    ttl: TTLConfig | None
    """LangGraph's `TTLConfig`, times in minutes."""
    collection: str
    """Name of the Chroma collection."""
    cache_bytes: int
    """Memory for the items and vectors of an embedded bank, 1 GiB if not said. A namespace is read into it on its
    first search and then searched exactly: in a folder from what the store before it kept there when it was closed
    (a second for 100,000 items), otherwise through Chroma (two seconds for 10,000). What does not fit, and
    everything on a server, is searched with Chroma's approximate index."""
    reindex: bool | Progress
    """If the bank was made with another embedder, move it to this one instead of raising: True, or a function that is
    told how far it is (items done, items in all). Stopped on the way, the next opening goes on."""
