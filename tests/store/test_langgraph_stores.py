"""LangGraph's own stores keep the rules of the store contract that docs/langgraph_stores.md does not list.

The numbers are those of public threads at github.com/langchain-ai/langgraph. What is known to fail is not collected:
`python -m tests.benchmarks.langgraph_stores` tries it, and writes the page.
"""

import sqlite3
from contextlib import ExitStack
from typing import ClassVar

import pytest
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from reasoningbank_langgraph.testing import HashEmbeddings, StoreContract
from reasoningbank_langgraph.testing.store_contract import ttl
from tests.benchmarks.langgraph_stores import PAGE, row
from tests.conftest import table_cells
from tests.postgres import new_database, postgres, require_pgvector  # noqa: F401 - with a fixture
from tests.store.passed_time import PassedTime

VECTORS = hasattr(sqlite3.Connection, "enable_load_extension")
"""Whether this Python's sqlite3 can load SqliteStore's vectors, which are an extension."""
SAME_TEXT = "#8822: two equal texts in one batch raise"
COMPARED = "#7880, #8365: a comparison raises where an item lacks the field or holds no number"
AS_FIELD = "#8829: it is taken for the name of a field, and nothing matches"
SYNCHRONOUS = "by design: SqliteStore has no asynchronous side"
CAST = "no public thread found: text is compared as the number it looks like"
STALE = "#8214 for InMemoryStore: the old vectors stay here as well"
LEFT_OUT = "no public thread found: a search by a query leaves out the items without vectors"
MISSING = "#8366: an item that lacks the field is not unequal"


UNKNOWN_MATCH = "no public thread found: the condition is logged and passed over"
NO_OPERATION = "no public thread found: what is no operation is passed over"
NESTED = "#8786: a dict is always read as operators"
COMPARED_AS_TEXT = "#7684: numbers are compared as the texts that they are in JSON"
NO_NUL = "by design: Postgres holds no text with NUL"
NAMES = "no public thread found: names of fields that are no text become text"
WHOLE_MINUTES = "no public thread found: the time to live is kept in whole minutes, so a read ends an item of seconds"


def index():
    return {"dims": 64, "embed": HashEmbeddings(), "fields": ["text", "more"]}


@pytest.mark.slow
class TestInMemory(StoreContract):
    """LangGraph's own store in memory."""

    supports_ttl = False
    clock = 0.05
    known_failures: ClassVar[dict] = {
        "test_a_value_that_*_the_callers_own": "#8835: reads hand out the stored dict itself, put() keeps the inner",
        "test_an_overwrite_replaces_*": "#7411, #8340: an overwrite resets created_at",
        "test_equal_texts_*_written[indexed]": SAME_TEXT,
        "test_equal_texts_*_score_alike": SAME_TEXT,
        "test_two_fields_*_same_text": SAME_TEXT,
        "test_an_overwrite_is_found_by_its_new_text": "#8214: a vector of a field that the new value lacks stays",
        "test_an_overwrite_leaves_no_vector_*": "#8214: the old vectors stay",
        "test_labels_are_checked_in_direct_batches*": "#8832: batch() does not check labels",
        "test_nothing_of_a_refused_batch_*[a label*]": "#8832: batch() does not check labels",
        "test_reading_makes_no_namespace": "#8734: get() and delete() make the namespace they look into",
        "test_a_namespace_without_items_is_not_listed": "#8734: a namespace stays after its last item",
        "test_a_prefix_may_be_a_list": "no public thread found: a list is compared with a tuple",
        "test_the_last_written_comes_first": "#8831: the first written comes first",
        "test_pages_of_a_query_*": "#8871: items without vectors are repeated on every page",
        "test_filters[[gl]t*]": COMPARED,
        "test_filters[between]": COMPARED,
        "test_filters[negative]": COMPARED,
        "test_filters[below*]": COMPARED,
        "test_filters[above*]": COMPARED,
        "test_filters[missing field compared]": COMPARED,
        "test_an_operator_that_does_not_exist_is_refused[$and]": AS_FIELD,
        "test_an_operator_that_does_not_exist_is_refused[$or]": AS_FIELD,
        "test_an_operator_that_does_not_exist_is_refused[$not]": AS_FIELD,
        "test_an_operator_*_where_nothing_is_stored": "no public thread found: filters are read item by item, if any",
    }

    @pytest.fixture
    def plain_store(self):
        return InMemoryStore()

    @pytest.fixture
    def indexed_store(self):
        return InMemoryStore(index=index())


class EarlierExpiry(PassedTime):
    """Lets time pass in a store that asks SQLite for it: what would expire in a minute expires the earlier."""

    def __init__(self, store):
        self.store = store

    def sleep(self, seconds):
        super().sleep(seconds)
        earlier = "UPDATE store SET expires_at = STRFTIME('%Y-%m-%d %H:%M:%f', expires_at, ?)"
        self.store.conn.execute(earlier, (f"-{seconds:.6f} seconds",))


@pytest.mark.slow
class TestSqlite(StoreContract):
    """LangGraph's own store on SQLite. It is synchronous by design; AsyncSqliteStore belongs to one event loop."""

    supports_ttl = True
    known_failures: ClassVar[dict] = {
        "*[abatch]": SYNCHRONOUS,
        "test_every_operation_works_asynchronously": SYNCHRONOUS,
        "test_what_one_interface_wrote_the_other_reads": SYNCHRONOUS,
        "test_synchronous_calls_work_inside_a_running_loop": SYNCHRONOUS,
        "test_one_store_serves_several_loops": SYNCHRONOUS,
        "test_a_cancelled_call_leaves_the_store_usable": SYNCHRONOUS,
        "test_a_failed_call_does_not_fail_those_beside_it": SYNCHRONOUS,
        "test_all_operations_at_once_*[tasks]": SYNCHRONOUS,
        "test_asynchronous_puts_and_reads_*": SYNCHRONOUS,
        "test_numbers_that_are_not_finite_*": "no public thread found: NaN and infinity come back as None",
        "test_things_that_json_does_not_have_*[date]": "no public thread found: a date comes back as text",
        "test_times_are_in_utc_*": "no public thread found: the times have no zone",
        "test_an_overwrite_replaces_*": "#7411, #8340 for InMemoryStore: an overwrite resets created_at here as well",
        "test_the_last_written_comes_first": "no public thread found: items written in one second stand in any order",
        "test_an_unknown_match_type_is_refused": UNKNOWN_MATCH,
        "test_nothing_of_*[no operation]": NO_OPERATION,
        "test_nothing_of_*[a tuple]": NO_OPERATION,
        "test_filters[eq list]": "#8759: a list is bound as a BLOB and equals nothing",
        "test_filters[gt]": CAST,
        "test_filters[gte]": CAST,
        "test_filters[between]": CAST,
        "test_filters[below*]": CAST,
        "test_filters[above minus infinity]": CAST,
        "test_filters[exact beyond a float]": "#7684 (comments): integers are compared as floats",
        "test_filters[gt its neighbour]": "#7684 (comments): integers are compared as floats",
        "test_filters[ne]": MISSING,
        "test_filters[ne of a missing field]": MISSING,
        "test_filters[ne text]": MISSING,
        "test_filters[nested*]": NESTED,
        "test_filters[field with a dot]": "#7795: a dot is a path, so a field with a dot in its name cannot be found",
        "test_items_with_many_vectors_*": "#8977: the page is cut before the vectors of an item are put together",
        "test_an_overwrite_is_found_by_its_new_text": STALE,
        "test_an_overwrite_leaves_no_vector_*": STALE,
        "test_an_item_without_vectors_has_no_score": LEFT_OUT,
        "test_items_without_vectors_fill_up_*": LEFT_OUT,
        "test_pages_of_a_query_*": LEFT_OUT,
    }

    @pytest.fixture
    def plain_store(self, tmp_path):
        with SqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
            store.setup()
            yield store

    @pytest.fixture
    def ttl_store(self, tmp_path, monkeypatch):
        with SqliteStore.from_conn_string(str(tmp_path / "ttl.db"), ttl={"refresh_on_read": True}) as store:
            store.setup()
            monkeypatch.setattr(ttl, "time", EarlierExpiry(store))
            yield store

    if VECTORS:

        @pytest.fixture
        def indexed_store(self, tmp_path):
            settings = {**index(), "text_fields": index()["fields"]}
            with SqliteStore.from_conn_string(str(tmp_path / "vectors.db"), index=settings) as store:
                store.setup()
                yield store


@pytest.fixture(scope="module")
def databases(postgres):  # noqa: F811
    """A function that opens or empties a Postgres store of its own for these settings."""
    from langgraph.store.postgres import PostgresStore

    require_pgvector(postgres)
    with ExitStack() as stack:
        stores = {}

        def empty(name, **settings):
            if name not in stores:
                url = stack.enter_context(new_database(postgres))
                stores[name] = stack.enter_context(PostgresStore.from_conn_string(url, **settings))
                stores[name].setup()
            stores[name].conn.execute("TRUNCATE store CASCADE")
            return stores[name]

        yield empty


@pytest.mark.slow
class TestPostgres(StoreContract):
    """LangGraph's own store on Postgres with pgvector, which takes long; `test_any_store` tries what a bank needs."""

    quick = False
    supports_ttl = True
    known_failures: ClassVar[dict] = {
        "test_a_hostile_field_name_*[NUL]": NO_NUL,
        "test_a_hostile_text_*[4]": NO_NUL,
        "test_fields_that_are_no_text_*[int]": NAMES,
        "test_fields_that_are_no_text_*[None]": NAMES,
        "test_fields_that_are_no_text_*[bool]": NAMES,
        "test_fields_that_are_no_text_*[float]": NAMES,
        "test_floats_stay_exact[1e+300]": "no public thread found: it comes back as an integer",
        "test_an_operator_that_does_not_exist_is_refused[$and]": AS_FIELD.replace(":", " for InMemoryStore:"),
        "test_an_operator_that_does_not_exist_is_refused[$or]": AS_FIELD.replace(":", " for InMemoryStore:"),
        "test_an_unknown_match_type_is_refused": UNKNOWN_MATCH,
        "test_nothing_of_*[no operation]": NO_OPERATION,
        "test_nothing_of_*[a tuple]": NO_OPERATION,
        "test_filters[gt]": COMPARED_AS_TEXT,
        "test_filters[gt numerically]": COMPARED_AS_TEXT,
        "test_filters[gt text of a digit]": COMPARED_AS_TEXT,
        "test_filters[gte]": COMPARED_AS_TEXT,
        "test_filters[lt]": COMPARED_AS_TEXT,
        "test_filters[between]": COMPARED_AS_TEXT,
        "test_filters[below*]": COMPARED_AS_TEXT,
        "test_filters[above minus infinity]": COMPARED_AS_TEXT,
        "test_filters[equal to nan]": "no public thread found: NaN raises",
        "test_filters[missing field is None]": "no public thread found: an item that lacks the field is not None",
        "test_filters[None or missing]": "no public thread found: an item that lacks the field is not None",
        "test_filters[ne]": MISSING,
        "test_filters[ne of a missing field]": MISSING,
        "test_filters[ne text]": MISSING,
        "test_filters[nested*]": NESTED.replace(":", " for SqliteStore:"),
        "test_an_overwrite_is_found_by_its_new_text": STALE,
        "test_an_overwrite_leaves_no_vector_*": STALE,
        "test_an_item_without_vectors_has_no_score": LEFT_OUT,
        "test_every_operation_works_asynchronously[indexed]": LEFT_OUT,
        "test_items_without_vectors_fill_up_*": LEFT_OUT,
        "test_pages_of_a_query_*": LEFT_OUT,
        "test_reading_starts_the_time_anew_*": WHOLE_MINUTES,
        "test_asynchronous_puts_and_reads_*": WHOLE_MINUTES,
    }

    @pytest.fixture
    def plain_store(self, databases):
        return databases("plain")

    @pytest.fixture
    def ttl_store(self, databases):
        return databases("ttl", ttl={"refresh_on_read": True})

    @pytest.fixture
    def indexed_store(self, databases):
        return databases("indexed", index=index())


def test_the_page_lists_what_each_store_is_known_to_fail_and_nothing_else():
    listed = {(cells[0], *cells[-2:]) for cells in table_cells(PAGE.read_text(encoding="utf-8"))[2:]}
    known = {
        (store.__name__, reason)
        for store in (TestInMemory, TestSqlite, TestPostgres)
        for reason in store.known_failures.values()
    }
    assert listed == {row(*entry) for entry in known}
