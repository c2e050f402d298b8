"""The operations of a batch, checked and sorted by kind, before anything is read, embedded or written."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    Op,
    PutOp,
    SearchOp,
    validate_op_namespace,
)

from reasoningbank_langgraph.errors import InvalidOperationError, OperationTypeError
from reasoningbank_langgraph.store.filters import check_filter
from reasoningbank_langgraph.store.indexing import Indexing
from reasoningbank_langgraph.store.namespaces import Namespace, as_namespace, check_conditions
from reasoningbank_langgraph.store.row_layout import Paths, item_id
from reasoningbank_langgraph.store.values import encode_value

MOST = 1 << 60
"""Largest limit or offset."""
_LONGEST_TTL = 1e10
"""Minutes, 19,000 years: times in microseconds have 64 bits."""


@dataclass(frozen=True, slots=True)
class Change:
    """One item to write, or to delete where `document` is None."""

    id: str
    namespace: Namespace
    key: str
    document: str | None = None
    texts: tuple[str, ...] = ()
    """Texts that get a vector each."""
    paths: Paths = None
    ttl: float = 0.0


@dataclass
class Batch:
    """The ops of a batch by kind, with their places; of several puts to one item only the last counts."""

    size: int = 0
    gets: dict[int, GetOp] = field(default_factory=dict)
    searches: dict[int, SearchOp] = field(default_factory=dict)
    listings: dict[int, ListNamespacesOp] = field(default_factory=dict)
    changes: dict[str, Change] = field(default_factory=dict)

    @property
    def documents(self) -> list[str]:
        """The distinct texts to embed for writing."""
        return list(dict.fromkeys(text for change in self.changes.values() for text in change.texts))

    @property
    def queries(self) -> list[str]:
        """The distinct queries to embed."""
        return list(dict.fromkeys(op.query for op in self.searches.values() if op.query))


def make_batch(ops: Iterable[Op], indexing: Indexing) -> Batch:
    """Check every op of a batch and sort them.

    Raises:
        InvalidNamespaceError: a label stores refuse, or a put without a namespace.
        InvalidOperationError: no op, or numbers that make no sense.
        OperationTypeError: an argument of a type that its op does not take.
        InvalidFilterError: a filter that cannot be applied.
        InvalidValueError: a value JSON cannot hold.
    """
    if not isinstance(ops, Iterable):
        raise OperationTypeError("a batch", "a list of operations", ops)
    batch = Batch()
    for op in ops:
        _add(batch, op, indexing)
        batch.size += 1
    return batch


def _add(batch: Batch, op: Op, indexing: Indexing) -> None:
    if isinstance(op, GetOp):
        checked = op._replace(namespace=as_namespace(op.namespace), key=str(op.key))
        validate_op_namespace(checked)
        batch.gets[batch.size] = checked
    elif isinstance(op, SearchOp):
        batch.searches[batch.size] = _search(op)
    elif isinstance(op, ListNamespacesOp):
        batch.listings[batch.size] = _listing(op)
    elif isinstance(op, PutOp):
        change = _change(op, indexing)
        batch.changes.pop(change.id, None)
        batch.changes[change.id] = change
    else:
        raise InvalidOperationError(f"Unknown operation type: {type(op)}")


def _search(op: SearchOp) -> SearchOp:
    checked = op._replace(namespace_prefix=as_namespace(op.namespace_prefix))
    validate_op_namespace(checked)
    check_filter(op.filter)
    _check_count("limit", op.limit)
    _check_count("offset", op.offset)
    if op.query is not None and not isinstance(op.query, str):
        raise OperationTypeError("query", "a string", op.query)
    return checked


def _listing(op: ListNamespacesOp) -> ListNamespacesOp:
    check_conditions(op.match_conditions)
    validate_op_namespace(op)
    _check_count("limit", op.limit)
    _check_count("offset", op.offset)
    if op.max_depth is not None:
        _check_count("max_depth", op.max_depth, lowest=1)
    return op


def _check_count(argument: str, number: object, lowest: int = 0) -> None:
    if not isinstance(number, int) or isinstance(number, bool):
        raise OperationTypeError(argument, "a whole number", number)
    if not lowest <= number <= MOST:
        raise InvalidOperationError(f"{argument} is from {lowest} to {MOST}, got {reprlib.repr(number)}")


def _change(op: PutOp, indexing: Indexing) -> Change:
    checked = op._replace(namespace=as_namespace(op.namespace), key=str(op.key))
    validate_op_namespace(checked)
    namespace, key = checked.namespace, checked.key
    if not namespace:
        raise InvalidNamespaceError("Namespace cannot be empty.")
    item = item_id(namespace, key)
    if op.value is None:
        return Change(item, namespace, key)
    document, stored = encode_value(key, op.value)
    paths = _paths(op.index)
    texts = indexing.texts(stored, paths)
    return Change(item, namespace, key, document, tuple(texts), paths, _ttl(op.ttl))


def _paths(index: object) -> Paths:
    if index is None:
        return None
    if index is False:
        return ()
    if isinstance(index, list | tuple) and all(isinstance(path, str) for path in index):
        return tuple(index)
    raise OperationTypeError("index", "None, False or a list of paths", index)


def _ttl(ttl: float | None) -> float:
    if ttl is None:
        return 0.0
    if not isinstance(ttl, int | float) or isinstance(ttl, bool):
        raise OperationTypeError("ttl", "a number of minutes or None", ttl)
    if not 0 < ttl <= _LONGEST_TTL:
        raise InvalidOperationError(f"ttl is a positive number of minutes or None, got {reprlib.repr(ttl)}")
    return float(ttl)
