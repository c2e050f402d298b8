"""Namespaces are compared label by label, never as joined text: no tenant's name is the beginning of another's."""

from __future__ import annotations

import reprlib
from collections import Counter, defaultdict
from collections.abc import Iterable

from langgraph.store.base import InvalidNamespaceError, ListNamespacesOp, MatchCondition

from reasoningbank_langgraph.errors import InvalidOperationError, OperationTypeError

Namespace = tuple[str, ...]


def as_namespace(labels: object) -> Namespace:
    """Return the labels as a tuple.

    Raises:
        InvalidNamespaceError: the labels are one string (whose letters would become labels) or no sequence.
    """
    if isinstance(labels, str) or not isinstance(labels, tuple | list):
        raise InvalidNamespaceError(f"a namespace is a tuple of labels, got {reprlib.repr(labels)}")
    return tuple(labels)


def listed(namespaces: Iterable[Namespace], op: ListNamespacesOp) -> list[Namespace]:
    """Return the namespaces an op asks for: matched, cut to its depth, sorted, without repeats, then its page."""
    conditions = op.match_conditions or ()
    matching = (namespace for namespace in namespaces if all(_matches(one, namespace) for one in conditions))
    sorted_namespaces = sorted({namespace[: op.max_depth] for namespace in matching})
    return sorted_namespaces[op.offset : op.offset + op.limit]


def check_conditions(conditions: object) -> None:
    """Refuse match conditions other than prefixes and suffixes.

    Raises:
        OperationTypeError: they are no list of match conditions.
        InvalidOperationError: the match type does not exist.
        InvalidNamespaceError: the path is no tuple of labels.
    """
    for condition in conditions if isinstance(conditions, list | tuple) else [conditions] if conditions else ():
        if not isinstance(condition, MatchCondition):
            raise OperationTypeError("match_conditions", "a list of MatchCondition", conditions)
        if condition.match_type not in ("prefix", "suffix"):
            raise InvalidOperationError(f"match_type is 'prefix' or 'suffix', got {condition.match_type!r}")
        as_namespace(condition.path)


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", found) for wanted, found in zip(path, part, strict=True))


class Tally:
    """How many items each namespace has, so that listing namespaces reads no rows.

    Items that may expire are listed by id with their time; all others are only counted.
    """

    def __init__(self) -> None:
        self._lasting: Counter[Namespace] = Counter()
        self._expiring: defaultdict[Namespace, dict[str, int]] = defaultdict(dict)

    def add(self, namespace: Namespace, item: str, expires: int) -> None:
        """Count an item; `expires` in microseconds since 1970, 0 for never."""
        if expires:
            self._expiring[namespace][item] = expires
        else:
            self._lasting[namespace] += 1

    def remove(self, namespace: Namespace, item: str, expires: int) -> None:
        """Take back what `add` with the same arguments counted."""
        if expires:
            self._expiring[namespace].pop(item, None)
            if not self._expiring[namespace]:
                del self._expiring[namespace]
        else:
            self._lasting[namespace] -= 1
            if self._lasting[namespace] <= 0:
                del self._lasting[namespace]

    def namespaces(self, alive_at: int | None) -> list[Namespace]:
        """Return the namespaces with at least one item, or one not expired at `alive_at`."""
        expiring = [
            namespace
            for namespace, items in self._expiring.items()
            if alive_at is None or any(expires > alive_at for expires in items.values())
        ]
        return list({*self._lasting, *expiring})
