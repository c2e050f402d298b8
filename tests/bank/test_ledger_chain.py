"""A row of the ledger that is lost or altered is found; several writers may fork the ledger, and lose nothing."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.bank.rows import ledger
from reasoningbank_langgraph.errors import StoreCorruptedError
from tests.bank.test_forgetting import NAMESPACE, STORES, lesson
from tests.bank.test_ledger import MARKERS, ROWS, one_by_one
from tests.loop_fakes import Switched, indexed_memory, open_store


class Interrupted(Switched):
    """Before a write, something else happens, once."""

    def __init__(self):
        super().__init__()
        self.writes, self.meanwhile = self.happen, None

    def happen(self):
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            meanwhile()


def two_processes():
    """Two banks on one store, which share no lock, and what makes the second write before the first one does."""
    store, other = Interrupted(), Switched()
    other.inner = store.inner
    first, second = MemoryBank(store, NAMESPACE), MemoryBank(other, NAMESPACE)
    return first, second, lambda work: setattr(store, "meanwhile", work)


@STORES
def test_a_row_that_is_lost_is_found_whichever_it_is(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = one_by_one(MemoryBank(store, NAMESPACE))
        assert bank.verify_log().ok
        for row in store.search(ROWS):
            store.delete(ROWS, row.key)
            report = bank.verify_log()
            assert (report.missing, report.ok) == ((row.key,), False)
            assert f"1 missing ({row.key[:12]})" in str(report)
            store.put(ROWS, row.key, row.value, index=False)
        for marker in store.search(MARKERS):
            store.delete(MARKERS, marker.key)
        assert bank.verify_log().cut == (bank.log()[-1].hash,)


ALTERED = {
    "kind": "released",
    "ids": ["b"],
    "before": None,
    "after": {"status": "superseded"},
    "actor": "nobody",
    "reason": "none",
    "time": "2026-01-01T00:00:00Z",
    "previous": [],
    "id": "x",
}


@pytest.mark.parametrize(("field", "value"), ALTERED.items(), ids=list(ALTERED))
def test_a_row_that_was_altered_is_found(field, value):
    store = indexed_memory()
    bank = one_by_one(MemoryBank(store, NAMESPACE))
    name = bank.log()[1].hash
    store.put(ROWS, name, {**store.get(ROWS, name).value, field: value}, index=False)
    assert bank.verify_log().changed == (name,)


def test_a_row_that_can_no_longer_be_read_is_named():
    store = indexed_memory()
    bank = one_by_one(MemoryBank(store, NAMESPACE))
    name = bank.log()[1].hash
    store.put(ROWS, name, {"beside": "m~ledger", "previous": 3}, index=False)
    with pytest.raises(StoreCorruptedError, match="verify_log"):
        bank.log()
    assert bank.verify_log().changed == (name,)


def test_two_processes_that_write_at_once_fork_the_ledger_and_the_next_row_joins_it():
    first, second, before_the_first_writes = two_processes()
    first.add([lesson("a")])
    before_the_first_writes(lambda: second.add([lesson("b")]))
    first.add([lesson("c")])
    report = second.verify_log()
    assert (report.ok, report.forks, len(report.heads)) == (True, 1, 2)
    second.add([lesson("d")])
    joined = first.log()[-1]
    assert set(joined.previous) == set(report.heads)
    assert sorted(name for change in first.log() for name in change.ids) == ["a", "b", "c", "d"]
    assert first.verify_log()[-2:] == (1, (joined.hash,))


def test_of_two_processes_that_carry_out_the_same_change_at_once_one_is_told():
    first, second, before_the_first_writes = two_processes()
    before_the_first_writes(lambda: second.add([lesson("a")]))
    first.add([lesson("a")])
    assert [change.ids for change in first.log()] == [("a",)]
    assert first.verify_log().ok


async def test_threads_and_tasks_of_one_process_write_one_line():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: bank.add([lesson(f"t{number}")]), range(20)))
    await asyncio.gather(*(bank.aadd([lesson(f"a{number}")]) for number in range(20)))
    changes = await bank.alog()
    assert [change.previous for change in changes] == [(), *((change.hash,) for change in changes[:-1])]
    assert len({change.ids for change in changes}) == 40
    assert (await bank.averify_log())[:5] == (40, (), (), (), 0)


@STORES
def test_the_markers_of_a_long_ledger_stay_few(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        for number in range(40):
            bank.add([lesson(f"{number}")])
            assert len(store.search(MARKERS, limit=99)) <= 16
        changes = bank.log()
        assert [change.previous for change in changes] == [(), *((change.hash,) for change in changes[:-1])]
        assert bank.verify_log()[1:] == ((), (), (), 0, (changes[-1].hash,))


def test_a_row_is_never_dated_before_one_that_it_follows(monkeypatch):
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    bank.add([lesson("a")])
    monkeypatch.setattr(ledger, "utc_now", lambda: datetime.now(UTC) - timedelta(hours=1))
    bank.add([lesson("b")])
    first, second = bank.log()
    assert second.time - first.time == timedelta(microseconds=1)
