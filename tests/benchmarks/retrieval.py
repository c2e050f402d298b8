"""How long a search takes beside the embedding of its query, and how much of the exact answer it finds.

    python tests/benchmarks/retrieval.py DATA.jsonl [MORE.jsonl ...] [--sizes 10000 100000] [--queries 100]

DATA are JSON lines with a text field (`question`, `problem`, `task` or `text`) and maybe a `solution`. The first texts
are the queries; the others, and the sentences of the solutions, fill the banks, embedded for real with the packaged
model. Banks larger than that are filled up with neighbours of real vectors (a vector plus noise), so that they are as
crowded as more real text would be. Each search is timed right after the embedding of the same query alone; a ratio is
the median of the one over the median of the other.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore
from numpy.typing import NDArray

from reasoningbank_langgraph.embeddings import default_embeddings
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.layout import below

Vectors = NDArray[np.float32]
FIELDS = ("question", "problem", "task", "text")
BANK = ("bench", "one")
K = 10


class Prepared(Embeddings):
    """Documents `row N` have the vectors given; queries are embedded for real."""

    model_name = "prepared"

    def __init__(self, vectors: Vectors, queries: Embeddings) -> None:
        self.vectors = vectors
        self.queries = queries

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[int(text.split()[1])] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.queries.embed_query(text)


def main() -> None:
    options = arguments()
    model = default_embeddings()
    records = [record for path in options.data for record in read(path)]
    queries = [task for task, _ in records[:: max(1, len(records) // options.queries)]][: options.queries]
    texts = list(dict.fromkeys([task for task, _ in records] + [part for _, parts in records for part in parts]))
    texts = [text for text in texts if text not in queries][: min(options.real, max(options.sizes))]
    print(f"{len(texts)} texts, {len(queries)} queries; embedding ...", flush=True)
    real = embedded(texts, model, options.vectors)
    asked = np.asarray([model.embed_query(query) for query in queries], np.float32)
    print(f"\n{'what':44}{'median ms':>10}{'ratio':>8}{'recall@10':>11}")
    for size in options.sizes:
        vectors = filled_up(real, size)
        with tempfile.TemporaryDirectory() as folder:
            measure_size(
                Path(folder), vectors, asked, queries, model, options.others if size == min(options.sizes) else 0
            )


def measure_size(
    folder: Path, vectors: Vectors, asked: Vectors, queries: list[str], model: Embeddings, others: int
) -> None:
    size = len(vectors)
    index = {"dims": vectors.shape[1], "embed": Prepared(vectors, model), "fields": ["t"]}
    exact = [set(best(vectors @ query)) for query in asked]
    with ChromaStore.from_path(folder / "bank", index=index, cache_bytes=4 << 30) as store:
        started = time.perf_counter()
        put(store, BANK, range(size))
        filled = time.perf_counter()
        store.search(BANK, query=queries[0])
        print(f"-- {size} items: filled in {filled - started:.0f} s, first search {time.perf_counter() - filled:.1f} s")
        row(f"ChromaStore, {size} items", compare(store, queries, model), exact)
        collection = store._shelf.rows.collection
        row(f"Chroma's own index, {size} items", compare_index(collection, queries, model), exact)
        if others:
            for start in range(0, others, 1000):
                store.batch(
                    [
                        PutOp(("bench", f"other-{n}"), str(m), {"t": f"row {(n * 5 + m) % size}"})
                        for n in range(start, min(others, start + 1000))
                        for m in range(5)
                    ]
                )
            row(f"ChromaStore, beside {others} namespaces of 5", compare(store, queries, model), exact)
            store.search((), query=queries[0])
            row("the same, after a search of everything", compare(store, queries, model), exact)
    memory = InMemoryStore(index=index)
    put(memory, BANK, range(size))
    row(f"InMemoryStore, {size} items", compare(memory, queries[:20], model), exact)


def compare(store: BaseStore, queries: Sequence[str], model: Embeddings) -> Iterator[tuple[float, float, list[int]]]:
    """Yield (seconds of the embedding alone, seconds of the search, rows found) for each query."""
    return timed(queries, model, lambda query: [int(item.key) for item in store.search(BANK, query=query, limit=K)])


def compare_index(collection, queries: Sequence[str], model: Embeddings) -> Iterator[tuple[float, float, list[int]]]:
    def ask(query: str) -> list[int]:
        vector = model.embed_query(query)
        found = collection.query(query_embeddings=[vector], n_results=K, where=below(BANK), include=["documents"])
        return [int(json.loads(text)["t"].split()[1]) for text in found["documents"][0]]

    return timed(queries, model, ask)


def timed(
    queries: Sequence[str], model: Embeddings, ask: Callable[[str], list[int]]
) -> Iterator[tuple[float, float, list[int]]]:
    for query in queries:
        start = time.perf_counter()
        model.embed_query(query)
        middle = time.perf_counter()
        found = ask(query)
        yield middle - start, time.perf_counter() - middle, found


def row(what: str, measured: Iterator[tuple[float, float, list[int]]], exact: list[set[int]]) -> None:
    alone, search, found = zip(*measured, strict=True)
    hits = [len(wanted.intersection(rows)) / K for wanted, rows in zip(exact, found, strict=False)]
    ratio = np.median(search) / np.median(alone)
    print(f"{'embedding alone':44}{np.median(alone) * 1e3:10.2f}")
    print(f"{what:44}{np.median(search) * 1e3:10.2f}{ratio:8.2f}{np.mean(hits):11.4f}", flush=True)


def put(store: BaseStore, namespace: tuple[str, ...], rows: Sequence[int]) -> None:
    for start in range(0, len(rows), 5000):
        store.batch([PutOp(namespace, str(n), {"t": f"row {n}"}) for n in rows[start : start + 5000]])


def embedded(texts: list[str], model: Embeddings, kept: Path | None) -> Vectors:
    if kept and kept.exists():
        vectors: Vectors = np.load(kept)
        if len(vectors) == len(texts):
            return vectors
    vectors = np.asarray(model.embed_documents(texts), np.float32)
    if kept:
        np.save(kept, vectors)
    return vectors


def best(scores: NDArray[np.float32]) -> list[int]:
    return np.argsort(-scores, kind="stable")[:K].tolist()


def filled_up(real: Vectors, size: int) -> Vectors:
    """Return `size` vectors: the real ones first, then noisy copies of them."""
    if size <= len(real):
        return real[:size]
    rng = np.random.default_rng(0)
    extra = real[rng.integers(0, len(real), size - len(real))]
    noise = rng.standard_normal(extra.shape).astype(np.float32)
    noise *= rng.uniform(0.3, 0.8, (len(extra), 1)).astype(np.float32) / np.linalg.norm(noise, axis=1, keepdims=True)
    extra = extra + noise
    return np.concatenate([real, extra / np.linalg.norm(extra, axis=1, keepdims=True)])


def read(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the task and the sentences of the solution of each line."""
    for line in path.read_bytes().split(b"\n"):
        record = json.loads(line) if line.strip() else {}
        task = next((record[field] for field in FIELDS if isinstance(record.get(field), str)), "")
        if task:
            yield task, [part for part in re.split(r"(?<=[.!?])\s+|\n", record.get("solution", "")) if len(part) > 30]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="JSON lines with the texts")
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000], help="items in the bank")
    parser.add_argument(
        "--others", type=int, default=10_000, help="other namespaces, of 5 items each, beside the smallest bank"
    )
    parser.add_argument("--real", type=int, default=10_000, help="texts to embed for real")
    parser.add_argument("--vectors", type=Path, help=".npy file to keep the embedded texts in between runs")
    parser.add_argument("--queries", type=int, default=100, help="queries a measurement")
    return parser.parse_args()


if __name__ == "__main__":
    main()
