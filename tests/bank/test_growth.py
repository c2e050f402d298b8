"""What a call reads and writes grows with its bank at most as the bank does: counted in rows and operations."""

from collections import Counter
from types import SimpleNamespace

import pytest
from langgraph.store.base import BaseStore, GetOp, PutOp, SearchOp

from reasoningbank_langgraph import ChromaStore, MemoryBank, MemoryItem
from reasoningbank_langgraph.bank.upkeep import forgetting, pruning
from reasoningbank_langgraph.namespaces import HEADS, beside
from reasoningbank_langgraph.policies import Credit, Evidence, GroupCredit, Policy
from reasoningbank_langgraph.records import Provenance
from reasoningbank_langgraph.store import stored_item
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.growth import assert_linear
from tests.loop_fakes import indexed_memory

HERE = ("math", "one")
SMALL, TIMES = 10, 8
LARGE = TIMES * SMALL
PER_EXPERIENCE = 2


class Counted(BaseStore):
    """Counts the batches and the writes, and for each namespace the rows that are read and those before a page."""

    def __init__(self):
        self.store = indexed_memory()
        self.forget_counts()

    def forget_counts(self):
        self.batches = self.writes = 0
        self.rows = Counter()

    def batch(self, ops):
        ops = list(ops)
        results = self.store.batch(ops)
        self.batches += 1
        self.writes += any(isinstance(op, PutOp) for op in ops)
        for op, result in zip(ops, results, strict=True):
            if isinstance(op, SearchOp):
                self.rows[op.namespace_prefix] += op.offset + len(result)
            elif isinstance(op, GetOp):
                self.rows[op.namespace] += 1
        return results

    async def abatch(self, ops):
        return self.batch(ops)


def lessons(number):
    source = Provenance(thread_id=f"thread {number}", run_id=f"run {number}", attempt_digest=f"attempt {number}")
    return [
        MemoryItem(
            id=f"{number}-{place}",
            title=f"Count step {number}",
            description=f"When there are {number} steps, part {place}",
            content=f"Write down what each of {number} steps counts",
            outcome="success",
            task=f"A shop sells {number} pears a day: how many in a week?",
            experience_id=f"experience {number}",
            provenance=source,
        )
        for place in range(PER_EXPERIENCE)
    ]


def learn(bank, number, **settings):
    """Add an attempt, which says something of the one before."""
    before = tuple(item.id for item in lessons(number - 1)) if number else ()
    shown = GroupCredit(
        ids=before,
        credit=Credit(2, 1, 0, 1),
        known_as=f"{number}-0",
        provenance=Provenance(attempt_digest=f"attempt {number}"),
    )
    return bank.add(lessons(number), evidence=Evidence(credit=shown), **settings)


def filled(bank, experiences):
    for number in range(experiences):
        learn(bank, number)
    return bank


def counts(call, experiences):
    """Return what a call reads and writes of a bank of so many experiences."""
    store = Counted()
    bank = filled(MemoryBank(store, HERE), experiences)
    store.forget_counts()
    call(bank)
    return store


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(pruning, "_AT_ONCE", 10)


def question(**settings):
    return lambda bank: bank.search("How many pears does a shop sell in a month?", **settings)


def attempt(policy):
    def add(bank):
        """An attempt of its own, whatever the bank holds: it says something of two of its lessons."""
        shown = GroupCredit(
            ids=("1-0", "2-0"), credit=Credit(2, 0, 1, 1), known_as="new", provenance=Provenance(attempt_digest="new")
        )
        source = Provenance(thread_id="new", run_id="new", attempt_digest="new")
        fields = {"id": "new", "title": "Draw it", "experience_id": "new", "provenance": source}
        item = lessons(0)[0].model_copy(update=fields)
        assert bank.add([item], evidence=Evidence(credit=shown), policy=policy).added

    return add


WITHOUT_GROWTH = {
    "search": question(),
    "search of a thread": question(thread_id="thread 1", written=["1-0", "1-1"]),
    "get": lambda bank: bank.get("1-0"),
    "has_attempt": lambda bank: bank.has_attempt("attempt 1"),
    "attempt": attempt("append"),
    "attempt, copies linked": attempt(Policy(similarity=0.8)),
    "attempt, few a run": attempt(Policy(copies="append", per_run=9)),
}
AS_THE_BANK = {
    "items": lambda bank: bank.items(),
    "totals": lambda bank: bank.totals(),
    "log": lambda bank: bank.log(),
    "prune": lambda bank: bank.prune(capacity=5),
    "set_status": lambda bank: bank.set_status([item.id for item in bank.items()], "quarantined"),
    "forget": lambda bank: bank.forget("0-0"),
    "forget_all": lambda bank: bank.forget_all(),
}


@pytest.mark.parametrize("name", WITHOUT_GROWTH)
def test_what_a_run_does_reads_as_much_of_a_large_bank_as_of_a_small_one(name):
    small, large = (counts(WITHOUT_GROWTH[name], size) for size in (SMALL, LARGE))
    for counted in (small, large):
        assert counted.rows.pop(beside(HERE, HEADS), 0) <= 16
    assert (large.batches, large.rows) == (small.batches, small.rows)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("name", AS_THE_BANK)
def test_what_looks_at_all_lessons_reads_as_many_times_more_as_there_are(name):
    """Up to twice as many: of a bank just over a page, the page is read twice."""
    small, large = (counts(AS_THE_BANK[name], size) for size in (SMALL, LARGE))
    assert large.rows.total() <= 2 * TIMES * small.rows.total()
    assert large.batches <= TIMES * small.batches
    assert large.writes <= TIMES * small.writes


def test_an_attempt_is_one_write_whatever_belongs_to_it():
    full = Policy(copies="skip", capacity=PER_EXPERIENCE * SMALL, per_run=9, per_hour=10_000)
    for policy in ("append", "skip", Policy(similarity=0.8), full):
        assert counts(attempt(policy), SMALL).writes == 1


def test_totals_read_lessons_and_episodes_alone_and_a_search_no_ledger():
    assert {place[-1] for place in counts(AS_THE_BANK["totals"], 3).rows} == {"one", "one~episodes"}
    assert {place[-1] for place in counts(question(k=2), 3).rows} == {"one", "one~credit"}


def test_a_chroma_store_parses_as_many_rows_of_a_large_bank_as_of_a_small_one(tmp_path, monkeypatch):
    parsed = []
    decode = stored_item.decode_fields
    monkeypatch.setattr(stored_item, "decode_fields", lambda *row: parsed.append(row) or decode(*row))
    calls = question(), question(thread_id="thread 1", written=["1-0", "1-1"]), attempt("append")
    numbers = []
    for experiences in (SMALL, 4 * SMALL):
        with ChromaStore.from_path(tmp_path / str(experiences), embeddings=HashEmbeddings()) as store:
            bank = filled(MemoryBank(store, HERE), experiences)
            for call in calls:
                parsed.clear()
                call(bank)
                numbers.append(len(parsed))
    for small, large in zip(numbers[:3], numbers[3:], strict=True):
        assert large <= small + 16  # markers of the ledger


@pytest.mark.parametrize("call", [MemoryBank.totals, MemoryBank.items])
def test_a_chroma_store_parses_no_value_whole_for_what_lists_or_counts_all_lessons(call, tmp_path, monkeypatch):
    with ChromaStore.from_path(tmp_path, embeddings=HashEmbeddings()) as store:
        bank = MemoryBank(store, HERE)
        bank.add(lessons(0))
        monkeypatch.delattr(stored_item, "decode_value")
        call(bank)


def row(number):
    """Return the row of a lesson that was learned from the one before."""
    used = [str(number - 1)] if number else []
    value = {"attempt_digest": f"attempt {number}", "provenance": {"memory_ids_used": used}}
    carrier = {"status": "gone", "index": ["query"]} if number % 2 else {"status": "active", "index": []}
    return SimpleNamespace(key=str(number), value={**value, "experience_id": f"{number // 2}", **carrier})


def test_what_goes_with_a_lesson_is_found_along_a_chain_of_any_length():
    assert_linear(
        lambda rows: forgetting._with_descendants(rows, [], {"0"}),
        lambda size: list(map(row, range(size))),
        sizes=(2_000, 4_000, 8_000),
    )
    assert len(forgetting._with_descendants(list(map(row, range(50))), [], {"0"})) == 50


def test_a_task_is_handed_on_in_each_of_many_experiences():
    assert_linear(
        lambda values: forgetting.rewritten(("m",), values, values),
        lambda size: {str(number): row(number).value for number in range(size)},
        sizes=(2_000, 4_000, 8_000),
    )
    values = {str(number): row(number).value for number in range(10)}
    ops = forgetting.rewritten(("m",), values, values)
    assert {op.key for op in ops if op.value["status"] == "active" and op.index == ["query"]} == {*"02468"}
