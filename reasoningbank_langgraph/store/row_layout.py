"""How an item is laid out in Chroma: one row for each vector, the first of which is the item.

    row id        <32 hexadecimal digits of the item>-<ordinal>
    document      ordinal 0: the value as JSON text, encrypted if the bank has a key; others: empty
    metadata      row      "item" (has vectors) | "plain" (has none) | "vector" (ordinal 1 and up) | "deleted"
                  token    names the write; a "vector" row counts only while its token is that of ordinal 0
                  head     everything else about the item, as JSON (namespace, key, times, ttl, vectors, paths); of a
                           "deleted" row that stands for others, the id of each with the token it has
                  expires  microseconds since 1970, 0 for never
                  d1 d2 …  digest of the first 1, 2, … labels, so that one equality finds all below a prefix

Every row has all of these keys, because an upsert merges metadata instead of replacing it. Texts that users choose
are ASCII JSON or digests here, so no label or key is ever part of a query, and lone surrogates survive.

An item without vectors still needs one in Chroma. It gets a unit vector drawn from its id: a constant one would put
all such items on one spot, which breaks the neighbour graph of HNSW.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reasoningbank_langgraph.errors import StoreCorruptedError
from reasoningbank_langgraph.store.cipher import BankCipher
from reasoningbank_langgraph.store.namespaces import Namespace
from reasoningbank_langgraph.store.values import to_json

Vector = NDArray[np.float32]
Paths = tuple[str, ...] | None
"""Paths of a value that are embedded; None for the store's own fields."""

ITEM, PLAIN, VECTOR, DELETED = "item", "plain", "vector", "deleted"
FILLER_DIMS = 8
"""Length of the vectors in a bank without an embedder."""


class ChromaRow(NamedTuple):
    """One row to write."""

    id: str
    vector: Vector
    document: str
    metadata: dict[str, Any]


class StoredRow(NamedTuple):
    """One row as read; the parts that were not asked for are None."""

    id: str
    metadata: Mapping[str, Any]
    document: str | None
    """As Chroma has it."""
    vector: Vector | None
    cipher: BankCipher | None = None

    @property
    def text(self) -> str:
        """The value as JSON text; empty where the document was not read.

        Raises:
            StoreCorruptedError: it was changed, or is that of another row.
        """
        if self.document is None or self.cipher is None:
            return self.document or ""
        return self.cipher.unseal_text(self.document, place_of(self.id, self.metadata))


@dataclass(frozen=True, slots=True)
class Entry:
    """One item: what its first row says."""

    id: str
    namespace: Namespace
    key: str
    document: str
    """The value as JSON text."""
    created: int
    """Microseconds since 1970, as all times here."""
    updated: int
    order: int
    """Place within the batch that wrote it: breaks ties of `updated`."""
    expires: int
    ttl: float
    """Minutes the item lives after a refresh; 0 for ever."""
    vectors: int
    token: str
    paths: Paths

    def expired(self, moment: int) -> bool:
        """Say whether the item has expired at a moment."""
        return 0 < self.expires <= moment

    @property
    def newest_first(self) -> tuple[int, int]:
        """Sort key: last written first, and within one batch in its order."""
        return (-self.updated, self.order)


class EmbeddedEntry(NamedTuple):
    """An item with its vectors."""

    entry: Entry
    vectors: Sequence[Vector]


def item_id(namespace: Namespace, key: str) -> str:
    """Return the id of an item: different for every namespace and key."""
    return _digest(f"[{_labels(namespace)}, {json.dumps(key)}]")


def row_id(item: str, ordinal: int) -> str:
    """Return the id of an item's row."""
    return f"{item}-{ordinal}"


def item_of(row: str) -> str:
    """Return the id of the item a row belongs to."""
    return row.rpartition("-")[0]


def rows_of(entry: Entry, vectors: Sequence[Vector], dims: int) -> list[ChromaRow]:
    """Return an item's rows, the first one last: a reader sees the item once all its vectors are there."""
    common = {**_depths(entry.namespace), "token": entry.token, "expires": 0, "head": "{}"}
    extra = [
        ChromaRow(row_id(entry.id, ordinal), vector, "", {**common, "row": VECTOR})
        for ordinal, vector in enumerate(vectors[1:], start=1)
    ]
    kind, first = (ITEM, vectors[0]) if vectors else (PLAIN, filler(entry.id, dims))
    metadata = {**common, "row": kind, "expires": entry.expires, "head": _head(entry)}
    return [*extra, ChromaRow(row_id(entry.id, 0), first, entry.document, metadata)]


def tombstone(row: str, namespace: Namespace, token: str, dims: int) -> ChromaRow:
    """Return a row that marks the place of another as deleted."""
    metadata = {**_depths(namespace), "token": token, "expires": 0, "head": "{}", "row": DELETED}
    return ChromaRow(row, filler(row, dims), "", metadata)


def removal(gone: Mapping[str, str], token: str, number: int, dims: int) -> ChromaRow:
    """Return a row that says which others its write removes: to write over each would cost ten times as much.

    Args:
        gone: their ids, each with its token: a row that is written again later has another one, and stays.
        token: of the write.
        number: which of the rows of this kind it is.
        dims: length of the vectors.
    """
    row = row_id(token, number)
    metadata = {"token": token, "expires": 0, "head": to_json(gone), "row": DELETED}
    return ChromaRow(row, filler(row, dims), "", metadata)


def removed_with(stored: StoredRow) -> dict[str, str]:
    """Return the rows that one marked "deleted" stands for, by id, each with its token."""
    gone: dict[str, str] = json.loads(stored.metadata["head"])
    return gone


def is_first(stored: StoredRow) -> bool:
    """Say whether a row is the first one of a living item."""
    return stored.metadata.get("row") in (ITEM, PLAIN)


def entry_of(stored: StoredRow) -> Entry:
    """Read an item from its first row; the value stays empty where the document was not read.

    Raises:
        StoreCorruptedError: the row does not have the shape that was written.
    """
    try:
        head = json.loads(stored.metadata["head"])
        return Entry(
            id=item_of(stored.id),
            namespace=tuple(head["namespace"]),
            key=head["key"],
            document=stored.text,
            created=head["created"],
            updated=head["updated"],
            order=head["order"],
            expires=int(stored.metadata["expires"]),
            ttl=float(head["ttl"]),
            vectors=head["vectors"],
            token=stored.metadata["token"],
            paths=None if head["paths"] is None else tuple(head["paths"]),
        )
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise StoreCorruptedError(f"row {stored.id!r} is no item of a bank: {error!r}") from error


def place_of(row: str, metadata: Mapping[str, Any]) -> str:
    """Return what an encrypted document is bound to: all of its row but the time it expires, which a refresh moves."""
    return json.dumps([row, {key: metadata[key] for key in sorted(metadata) if key != "expires"}])


def below(prefix: Namespace) -> dict[str, Any] | None:
    """Return Chroma's condition for all rows of a namespace and the namespaces below it; None for all rows."""
    return {f"d{len(prefix)}": _digest(_labels(prefix))} if prefix else None


def filler(seed: str, dims: int) -> Vector:
    """Return the unit vector that stands in for a missing one; the same for the same seed."""
    number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")
    drawn = np.random.default_rng(number).standard_normal(dims or FILLER_DIMS)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def _head(entry: Entry) -> str:
    fields = ("namespace", "key", "created", "updated", "order", "ttl", "vectors", "paths")
    return to_json({field: getattr(entry, field) for field in fields})


@lru_cache(maxsize=1024)
def _depths(namespace: Namespace) -> dict[str, str]:
    return {f"d{depth}": _digest(_labels(namespace[:depth])) for depth in range(1, len(namespace) + 1)}


@lru_cache(maxsize=1024)
def _labels(namespace: Namespace) -> str:
    return json.dumps(list(namespace))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
