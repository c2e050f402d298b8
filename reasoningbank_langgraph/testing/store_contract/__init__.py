"""What any LangGraph store has to do, as a class of pytest cases that the author of a store subclasses.

- `base`: what all cases share: fixtures, known failures, and sample values
- `values`: put and get: the same value under the same key
- `batches`: several operations in one call: the order of the results, and what reads see
- `namespaces`: namespaces as tuples of labels, each apart from all others
- `listing`: the list of namespaces: matched, cut to a depth, sorted and paged
- `search`: searches without a query: order and pages
- `filters`: search filters: equality and `$eq $ne $gt $gte $lt $lte`; unknown operators are refused
- `vectors`: searches by meaning, for stores with an index
- `ttl`: items that live for a time, in minutes; stores that do not support it refuse them
- `concurrency`: both interfaces, from any thread and any event loop, with many callers at once
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
    """The behaviour of a `langgraph.store.base.BaseStore`, one case for each rule. Needs pytest and no plugin.

    Subclass it in a test module, under a name that pytest collects, and define the fixtures. Each returns an empty
    store, or is a generator that yields one and closes it afterwards:

    - `plain_store`: without an index. Required.
    - `indexed_store`: with an index on the fields `text` and `more` of a value. Leave it out for a store that cannot
      search by meaning; pytest then collects no case that needs one.
    - `ttl_store`: without an index, with `ttl={"refresh_on_read": True}`. Leave it out if `plain_store` works that way.
      Only used where the store's `supports_ttl` is true; such a store has a `sweep_ttl()`.

    The embedder of `indexed_store` has to give equal vectors for equal texts and close ones for texts that share
    words: `reasoningbank_langgraph.testing.HashEmbeddings` does. All other cases run on the plain store and on the
    indexed one, through a fixture `store` that need not be defined.

    Three class attributes describe the store:

    - `supports_ttl`: the store's own attribute of that name. If it is set here, pytest does not collect the cases that
      it rules out; if not, a case reads it from the store and skips what does not apply.
    - `clock`: the resolution of its timestamps in seconds, default 1.0. Cases that wait take a few of these, more on a
      busy machine.
    - `known_failures`: cases it is known to fail, each with the reason: `{"test_name": "why"}`. The name may contain
      `*`, and `"test_name[plain]"` means only the runs with `plain` among their parameters, as pytest shows them
      (separated by `-`; `*` here as well). Such a case is expected to fail: once it passes, pytest reports it and the
      entry can be removed.

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
