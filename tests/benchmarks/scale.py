"""What a bank of many lessons costs: import, export, list, totals, search and a new attempt, in two sizes.

    OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.scale [--sizes 20000 100000] [--dims 384] [--store chroma]

No model embeds: a text has a vector of `dims` numbers that is drawn from its hash. An experience has three lessons.
Times are seconds of the processor, which a busy machine leaves alone as far as it can. `growth` is the time at the
larger size over that at the smaller one. `Chroma alone` is what its own `get` and `add` take for the same rows, written
to a new collection of the same kind: an import cannot be quicker than that.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import ChromaStore, MemoryBank, MemoryItem
from reasoningbank_langgraph.bank.exchange import jsonl
from reasoningbank_langgraph.policies import Credit, Evidence, GroupCredit, Policy
from reasoningbank_langgraph.records import Provenance
from reasoningbank_langgraph.store.collection import create
from reasoningbank_langgraph.store.connect import close_client, embedded_client
from reasoningbank_langgraph.store.rows import CHUNK

from .writes import WriteCount

NAMESPACE = ("math", "one")
PER_EXPERIENCE = 3


class Drawn(Embeddings):
    """Vectors that are drawn from the hash of a text."""

    model_name = "drawn"

    def __init__(self, dims: int) -> None:
        self.dims = dims

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> Any:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(self.dims)


def lesson(number: int) -> MemoryItem:
    experience = number // PER_EXPERIENCE
    source = Provenance(
        thread_id=f"thread {experience}",
        run_id=f"run {experience}",
        judge="reference",
        attempt_digest=f"{experience:x}",
    )
    return MemoryItem(
        id=f"lesson {number}",
        title=f"Count what each step counts, {number}",
        description=f"Use when quantities of different kinds are multiplied in a story of {number} sentences.",
        content="After each product say what it counts; if it is not what the question names, a step is missing. " * 3,
        outcome="failure" if experience % 3 == 0 else "success",
        task=f"A shop has {experience} boxes with 12 pears each and sells {experience % 7} of them: how many are left?",
        experience_id=f"experience {experience}",
        provenance=source,
    )


def opened(kind: str, folder: Path, dims: int) -> BaseStore:
    index: Any = {"dims": dims, "embed": Drawn(dims), "fields": ["$"]}
    if kind == "memory":
        return InMemoryStore(index=index)
    return ChromaStore.from_path(folder, index=index, cache_bytes=4 << 30)


def seconds(call: Any) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def chroma_alone(store: ChromaStore, folder: Path) -> dict[str, float]:
    """Return the seconds that Chroma takes to read all rows of a store, and to add them to a collection of its own."""
    rows = store._collection.rows
    starts = range(0, rows.count(), CHUNK)
    pages: list[Any] = []

    def read() -> None:
        include: Any = ["metadatas", "documents", "embeddings"]
        pages.extend(rows.collection.get(limit=CHUNK, offset=start, include=include) for start in starts)

    def write() -> None:
        for page in pages:
            target.add(**{name: page[name] for name in ("ids", "metadatas", "documents", "embeddings")})

    found = {"Chroma alone, get": seconds(read)}
    client = embedded_client(folder)
    target = create(client, "alone", {"dims": store._indexing.dims})
    found["Chroma alone, add"] = seconds(write)
    close_client(client)
    return found


def attempt(bank: MemoryBank, number: int, *, policy: Any = "append", credit: bool = False) -> Any:
    known_as = f"new lesson {number}"
    shown = GroupCredit(
        ids=("lesson 1", "lesson 2"),
        credit=Credit(2, 1, 0, 1),
        known_as=known_as,
        provenance=Provenance(attempt_digest=f"new {number}"),
    )
    item = lesson(number).model_copy(update={"id": known_as, "experience_id": known_as})
    item = item.model_copy(update={"provenance": Provenance(attempt_digest=f"new {number}", run_id=known_as)})
    return lambda: bank.add([item], policy=policy, evidence=Evidence(credit=shown) if credit else None)


def measure(kind: str, size: int, dims: int, folder: Path) -> dict[str, float]:
    """Return the seconds of each step, and the store's writes of the attempts."""
    file = folder / "bank.jsonl"
    jsonl.write(file, [lesson(number) for number in range(size)], [])
    found: dict[str, float] = {}
    store = opened(kind, folder / "bank", dims)
    bank = MemoryBank(store, NAMESPACE)
    found["import, a lesson"] = seconds(lambda: bank.import_jsonl(file)) / size
    if isinstance(store, ChromaStore):
        alone = chroma_alone(store, folder / "alone")
        found |= {f"{name}, a lesson": value / size for name, value in alone.items()}
        found["import over Chroma's add"] = found["import, a lesson"] * size / alone["Chroma alone, add"]
        found["close"] = seconds(store.close)
        store = opened(kind, folder / "bank", dims)
        bank = MemoryBank(store, NAMESPACE)
        found["first search after opening"] = seconds(lambda: bank.search("How many pears does the shop have?"))
    found["search"] = seconds(lambda: bank.search("How many pears are there in a box?"))
    found["search from a thread"] = seconds(lambda: bank.search("How many apples?", thread_id="thread 7"))
    found["totals"] = seconds(bank.totals)
    found["totals again"] = seconds(bank.totals)
    found["list of all"] = seconds(bank.items)
    found["export, a lesson"] = seconds(lambda: bank.export_jsonl(folder / "again.jsonl")) / size
    writes = WriteCount(store)
    found["attempt"] = seconds(attempt(bank, size))
    found["attempt, with credit"] = seconds(attempt(bank, size + 3, credit=True))
    found["attempt, equal lessons skipped"] = seconds(attempt(bank, size + 6, policy="skip"))
    bounded = Policy(copies="append", capacity=size + 2)
    found["attempt, in a full bank"] = seconds(attempt(bank, size + 9, policy=bounded, credit=True))
    found["writes of these four attempts"] = writes.total
    if isinstance(store, ChromaStore):
        store.close()
    return found


def main() -> None:
    """Print one line a step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs=2, type=int, default=[20_000, 100_000], help="lessons")
    parser.add_argument("--dims", type=int, default=384, help="length of the vectors")
    parser.add_argument("--store", choices=["chroma", "memory"], default="chroma")
    options = parser.parse_args()
    results = []
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            results.append(measure(options.store, size, options.dims, Path(folder)))
        print(f"{size}: {', '.join(f'{name.strip()} {value:.4g}' for name, value in results[-1].items())}", flush=True)
    small, large = results
    first, second = options.sizes
    print(f"\n{'seconds':34}{first:>12}{second:>12}   growth, with {second / first:g} times as many lessons")
    for name, value in large.items():
        print(f"{name:34}{small[name]:12.5f}{value:12.5f}{value / small[name]:9.2f}")


if __name__ == "__main__":
    main()
