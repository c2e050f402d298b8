"""The settings of a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import NoneType
from typing import TypedDict

from langchain_core.embeddings import Embeddings
from langgraph.store.base import TTLConfig

from reasoningbank_langgraph.errors import StoreSettingError
from reasoningbank_langgraph.store.indexing import IndexSetting

GIBIBYTE = 1 << 30
Progress = Callable[[int, int], None]
"""Called with the progress of a long task: items done, items in all."""


class StoreSettings(TypedDict, total=False):
    """Settings that every way of opening a store takes."""

    index: IndexSetting
    """LangGraph's `IndexConfig`: `embed` (an `Embeddings`, a function, an async function or "provider:model"), `dims`
    (measured by default), `fields` (paths into the value, default the whole value). None: no vectors, queries are
    ignored."""
    embeddings: Embeddings | None
    """Short for `index={"embed": embeddings}`."""
    ttl: TTLConfig | None
    """LangGraph's `TTLConfig`, times in minutes."""
    collection: str
    """Name of the Chroma collection."""
    cache_bytes: int
    """Memory for the items and vectors of an embedded bank, default 1 GiB. A namespace is read into it on its first
    search and then searched exactly: in a folder from the files that the last store saved when it was closed (a second
    for 100,000 items), otherwise through Chroma (two seconds for 10,000). What does not fit, and everything on a
    server, is searched with Chroma's approximate index."""
    encryption_key: bytes | None
    """16, 24 or 32 random bytes with which every value is encrypted (extra `encryption`). A bank that was made without
    one, or with another, is refused; `reasoningbank_langgraph.store.rekey` changes the key. Vectors, namespaces, keys
    of items and times stay readable."""
    reindex: bool | Progress
    """If the bank was made with another embedder, move it to this one instead of raising: True, or a function that is
    called with the progress (items done, items in all). If the move is stopped, the next opening continues it."""


_EXPECTED: Mapping[str, tuple[tuple[type, ...], str]] = {
    "index": ((Mapping, NoneType), "an IndexConfig or None"),
    "ttl": ((Mapping, NoneType), "a TTLConfig or None"),
    "collection": ((str,), "a name"),
    "cache_bytes": ((int,), "a number of bytes"),
}


def check_settings(settings: StoreSettings) -> StoreSettings:
    """Return the settings. Raises `StoreSettingError` if one has a type that it does not take."""
    for name, value in settings.items():
        kinds, expected = _EXPECTED.get(name, ((object,), ""))
        if not isinstance(value, kinds):
            raise StoreSettingError(name, expected, value)
    return settings
