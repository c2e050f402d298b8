"""What a key costs: a bank with one against a bank without, on disk.

    python -m tests.benchmarks.encryption [--items 2000] [--rounds 5]

Lessons of about 800 characters are written 20 at a time, as an attempt or an import does. Then each bank is opened anew
and searched: the first search, which decrypts what it maps, with a filter, and those after it. Vectors are hashes. The
two banks take turns, so that both see the same other load; the medians of the rounds are compared.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from langgraph.store.base import PutOp

from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings

from .loop import timed

HERE = ("bench", "one")
KEY = bytes(range(32))
WORDS = [f"word{number}" for number in range(5_000)]
AT_ONCE, SEARCHES, LENGTH = 20, 200, 100
PARTS = ("write", "opening", "first search", "search", "closing", "megabytes")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    seen: dict[bytes | None, list[dict[str, float]]] = {None: [], KEY: []}
    for number in range(options.rounds):
        for key in (None, KEY) if number % 2 else (KEY, None):
            with tempfile.TemporaryDirectory() as scratch:
                seen[key].append(measured(Path(scratch) / "bank", key, options.items))
    print(f"{options.items} items, {options.rounds} rounds; ms\n{'':>14}{'without':>12}{'with a key':>12}{'ratio':>8}")
    for part in PARTS:
        plain, encrypted = (statistics.median(one[part] for one in seen[key]) for key in (None, KEY))
        print(f"{part:>14}{plain:>12.3f}{encrypted:>12.3f}{encrypted / plain:>8.2f}")


def measured(folder: Path, key: bytes | None, items: int) -> dict[str, float]:
    """Return milliseconds, and megabytes on disk, of one bank."""
    lessons = list(_lessons(items))
    with _opened(folder, key) as store:
        batches = [lessons[start : start + AT_ONCE] for start in range(0, items, AT_ONCE)]
        writes = [timed(lambda batch=batch: store.batch(batch)) for batch in batches]  # type: ignore[misc]
        store.search((), query="word1", limit=3)  # so that what the next first search maps is kept
    found: dict[str, float] = {"write": statistics.median(writes)}
    stores: list[ChromaStore] = []
    found["opening"] = timed(lambda: stores.append(_opened(folder, key)))
    (store,) = stores
    queries = [f"word{number}" for number in range(SEARCHES)]

    def search(query: str) -> None:
        store.search(HERE, query=query, filter={"outcome": "success"}, limit=3)

    found["first search"] = timed(lambda: search("word1"))
    found["search"] = statistics.median(timed(lambda query=query: search(query)) for query in queries)  # type: ignore[misc]
    found["closing"] = timed(store.close)
    found["megabytes"] = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    return found


def _opened(folder: Path, key: bytes | None) -> ChromaStore:
    return ChromaStore.from_path(folder, index={"embed": HashEmbeddings(), "fields": ["title"]}, encryption_key=key)


def _lessons(count: int) -> Iterator[PutOp]:
    rng = random.Random(7)
    for number in range(count):
        words = rng.choices(WORDS, k=LENGTH)
        value = {"title": " ".join(words[:8]), "content": " ".join(words), "outcome": "success", "n": number}
        yield PutOp(HERE, str(number), value)


if __name__ == "__main__":
    main()
