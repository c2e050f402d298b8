"""Items that live for a time."""

import time

import pytest
from langgraph.store.base import GetOp, PutOp

from reasoningbank_langgraph import Guard, MemoryBank, create_reasoning_bank
from reasoningbank_langgraph.store import ChromaStore
from tests.loop_fakes import learner, solver

HERE = ("a",)
MORE_THAN_TEN_MINUTES = 11 * 60


@pytest.fixture(params=[1 << 30, 1], ids=["in memory", "in Chroma"])
def open_store(folder, embeddings, request):
    opened = []

    def make(**ttl):
        opened.append(ChromaStore.from_path(folder, embeddings=embeddings, ttl=ttl or None, cache_bytes=request.param))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


def seen(store):
    return (
        store.get(HERE, "k", refresh_ttl=False) is not None,
        bool(store.search(HERE, refresh_ttl=False)),
        bool(store.search(HERE, query="x", refresh_ttl=False)),
        HERE in store.list_namespaces(),
    )


def test_an_expired_item_is_there_until_swept(open_store, clock):
    store = open_store()
    store.put(HERE, "k", {"text": "x"}, ttl=10)
    store.put(("b",), "kept", {"text": "x"})
    assert store.sweep_ttl() == 0
    clock.seconds += MORE_THAN_TEN_MINUTES
    assert seen(store) == (True,) * 4
    assert store.sweep_ttl() == 1
    assert seen(store) == (False,) * 4
    assert store.sweep_ttl() == 0
    assert store.get(("b",), "kept") is not None
    assert store.verify().ok


def test_omitted_expired_items_are_nowhere(open_store, clock):
    store = open_store(omit_expired=True)
    store.put(HERE, "k", {"text": "x"}, ttl=10)
    assert seen(store) == (True,) * 4
    clock.seconds += MORE_THAN_TEN_MINUTES
    assert seen(store) == (False,) * 4
    assert store.get(HERE, "k", refresh_ttl=True) is None


def test_omitted_expired_items_take_no_place_on_a_page_and_reading_does_not_revive_them(open_store, clock):
    store = open_store(omit_expired=True)
    for key, ttl in (("c", None), ("b", 60), ("gone", 10), ("a", 60)):
        store.put(HERE, key, {"text": f"x {key}"}, ttl=ttl)
    clock.seconds += MORE_THAN_TEN_MINUTES
    pages = [[item.key for item in store.search(HERE, limit=2, offset=start)] for start in (0, 2)]
    assert pages == [["a", "b"], ["c"]]
    assert {item.key for item in store.search(HERE, query="x", limit=3)} == {"a", "b", "c"}
    assert store.get(HERE, "gone") is None
    assert store.sweep_ttl() == 1


def test_an_expired_item_written_again_is_new(open_store, clock):
    store = open_store(omit_expired=True)
    store.put(HERE, "k", {"text": "x"}, ttl=10)
    first = store.get(HERE, "k", refresh_ttl=False).created_at
    clock.seconds += MORE_THAN_TEN_MINUTES
    store.put(HERE, "k", {"text": "y"})
    assert store.get(HERE, "k").created_at > first
    assert store.sweep_ttl() == 0


def test_the_default_applies_unless_the_put_says_otherwise(open_store, clock):
    store = open_store(default_ttl=10)
    store.put(HERE, "k", {"text": "x"})
    store.put(HERE, "for ever", {"text": "x"}, ttl=None)
    clock.seconds += MORE_THAN_TEN_MINUTES
    assert store.sweep_ttl() == 1
    assert store.get(HERE, "for ever") is not None


def test_the_rows_of_a_bank_outlive_the_default(open_store, clock):
    store = open_store(default_ttl=10, omit_expired=True)
    for learn in (True, "deferred"):
        graph = create_reasoning_bank(solver, model=learner(), namespace="m", learn=learn, guard=Guard())
        graph.compile(store=store).invoke({"task": f"add {learn} apples"})
    bank = MemoryBank(store, "m")
    before = bank.items(), bank.episodes(), bank.pending(), bank.log()
    assert all(before)
    clock.seconds += MORE_THAN_TEN_MINUTES
    assert store.sweep_ttl() == 0
    assert (bank.items(), bank.episodes(), bank.pending(), bank.log()) == before
    assert bank.verify_log().ok


@pytest.mark.parametrize(
    "read",
    [lambda store: store.get(HERE, "k"), lambda store: store.search(HERE), lambda store: store.search(HERE, query="x")],
    ids=["get", "search", "query"],
)
def test_reading_starts_the_time_anew(open_store, clock, read):
    store = open_store(omit_expired=True)
    store.put(HERE, "k", {"text": "x"}, ttl=10)
    updated = store.get(HERE, "k", refresh_ttl=False).updated_at
    clock.seconds += 6 * 60
    read(store)
    clock.seconds += 6 * 60
    assert seen(store) == (True,) * 4
    assert store.sweep_ttl() == 0
    assert store.get(HERE, "k", refresh_ttl=False).updated_at == updated


def test_reading_does_not_where_the_configuration_says_so(open_store, clock):
    store = open_store(refresh_on_read=False)
    store.put(HERE, "k", {"text": "x"}, ttl=10)
    clock.seconds += 6 * 60
    store.get(HERE, "k")
    clock.seconds += 6 * 60
    assert store.sweep_ttl() == 1


def test_a_read_does_not_disturb_a_write_of_the_same_batch(open_store, clock):
    store = open_store()
    store.put(HERE, "k", {"text": "x"}, ttl=10)
    store.batch([GetOp(HERE, "k"), PutOp(HERE, "k", {"text": "y"})])
    clock.seconds += MORE_THAN_TEN_MINUTES
    assert store.sweep_ttl() == 0
    assert store.get(HERE, "k").value == {"text": "y"}


def test_expiry_survives_reopening(open_store, clock):
    store = open_store()
    store.put(HERE, "k", {"text": "x"}, ttl=10)
    store.close()
    clock.seconds += MORE_THAN_TEN_MINUTES
    assert open_store().sweep_ttl() == 1


def test_the_sweeper_works_in_the_background_until_stopped(open_store):
    store = open_store(sweep_interval_minutes=0.1 / 60)
    done = store.start_ttl_sweeper()
    store.put(HERE, "k", {"text": "x"}, ttl=0.1 / 60)
    for _ in range(50):
        if store.get(HERE, "k", refresh_ttl=False) is None:
            break
        time.sleep(0.1)
    assert store.get(HERE, "k") is None
    assert store.stop_ttl_sweeper(timeout=5)
    assert done.result(timeout=5) is None


def test_closing_stops_the_sweeper_and_cancelling_does_too(open_store):
    store = open_store(sweep_interval_minutes=0.1 / 60)
    assert store.start_ttl_sweeper().cancel()
    assert store.stop_ttl_sweeper(timeout=5)
    done = store.start_ttl_sweeper()
    store.close()
    assert done.done()


def test_without_a_configuration_there_is_no_sweeper(open_store):
    store = open_store()
    assert store.start_ttl_sweeper().done()
    assert store.stop_ttl_sweeper()
