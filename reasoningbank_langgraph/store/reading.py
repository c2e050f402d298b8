"""The reading ops, answered from memory or from Chroma alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain, islice
from typing import NamedTuple

from langgraph.store.base import GetOp, Item, ListNamespacesOp, Result, SearchItem, SearchOp, TTLConfig

from reasoningbank_langgraph.errors import StoreError
from reasoningbank_langgraph.store.batch import Plan
from reasoningbank_langgraph.store.cache.collection import Shelf, now
from reasoningbank_langgraph.store.filters import matches
from reasoningbank_langgraph.store.index_search import IndexWalk
from reasoningbank_langgraph.store.namespaces import Namespace, listed
from reasoningbank_langgraph.store.row_layout import Entry, Vector, item_id, row_id
from reasoningbank_langgraph.store.values import decode_value

Hit = tuple[float | None, Entry]


class Reads(NamedTuple):
    """What the reading ops of a batch found, by their places in it."""

    items: dict[int, Entry | None]
    hits: dict[int, list[Hit]]
    namespaces: dict[int, list[Namespace]]

    def results(self, size: int) -> list[Result]:
        """Return the results of the whole batch; writes answer None. Values are fresh copies."""
        results: list[Result] = [None] * size
        for place, entry in self.items.items():
            results[place] = _item(entry) if entry else None
        for place, some in self.hits.items():
            results[place] = [_search_item(score, entry) for score, entry in some]
        for place, namespaces in self.namespaces.items():
            results[place] = namespaces
        return results

    def to_refresh(self, plan: Plan) -> list[Entry]:
        """Return the items read by ops that ask for a refresh, except those the same batch writes anyway."""
        read = [entry for place, entry in self.items.items() if entry and plan.gets[place].refresh_ttl]
        read += [entry for place, some in self.hits.items() if plan.searches[place].refresh_ttl for _, entry in some]
        return [entry for entry in read if entry.id not in plan.changes]


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

    def read(self, plan: Plan, queries: Mapping[str, Vector]) -> Reads:
        """Carry out the reading ops of a batch; `queries` holds the vector of every query."""
        while True:
            rows = self._shelf.rows
            try:
                return self._read(plan, queries)
            except StoreError:
                with self._shelf.writing:  # held by whoever puts another collection in the place of this one
                    if self._shelf.rows is rows:
                        raise

    def _read(self, plan: Plan, queries: Mapping[str, Vector]) -> Reads:
        return Reads(
            self.get(plan.gets),
            {place: self.search(op, queries.get(op.query or "")) for place, op in plan.searches.items()},
            {place: self.namespaces(op) for place, op in plan.listings.items()},
        )

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


def _item(entry: Entry) -> Item:
    return Item(
        value=decode_value(row_id(entry.id, 0), entry.document),
        key=entry.key,
        namespace=entry.namespace,
        created_at=_moment(entry.created),
        updated_at=_moment(entry.updated),
    )


def _search_item(score: float | None, entry: Entry) -> SearchItem:
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
