"""What any LangGraph store has to do, as a class of pytest cases that a backend's author subclasses.

- `base`: what all cases share: the fixtures a backend defines, the failures it admits, and some weather to store
- `values`: what is put comes back: the same value, the same key
- `listing`: which namespaces there are: matched, cut to a depth, sorted and paged
- `namespaces`: who sees what: a namespace is a tuple of labels
- `search`: searching without a query: order, pages and what they miss
- `filters`: filters: equality and `$eq $ne $gt $gte $lt $lte`. What does not exist is refused, never passed over
- `vectors`: searching by meaning. All cases need an index on `text` and `more`
- `batches`: several operations in one call: where the results stand, what reads see
- `concurrency`: both interfaces, from any thread and any event loop, many callers at once. Needs no pytest plugin
- `ttl`: items that live for a time, in minutes: refused by a store that cannot, kept to by one that says it can
"""

from __future__ import annotations

from reasoningbank_langgraph.testing.store_contract.batches import BatchCases
from reasoningbank_langgraph.testing.store_contract.concurrency import ConcurrencyCases
from reasoningbank_langgraph.testing.store_contract.filters import FilterCases
from reasoningbank_langgraph.testing.store_contract.listing import ListingCases
from reasoningbank_langgraph.testing.store_contract.namespaces import NamespaceCases
from reasoningbank_langgraph.testing.store_contract.search import SearchCases
from reasoningbank_langgraph.testing.store_contract.ttl import TtlCases
from reasoningbank_langgraph.testing.store_contract.values import ValueCases
from reasoningbank_langgraph.testing.store_contract.vectors import VectorCases

__all__ = ["StoreContract"]


class StoreContract(
    ValueCases,
    BatchCases,
    NamespaceCases,
    ListingCases,
    SearchCases,
    FilterCases,
    VectorCases,
    TtlCases,
    ConcurrencyCases,
):
    """The behaviour of a `langgraph.store.base.BaseStore`, one case a rule. Needs pytest and no plugin.

    Subclass it in a test module, under a name that pytest collects, and define the fixtures; each gives a store that
    holds nothing, and may be a generator that closes it afterwards:

    - `plain_store`: without an index. Required.
    - `indexed_store`: with an index on the fields `text` and `more` of a value. A store that cannot search by meaning
      leaves it out; pytest then collects no case that needs one.
    - `ttl_store`: without an index, with `ttl={"refresh_on_read": True}`, where that is not how `plain_store` works
      anyway. Only used where the store's `supports_ttl` is true; such a store has a `sweep_ttl()`.

    The embedder of `indexed_store` has to give equal vectors for equal texts and close ones for texts that share
    words: `reasoningbank_langgraph.testing.HashEmbeddings` does. All other cases run on the plain store and on the
    indexed one, through a fixture `store` that need not be defined.

    Three class attributes say what is different about a store:

    - `supports_ttl`: the store's own attribute of that name. Said here, the cases that it rules out are not collected;
      where it is not, the store is asked during a case, and what does not apply is skipped.
    - `clock`: seconds its timestamps can tell apart, 1.0 unless said otherwise. Cases that wait wait some of these,
      longer where the machine is busy.
    - `known_failures`: cases it is known to fail, each with the reason: `{"test_name": "why"}`. The name may hold `*`,
      and `"test_name[plain]"` means only the runs that have `plain` among their parameters, as pytest shows them
      (separated by `-`; `*` here as well). Such a case is expected to fail: once it passes, pytest says so and the
      entry can go.

    Where a rule says "or refused", any exception will do, as long as nothing was written.

    Example:
        ```python
        import pytest
        from my_package import MyStore
        from reasoningbank_langgraph.testing import HashEmbeddings, StoreContract


        class TestMyStore(StoreContract):
            supports_ttl = False
            known_failures = {"test_huge_numbers*": "the database keeps 64 bits"}

            @pytest.fixture
            def plain_store(self, tmp_path):
                with MyStore(tmp_path) as store:
                    yield store

            @pytest.fixture
            def indexed_store(self, tmp_path):
                index = {"dims": 64, "embed": HashEmbeddings(), "fields": ["text", "more"]}
                with MyStore(tmp_path, index=index) as store:
                    yield store
        ```
    """
