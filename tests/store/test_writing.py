"""In what order a batch reaches Chroma, and what it leaves alone: seen where one of its calls fails or is overtaken."""

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph.errors import StoreError
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.row_layout import item_id

HERE = ("a",)
TWO = {"text": "one vector", "more": "and another"}


@pytest.fixture
def store(folder, embeddings):
    with ChromaStore.from_path(folder, index={"embed": embeddings, "fields": ["text", "more"]}) as store:
        yield store


def fail_at_call(monkeypatch, rows, number):
    """Let one of the calls that write, counted from 1, be refused by Chroma."""
    write, calls = rows._write, []

    def refusing(call):
        calls.append(call)
        if len(calls) == number:
            raise StoreError("refused")
        write(call)

    monkeypatch.setattr(rows, "_write", refusing)


def whole_items(store):
    report = store.verify()
    assert (report.missing_vectors, report.unreadable) == (0, 0)
    return {item.key for item in store.search(HERE, limit=100)}


@pytest.mark.parametrize("refused", [1, 2, 3])
def test_of_a_batch_in_several_pieces_an_item_is_there_only_with_all_its_vectors(store, monkeypatch, refused):
    store._collection.rows._chunk = 6
    fail_at_call(monkeypatch, store._collection.rows, refused)
    with pytest.raises(StoreError, match="refused"):
        store.batch([PutOp(HERE, str(n), {**TWO, "n": n}) for n in range(8)])
    assert len(whole_items(store)) == {1: 0, 2: 0, 3: 4}[refused]


@pytest.mark.parametrize("refused", [1, 2])
def test_what_a_batch_deletes_goes_after_what_it_writes_is_there(store, monkeypatch, refused):
    store.batch([PutOp(HERE, f"old {n}", TWO) for n in range(3)])
    store._collection.rows._chunk = 4
    fail_at_call(monkeypatch, store._collection.rows, refused)
    with pytest.raises(StoreError, match="refused"):
        store.batch(
            [*(PutOp(HERE, f"old {n}", None) for n in range(3)), *(PutOp(HERE, f"new {n}", TWO) for n in (0, 1))]
        )
    old, new = {f"old {n}" for n in range(3)}, {"new 0", "new 1"}
    assert whole_items(store) == (old if refused == 1 else old | new)


def test_a_row_written_again_meanwhile_is_not_removed_with_the_deleted_one(store, monkeypatch):
    """As another writer of a server does between a batch and the removal of the rows that it marked."""
    store.put(HERE, "gone", TWO)
    show, rows = store._collection.update, store._collection.rows
    monkeypatch.setattr(store._collection, "shared", True)
    (old,) = store._collection.find({item_id(HERE, "gone"): (HERE, "gone")}).values()

    def overtaken(*batch):
        show(*batch)
        from reasoningbank_langgraph.store.row_layout import rows_of

        vectors = [store._indexing.embed([text], []).documents[text] for text in TWO.values()]
        rows.upsert(rows_of(old, vectors, 64))

    monkeypatch.setattr(store._collection, "update", overtaken)
    store.batch([PutOp(HERE, "gone", None), PutOp(HERE, "new", TWO)])
    assert sorted(row for row in rows.ids(None) if row.startswith(old.id)) == [f"{old.id}-0", f"{old.id}-1"]


def entry(store, key):
    (found,) = store._collection.find({item_id(HERE, key): (HERE, key)}).values()
    return found


def test_an_item_changed_since_it_was_read_keeps_the_time_its_change_gave_it(store, clock):
    store.put(HERE, "k", TWO, ttl=10)
    store.put(HERE, "same", TWO, ttl=10)
    read = [entry(store, "k"), entry(store, "same")]
    store.put(HERE, "k", {"text": "changed"}, ttl=10)
    changed = entry(store, "k").expires
    clock.seconds += 300
    store._writer.refresh(read)
    assert entry(store, "k").expires == changed
    assert entry(store, "same").expires == (clock.seconds + 600) * 10**6


def test_a_refresh_keeps_in_memory_and_in_chroma_the_same_times(store, clock):
    store.batch([PutOp(HERE, str(n), TWO, ttl=10 + n) for n in range(3)])
    store.put(HERE, "for ever", TWO)
    store.search(HERE, query="one")
    clock.seconds += 60
    store.search(HERE)
    in_memory = {key: entry(store, key).expires for key in ("0", "1", "2", "for ever")}
    assert in_memory == {**{str(n): (clock.seconds + (10 + n) * 60) * 10**6 for n in range(3)}, "for ever": 0}
    store._collection.invalidate()
    assert {key: entry(store, key).expires for key in in_memory} == in_memory


def test_vectors_an_item_no_longer_has_are_gone_from_chroma_and_no_others(store):
    store.put(HERE, "k", TWO)
    store.put(HERE, "other", TWO)
    for value, rows in (({"text": "one vector"}, 3), ({"n": 1}, 3), (TWO, 4), ({"more": "only this"}, 3)):
        store.put(HERE, "k", value)
        report = store.verify()
        assert (report.rows, report.orphans, report.tombstones, report.ok) == (rows, 0, 0, True)
    store.delete(HERE, "k")
    assert store.verify().rows == 2


def test_a_write_that_arrived_though_its_reply_was_lost_is_seen(store, monkeypatch):
    store.put(HERE, "first", TWO)
    assert [item.key for item in store.search(HERE)] == ["first"]
    write = store._collection.rows._write

    def lost(call):
        write(call)
        raise StoreError("no reply")

    with monkeypatch.context() as broken:
        broken.setattr(store._collection.rows, "_write", lost)
        with pytest.raises(StoreError, match="no reply"):
            store.put(HERE, "second", TWO)
    assert sorted(item.key for item in store.search(HERE)) == ["first", "second"]


def test_a_later_write_has_a_later_time_though_the_clock_went_back_meanwhile(folder, embeddings, clock):
    times = []
    for _ in range(2):
        with ChromaStore.from_path(folder, embeddings=embeddings) as store:
            store.put(HERE, "k", {"text": "x"})
            times.append((store.get(HERE, "k").created_at, store.get(HERE, "k").updated_at))
        clock.seconds -= 3600
    assert times[0][0] == times[1][0]
    assert times[0][1] < times[1][1]
