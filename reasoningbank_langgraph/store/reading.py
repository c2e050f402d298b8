"""The reading ops, answered from memory or from Chroma alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain, islice

from langgraph.store.base import GetOp, Item, ListNamespacesOp, SearchItem, SearchOp, TTLConfig

from reasoningbank_langgraph.store.filters import matches
from reasoningbank_langgraph.store.layout import Entry, Vector, item_id, row_id
from reasoningbank_langgraph.store.namespaces import Namespace, listed
from reasoningbank_langgraph.store.shelf import Shelf, now
from reasoningbank_langgraph.store.values import decode_value
from reasoningbank_langgraph.store.walk import IndexWalk

Hit = tuple[float | None, Entry]


class Reader:
    """Answers reads on a shelf.

    Args:
        shelf: the collection.
        ttl: with `omit_expired`, expired items are not there, even before they are swept.
    """

    def __init__(self, shelf: Shelf, ttl: TTLConfig | None) -> None:
        self._shelf = shelf
        self._ttl = ttl

    @property
    def _omit_expired(self) -> bool:
        return bool(self._ttl and self._ttl.get("omit_expired"))

    def get(self, ops: Mapping[int, GetOp]) -> dict[int, Entry | None]:
        """Return the item each op asks for, None where there is none."""
        wanted = {place: (item_id(op.namespace, op.key), (op.namespace, op.key)) for place, op in ops.items()}
        found = self._shelf.find(dict(wanted.values()))
        moment = now()
        entries = {place: found.get(item) for place, (item, _) in wanted.items()}
        return {place: entry if entry and self.alive(entry, moment) else None for place, entry in entries.items()}

    def search(self, op: SearchOp, query: Vector | None) -> list[Hit]:
        """Return the page an op asks for: with a query by similarity, then what has no vector; else newest first."""
        kept = (hit for hit in self._candidates(op.namespace_prefix, query) if self._wanted(hit[1], op))
        return list(islice(kept, op.offset, op.offset + op.limit))

    def namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        """Return the namespaces an op asks for."""
        return listed(self._shelf.namespaces(now() if self._omit_expired else None), op)

    def alive(self, entry: Entry, moment: int) -> bool:
        """Say whether an item is there for readers at a moment."""
        return not (self._omit_expired and entry.expired(moment))

    def _candidates(self, prefix: Namespace, query: Vector | None) -> Iterator[Hit]:
        source = self._shelf.snapshot(prefix, everything=query is None) or IndexWalk(self._shelf.rows, prefix)
        if query is None:
            return _scoreless(source.newest())
        scored = ((min(1.0, max(0.0, cosine)), entry) for cosine, entry in source.scored(query))
        return chain(scored, _scoreless(source.unscored()))

    def _wanted(self, entry: Entry, op: SearchOp) -> bool:
        if not self.alive(entry, now()):
            return False
        return not op.filter or matches(decode_value(row_id(entry.id, 0), entry.document), op.filter)


def as_item(entry: Entry) -> Item:
    """Return an item as LangGraph hands it out; its value is a fresh copy."""
    value = decode_value(row_id(entry.id, 0), entry.document)
    return Item(
        value=value,
        key=entry.key,
        namespace=entry.namespace,
        created_at=_moment(entry.created),
        updated_at=_moment(entry.updated),
    )


def as_search_item(hit: Hit) -> SearchItem:
    """Return a search hit as LangGraph hands it out; its value is a fresh copy."""
    score, entry = hit
    return SearchItem(
        namespace=entry.namespace,
        key=entry.key,
        value=decode_value(row_id(entry.id, 0), entry.document),
        created_at=_moment(entry.created),
        updated_at=_moment(entry.updated),
        score=score,
    )


def _scoreless(entries: Iterable[Entry]) -> Iterator[Hit]:
    return ((None, entry) for entry in entries)


def _moment(microseconds: int) -> datetime:
    seconds, rest = divmod(microseconds, 1_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)
