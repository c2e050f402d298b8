"""How a bank uses its store: under its own lock, all rows at once, and again where a read met a write."""

import sys
import threading
import time

import pytest
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.bank.writer_lock import _lock_of, writing
from tests.bank.test_bank import SIDES, ids, lesson
from tests.loop_fakes import indexed_memory, open_store


def test_a_read_goes_on_where_another_thread_writes_into_a_store_without_a_lock():
    bank = MemoryBank(InMemoryStore(), ("math",))
    for number in range(50):
        bank.add([lesson(f"l{number}", "add")])
    interval = sys.getswitchinterval()

    def write():
        for number in range(90):  # a read that begins anew a hundred times outlasts them all
            bank.store.put(("math", f"below {number}"), "k", {})
            time.sleep(0.0005)

    writer = threading.Thread(target=write)
    sys.setswitchinterval(1e-6)
    try:
        writer.start()
        while writer.is_alive():
            assert len(bank.items()) == 50
    finally:
        writer.join()
        sys.setswitchinterval(interval)


def test_banks_of_one_store_do_not_wait_for_each_others_writes():
    store = indexed_memory()
    beside = MemoryBank(store, ("m", "beside"))
    with writing(store, ("m",)):
        writer = threading.Thread(target=beside.add, args=([lesson("a", "red green")],), daemon=True)
        writer.start()
        writer.join(timeout=60)
        assert [item.id for item in beside.items()] == ["a"]


MET_A_WRITE = RuntimeError("dictionary changed size during iteration")


class Failing(InMemoryStore):
    """A store whose next calls raise these errors."""

    def __init__(self, *errors):
        super().__init__()
        self.errors, self.calls = list(errors), 0

    def batch(self, ops):
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return super().batch(ops)

    async def abatch(self, ops):
        return self.batch(ops)


class Watched(InMemoryStore):
    """A store that notes of each write whether the bank ("m",) holds its lock meanwhile."""

    def __init__(self):
        super().__init__()
        self.locked = []

    def batch(self, ops):
        ops = list(ops)
        if any(isinstance(op, PutOp) for op in ops):
            self.locked.append(_lock_of(self, ("m",)).locked())
        return super().batch(ops)

    async def abatch(self, ops):
        return self.batch(ops)


@SIDES
async def test_a_bank_holds_its_own_lock_whenever_it_writes(asynchronously):
    bank, items = MemoryBank(Watched(), ("m",)), [lesson("a", "red green")]
    if asynchronously:
        await bank.aadd(items)
        await bank.aset_status("a", "quarantined")
    else:
        bank.add(items)
        bank.set_status("a", "quarantined")
    assert bank.store.locked == [True, True]


async def item_ids(bank, asynchronously):
    return [item.id for item in (await bank.aitems() if asynchronously else bank.items())]


@SIDES
async def test_a_read_that_meets_writes_begins_anew_until_it_is_through(asynchronously):
    bank = MemoryBank(Failing(), ("m",))
    bank.add([lesson("a", "red green")])
    bank.store.errors = [MET_A_WRITE] * 99
    assert await item_ids(bank, asynchronously) == ["a"]
    bank.store.errors, bank.store.calls = [MET_A_WRITE] * 101, 0
    with pytest.raises(RuntimeError, match="changed size"):
        await item_ids(bank, asynchronously)
    assert bank.store.calls == 100


@SIDES
@pytest.mark.parametrize("error", [RuntimeError("broken"), KeyError("a"), ValueError(str(MET_A_WRITE))], ids=repr)
async def test_any_other_error_of_the_store_is_raised_as_it_is_and_at_once(error, asynchronously):
    bank = MemoryBank(Failing(error), ("m",))
    with pytest.raises(type(error)) as raised:
        await item_ids(bank, asynchronously)
    assert raised.value is error
    assert bank.store.calls == 1


class Plain(BaseStore):
    """Any other store: it passes its operations on."""

    def __init__(self):
        self.inner = InMemoryStore()

    def batch(self, ops):
        return self.inner.batch(ops)

    async def abatch(self, ops):
        return self.batch(ops)


@SIDES
@pytest.mark.parametrize(("store", "texts"), [(InMemoryStore, 3), (Plain, 1)])
async def test_equal_texts_are_made_to_differ_for_a_store_in_memory_alone(store, texts, asynchronously):
    bank = MemoryBank(store(), ("m",))
    items = [lesson(name, "red green", "yellow", title="red", description="green") for name in "abc"]
    await bank.aadd(items) if asynchronously else bank.add(items)
    rows = bank.store.search(("m",))
    assert len({row.value[row.value["index"][-1]] for row in rows}) == texts


@SIDES
async def test_a_bank_is_read_whole_and_in_order_without_what_lies_below_it(asynchronously):
    bank = MemoryBank(InMemoryStore(), ("m",))
    for name in range(6):
        bank.add([lesson(str(name), "red green")])
        MemoryBank(bank.store, ("m", "below")).add([lesson(str(name), "red green")])
    assert await item_ids(bank, asynchronously) == [str(name) for name in range(6)]


@pytest.mark.parametrize("kind", ["memory", "chroma"])
async def test_what_was_learned_twice_is_written_changed_and_taken_over_together(kind, tmp_path):
    """Of one task, and in the same words: a store in memory refuses a batch that embeds one text twice."""
    with open_store(kind, tmp_path / "one") as one, open_store(kind, tmp_path / "two") as two:
        first, second = MemoryBank(one, ("m",)), MemoryBank(two, ("m",))
        words = {"title": "red", "description": "green"}
        for name in "abc":
            first.add([lesson(f"{name}{number}", "yellow field", name, **words) for number in range(3)])
        first.export_jsonl(tmp_path / "bank.jsonl")
        assert second.import_jsonl(tmp_path / "bank.jsonl") == (9, 0)
        assert second.items() == first.items()
        everything = {f"{name}{number}" for name in "abc" for number in range(3)}
        for bank in (first, second):
            assert set(bank.set_status(everything, "quarantined")) == everything
            assert set(await bank.aset_status(everything, "active")) == everything
            bank.set_status(["a0", "b0"], "superseded")
            found = bank.search("yellow field now", k=3, max_items=9)
            assert sorted(ids(found)) == sorted(everything - {"a0", "b0"})
            assert {round(memory.score, 6) for memory in found} == {round(found[0].score, 6)}
