"""Write `bank-VERSION.tar.gz`: a bank as this version leaves it on disk, for later versions to open.

Usage: python -m tests.data.make_bank

Keep the files of released versions as they are; a later version gets a file of its own.
"""

import tarfile
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from langgraph.store.base import PutOp

from reasoningbank_langgraph import ChromaStore, MemoryBank, MemoryItem, __version__
from reasoningbank_langgraph.records import Provenance
from reasoningbank_langgraph.store.folder.lock import LOCK_FILE
from reasoningbank_langgraph.testing import HashEmbeddings

PLAIN, MEMORY = ("plain", "Ünï 😀"), ("math", "ann")
TASKS = ["count the apples in the basket", "add the pears on the table", "halve the pile of stones"]
OUTCOMES = ["success", "failure", "contrast"]
MINUTES = 60 * 24 * 365 * 50


def plain(number):
    """Return the value of one of the plain items."""
    return {"text": f"note {number} about rivers", "n": number, "deep": {"list": [1, None, "ä"]}}


def lesson(number):
    """Return one of the lessons, which are the same each time."""
    task = TASKS[number % 3]
    return MemoryItem(
        id=f"lesson-{number}",
        title=f"look at {task} twice",
        description=f"when a task asks to {task}",
        content="check the number before you answer",
        outcome=OUTCOMES[number % 3],
        task=task,
        task_id=f"task-{number % 3}",
        experience_id=f"attempt-{number % 3}",
        provenance=Provenance(thread_id="t1", run_id="r1", attempt_digest=f"digest-{number % 3}"),
        created_at=datetime(2026, 1, 1 + number, tzinfo=UTC),
        updated_at=datetime(2026, 1, 1 + number, tzinfo=UTC),
    )


def fill(store):
    """Write every kind of item a bank may hold."""
    store.batch([PutOp(PLAIN, str(number), plain(number)) for number in range(20)])
    store.put(PLAIN, "dark", {"text": "never embedded"}, index=False)
    store.put(PLAIN, "paths", {"tags": ["red", "blue"]}, index=["tags[*]"])
    store.put(PLAIN, "mortal", {"text": "lives for fifty years"}, ttl=MINUTES)
    store.put(PLAIN, "", {"text": "the empty key"})
    store.put(PLAIN, "gone", {"text": "deleted"})
    store.delete(PLAIN, "gone")
    bank = MemoryBank(store, MEMORY)
    for number in range(3):
        bank.add([lesson(number), lesson(number + 3)])


def main():
    target = Path(__file__).with_name(f"bank-{__version__}.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
            fill(store)
            store.vacuum()
            assert store.verify().ok
        with tarfile.open(target, "w:gz") as archive:
            for path in sorted(Path(folder).iterdir()):
                if path.name != LOCK_FILE:
                    archive.add(path, path.name, filter=nameless)


def nameless(member):
    """Leave out who made the file."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
