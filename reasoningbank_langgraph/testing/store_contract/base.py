"""What all cases share: the fixtures that a store's tests define, its known failures, and sample values."""

# ruff: noqa: S101 - the cases are asserts

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from fnmatch import filter as matching
from fnmatch import fnmatchcase
from inspect import getattr_static, signature
from typing import Any, ClassVar

import pytest
from langgraph.store.base import BaseStore, Item, Op, Result

Namespace = tuple[str, ...]
CarryOut = Callable[[BaseStore, Iterable[Op]], list[Result]]

HERE = ("users", "al")
WEATHER: Mapping[str, dict[str, Any]] = {
    "rain": {"text": "heavy rain falls on the green hills", "n": 1},
    "snow": {"text": "white snow covers the mountain road", "n": 2},
    "wind": {"text": "strong wind bends the old trees", "n": 3},
}


def fill(store: BaseStore, values: Mapping[str, dict[str, Any]] = WEATHER, namespace: Namespace = HERE) -> None:
    """Put values by key, one call each."""
    for key, value in values.items():
        store.put(namespace, key, value)


def keys(items: Any) -> list[str]:
    """Return the keys of what a search found, in its order."""
    return [item.key for item in items]


def stored_item(store: BaseStore, key: str, namespace: Namespace = HERE) -> Item:
    """Return an item that must exist."""
    item = store.get(namespace, key)
    assert item is not None, f"no item {key!r} in {namespace!r}"
    return item


def _batch(store: BaseStore, ops: Iterable[Op]) -> list[Result]:
    return store.batch(ops)


def _abatch(store: BaseStore, ops: Iterable[Op]) -> list[Result]:
    return asyncio.run(store.abatch(ops))


class StoreCases:
    """Fixtures and settings; `StoreContract` describes them."""

    known_failures: ClassVar[Mapping[str, str]] = {}
    supports_ttl: ClassVar[bool | None] = None
    clock: ClassVar[float] = 1.0

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cases = [name for name in dir(cls) if name.startswith("test_")]
        for case in cls.known_failures:
            if not matching(cases, case.partition("[")[0]):
                raise TypeError(f"{cls.__name__}.known_failures: the contract has no case {case!r}")
        if cls._defines("plain_store"):
            cls._hide_cases_that_cannot_apply(cases)

    @classmethod
    def _defines(cls, fixture: str) -> bool:
        return getattr_static(cls, fixture) is not getattr_static(StoreCases, fixture)

    @classmethod
    def _hide_cases_that_cannot_apply(cls, cases: list[str]) -> None:
        """Hide from pytest the cases that take a fixture which this kind of store cannot have."""
        absent = {
            "indexed_store": not cls._defines("indexed_store"),
            "ttl_store": cls.supports_ttl is False,
            "timeless_store": cls.supports_ttl is True,
        }
        for name in cases:
            case = next(base.__dict__[name] for base in cls.__mro__ if base.__dict__.get(name))
            setattr(cls, name, None if any(absent.get(taken) for taken in signature(case).parameters) else case)
        both = getattr_static(StoreCases, "store")
        if getattr_static(cls, "store") in (both, _only_plain):
            cls.store = _only_plain if absent["indexed_store"] else both  # type: ignore[method-assign]

    @pytest.fixture
    def plain_store(self) -> BaseStore:
        """An empty store without an index."""
        raise NotImplementedError(f"{type(self).__name__} has to define a fixture `plain_store`: see StoreContract")

    @pytest.fixture
    def indexed_store(self) -> BaseStore:
        """An empty store with an index on the fields `text` and `more`."""
        raise NotImplementedError(f"{type(self).__name__} defines no fixture `indexed_store`")

    @pytest.fixture
    def ttl_store(self, plain_store: BaseStore) -> BaseStore:
        """An empty store in which a read restarts an item's time to live."""
        return plain_store

    @pytest.fixture
    def timeless_store(self, plain_store: BaseStore) -> BaseStore:
        """An empty store without support for times to live."""
        return plain_store

    @pytest.fixture(params=["plain", "indexed"])
    def store(self, request: pytest.FixtureRequest) -> Any:
        """An empty store; each case runs without an index and with one."""
        return request.getfixturevalue(f"{request.param}_store")

    @pytest.fixture(params=[_batch, _abatch], ids=["batch", "abatch"])
    def carry_out(self, request: pytest.FixtureRequest) -> Any:
        """A function of a store and operations: both ways to carry out a batch."""
        return request.param

    @classmethod
    def _known_failure(cls, case: Any) -> str | None:
        """Return why a collected case is known to fail, if it is."""
        return next((reason for entry, reason in cls.known_failures.items() if _names(entry, case)), None)

    @pytest.fixture(autouse=True)
    def _expect_known_failures(self, request: pytest.FixtureRequest) -> None:
        if reason := self._known_failure(request.node):
            request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(params=["plain"])
def _only_plain(self: StoreCases, plain_store: BaseStore) -> BaseStore:  # noqa: ARG001 - becomes a method
    return plain_store


def _names(entry: str, case: Any) -> bool:
    """Say whether an entry of `known_failures` means a case: by its name, and by a parameter if it names one."""
    name, _, part = entry.partition("[")
    parameters = case.callspec.id.split("-") if hasattr(case, "callspec") else []
    wanted = part.removesuffix("]")
    return fnmatchcase(case.originalname, name) and (not wanted or bool(matching(parameters, wanted)))
