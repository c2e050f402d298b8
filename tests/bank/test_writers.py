"""One writer at a time in a bank: nobody waits for ever, and a cancelled write is over before the next one begins."""

import asyncio
import threading
import time

import pytest
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.errors import BusyBankError
from reasoningbank_langgraph.policies import Credit, Evidence, GroupCredit
from reasoningbank_langgraph.records import Provenance
from reasoningbank_langgraph.store.writing import Writer
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_forgetting import NAMESPACE, lesson


class Waiting(HashEmbeddings):
    """Embeds once it may."""

    def __init__(self):
        super().__init__()
        self.asked, self.may = asyncio.Event(), asyncio.Event()

    async def aembed_documents(self, texts):
        self.asked.set()
        await self.may.wait()
        return self.embed_documents(texts)


def group(number):
    """What one attempt says of a lesson."""
    source = Provenance(attempt_digest=f"{number}" * 64)
    return Evidence(credit=GroupCredit(ids=("a",), credit=Credit(1, 1, 0), known_as=f"k{number}", provenance=source))


async def test_a_plain_write_in_a_loop_that_is_writing_is_refused_and_in_a_thread_it_waits():
    embedder = Waiting()
    bank = MemoryBank(InMemoryStore(index={"embed": embedder, "dims": embedder.dims}), NAMESPACE)
    adding = asyncio.create_task(bank.aadd([lesson("a")]))
    await embedder.asked.wait()
    with pytest.raises(BusyBankError, match="await the asynchronous form"):
        bank.set_status("a", "quarantined")
    late = asyncio.create_task(asyncio.to_thread(bank.set_status, "a", "quarantined"))
    embedder.may.set()
    await adding
    assert await late == ["a"]
    bank.set_status("a", "active")
    assert bank.get("a").status == "active"


async def test_the_next_writer_waits_for_a_write_whose_caller_was_cancelled(tmp_path, monkeypatch):
    begun, commit = threading.Event(), Writer.commit

    def slow(self, changes, vectors):
        if changes:
            begun.set()
            time.sleep(0.2)
        commit(self, changes, vectors)

    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        bank = MemoryBank(store, NAMESPACE)
        bank.add([lesson("a")])
        monkeypatch.setattr(Writer, "commit", slow)
        first = asyncio.create_task(bank.aadd([], evidence=group(1)))
        await asyncio.to_thread(begun.wait)
        first.cancel()
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        await bank.aadd([], evidence=group(2))
        assert len(bank.credit_history()) == 2
        assert bank.get("a").utility.used == 2
        assert bank.verify_log().ok


async def test_a_write_that_fails_after_its_caller_was_cancelled_leaves_the_bank_free(monkeypatch):
    embedder = Waiting()
    bank = MemoryBank(InMemoryStore(index={"embed": embedder, "dims": embedder.dims}), NAMESPACE)
    adding = asyncio.create_task(bank.aadd([lesson("a")]))
    await embedder.asked.wait()

    def fails(texts):
        raise ConnectionError("gone")

    monkeypatch.setattr(embedder, "embed_documents", fails)
    adding.cancel()
    embedder.may.set()
    with pytest.raises(asyncio.CancelledError):
        await adding
    monkeypatch.undo()
    await bank.aadd([lesson("b")])
    assert [item.id for item in bank.items()] == ["b"]
