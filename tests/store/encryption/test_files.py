"""No file of an encrypted bank holds a text of it, whatever was written, changed, deleted and cleaned."""

import sqlite3
from contextlib import closing

import pytest
from langgraph.store.base import PutOp

from reasoningbank_langgraph import Episode, MemoryBank, MemoryItem, PendingAttempt
from reasoningbank_langgraph.messages import Message
from reasoningbank_langgraph.records import KeptAttempt
from reasoningbank_langgraph.store.cache import saved_prefixes
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.store.encryption.encrypted_bank import KEY, opened, traces

LESSON = {
    "title": "titlemarker",
    "description": "descriptionmarker",
    "content": "contentmarker Übermärkér 塔標記",
    "task": "taskmarker",
    "tags": ("tagmarker",),
    "scope": "scopemarker",
    "difficulty": "difficultymarker",
}
ATTEMPT = {"solution": "solutionmarker", "answer": "answermarker", "rationale": "rationalemarker"}
STAYS = ["contentmarker", "Übermärkér", "塔標記", "tagmarker", "reasonmarker", "actormarker", "goingmarker"]
STAYS += ["fieldmarker", "innermarker", "latermarker", "waitingmarker", "replymarker", "lateanswermarker"]
STAYS += [text for text in [*LESSON.values(), *ATTEMPT.values()] if isinstance(text, str) and " " not in text]
GOES = ["oldmarker", "deletedmarker"]


def fill(store):
    """Write lessons, an episode, what waits, rows of the ledger and plain items; return the lesson to be forgotten."""
    bank = MemoryBank(store, ("math", "ann"), actor="actormarker")
    episode = Episode(id="e1", task="taskmarker", outcome="success", **ATTEMPT)
    kept = MemoryItem(outcome="success", experience_id="e1", **LESSON)
    going = MemoryItem(title="goingmarker", description="goingmarker", content="c", outcome="failure", task="other")
    bank.add([kept], episodes=[episode])
    reply = Message(role="assistant", content="replymarker")
    attempt = KeptAttempt(messages=[reply], answer="lateanswermarker")
    bank.add([going])
    bank.add([], pending=PendingAttempt(id="p1", task="waitingmarker", group=[attempt]))
    bank.set_status(kept.id, "quarantined", reason="reasonmarker")
    bank.set_status(kept.id, "active")
    store.put(("plain",), "k", {"text": "oldmarker"})
    store.put(("plain",), "k", {"text": "latermarker", "fieldmarker": {"deep": ["innermarker"]}}, ttl=60)
    store.put(("plain",), "gone", {"text": "deletedmarker"})
    store.delete(("plain",), "gone")
    store.batch([PutOp(("many",), str(number), {"text": f"number {number}"}) for number in range(30)])
    assert store.search((), query="latermarker", filter={"text": "latermarker"}, limit=5)[0].key == "k"
    return going.id


def test_the_files_of_a_bank_without_a_key_hold_each_text_so_the_search_for_them_can_fail(folder):
    with opened(folder, None) as store:
        fill(store)
    assert traces(folder, STAYS) == STAYS


def test_the_files_of_a_bank_with_a_key_hold_none_neither_after_changes_nor_after_a_vacuum(folder, monkeypatch):
    monkeypatch.setattr(saved_prefixes, "FROM_ITEMS", 5)
    with opened(folder) as store:
        going = fill(store)
    assert list(folder.glob(f"*{saved_prefixes.ENDING}"))
    assert traces(folder, [*STAYS, *GOES]) == []
    with opened(folder) as store:
        bank = MemoryBank(store, ("math", "ann"))
        bank.forget(going)
        store.vacuum()
        store.rebuild_index()
        store.reindex(HashEmbeddings(8))
        (kept,) = bank.items()
        assert kept.content == LESSON["content"]
        assert "reasonmarker" in [change.reason for change in bank.log()]
        assert bank.episodes()[0].solution == "solutionmarker"
        assert bank.verify_log().ok
        assert store.verify().ok
    assert traces(folder, [*STAYS, *GOES]) == []


def test_the_full_text_index_knows_nothing_but_the_letters_of_base64(folder):
    with opened(folder) as store:
        fill(store)
    with closing(sqlite3.connect(folder / "chroma.sqlite3")) as database:
        database.execute(
            "CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, 'embedding_fulltext_search', 'instance')"
        )
        letters = set("".join(row[0] for row in database.execute("SELECT DISTINCT term FROM temp.terms")))
    assert letters
    assert letters <= set("abcdefghijklmnopqrstuvwxyz0123456789+/=")


@pytest.mark.parametrize("form", [KEY, KEY.hex().encode()], ids=["raw", "hex"])
def test_no_file_holds_the_key(folder, form):
    with opened(folder) as store:
        fill(store)
    assert not any(form in path.read_bytes() for path in folder.rglob("*") if path.is_file())
