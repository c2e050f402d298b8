"""A long run of the loop with scripted models: what memory and disk hold, and whether each lesson is there once.

    OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.soak [--tasks 20000] [--vectors 64]

Each task is new, and two lessons are distilled from it; every tenth is then given again as it was, which adds nothing.
After each fourth of the run it says how much memory Python's objects take, and how much of that is the bank, which is
kept in memory for searches. At the end the folder is vacuumed, and what it holds is imported into another one.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.graph import create_reasoning_bank
from reasoningbank_langgraph.testing import HashEmbeddings

from ..loop_fakes import learner, solver  # noqa: TID252 - the fakes of the tests

NAMESPACE = ("math", "one")
TITLES = ("check the units", "draw a picture")
PARTS = 4
AGAIN = 10


class Memory(NamedTuple):
    """What is in memory, in bytes."""

    traced: int
    """By all objects of Python and numpy."""
    bank: int
    """By the rows and vectors that the store keeps, as it counts them."""

    @property
    def beside(self) -> int:
        """What belongs to no lesson."""
        return self.traced - self.bank


class Soaked(NamedTuple):
    """What is left at the end of a run."""

    memory: list[Memory]
    """After each part of the run."""
    seconds: list[float]
    """Processor time of each part."""
    twice: int
    """Lessons that are in the bank more than once."""
    lost: int
    """Lessons that were distilled and are not in the bank."""
    ledger: str
    """What the check of the ledger says."""
    vacuumed: int
    """Bytes of the folder after the vacuum."""
    fresh: int
    """Bytes of a folder into which the bank was imported."""


def task_of(number: int) -> str:
    """Return a task that no other number has."""
    return f"A shop has {number} boxes of pears and sells {number + 3} more: how many are that?"


def soak(folder: Path, tasks: int, dims: int = 64) -> Soaked:
    """Run so many tasks and look at what they left."""
    embedder, model = HashEmbeddings(dims), learner(titles=TITLES)
    memory, seconds = [], []
    tracemalloc.start()
    with ChromaStore.from_path(folder / "bank", embeddings=embedder) as store:
        graph = create_reasoning_bank(solver, model=model, namespace=NAMESPACE).compile(store=store)
        for part in range(PARTS):
            started = time.process_time()
            for number in range(tasks * part // PARTS, tasks * (part + 1) // PARTS):
                for _ in range(2 if number % AGAIN == 0 else 1):
                    graph.invoke({"task": task_of(number)})
                model.calls.clear()
                embedder.calls.clear()
            seconds.append(time.process_time() - started)
            gc.collect()
            memory.append(Memory(tracemalloc.get_traced_memory()[0], store._collection.cache.nbytes))
        tracemalloc.stop()
        bank = MemoryBank(store, NAMESPACE)
        copies = Counter((item.task, item.title) for item in bank.items())
        expected = {(task_of(number), title) for number in range(tasks) for title in TITLES}
        ledger = str(bank.verify_log())
        store.vacuum()
        bank.export_jsonl(folder / "bank.jsonl")
    twice, lost = sum(copies.values()) - len(copies), len(expected - copies.keys())
    return Soaked(memory, seconds, twice, lost, ledger, size(folder / "bank"), imported(folder, embedder))


def imported(folder: Path, embedder: Any) -> int:
    """Return the size of a folder that holds what was exported."""
    with ChromaStore.from_path(folder / "fresh", embeddings=embedder) as store:
        MemoryBank(store, NAMESPACE).import_jsonl(folder / "bank.jsonl")
    return size(folder / "fresh")


def size(folder: Path) -> int:
    """Return the bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> None:
    """Print what memory holds after each part, and what is left at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--vectors", type=int, default=64, help="length of the vectors")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = soak(Path(folder), options.tasks, options.vectors)
    each = options.tasks // PARTS
    for part, (memory, seconds) in enumerate(zip(found.memory, found.seconds, strict=True), start=1):
        print(
            f"{part * each} tasks: {seconds / each * 1000:.1f} ms of processor time a task; "
            f"{memory.traced / 1e6:.1f} MB, of which the bank {memory.bank / 1e6:.1f} MB"
        )
    print(f"lessons: {found.twice} twice, {found.lost} lost; ledger: {found.ledger}")
    print(f"folder after vacuum {found.vacuumed / 1e6:.1f} MB, {found.vacuumed / found.fresh:.2f} of a fresh import")


if __name__ == "__main__":
    main()
