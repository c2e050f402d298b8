"""How long a search takes beside the embedding of its query, and how much of the exact answer it finds.

    python tests/benchmarks/retrieval.py DATA.jsonl [MORE.jsonl ...] [--sizes 10000 100000] [--queries 100]

DATA are JSON lines with a text field (`question`, `problem`, `task` or `text`) and maybe a `solution`. The first texts
are the queries; the others, and the sentences of the solutions, fill the banks, embedded for real with the packaged
model. Banks larger than that are filled up with neighbours of real vectors (a vector plus noise), so that they are as
crowded as more real text would be. Each search is timed right after the embedding of the same query alone; `ratio` is
the median of the one over that of the other, `own` the part of a search that is not embedding.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore
from numpy.typing import NDArray

from reasoningbank_langgraph.embeddings import default_embeddings
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.row_layout import below

Vectors = NDArray[np.float32]
Ask = Callable[[str], list[int]]
FIELDS = ("question", "problem", "task", "text")
BANK = ("bench", "one")
K = 10


class Prepared(Embeddings):
    """Documents `row N` have the vectors given; queries are embedded for real, or looked up while `replay` is set."""

    model_name = "prepared"

    def __init__(self, vectors: Vectors, queries: Embeddings) -> None:
        self.vectors = vectors
        self.queries = queries
        self.known: dict[str, list[float]] = {}
        self.replay = False

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[int(text.split()[1])] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        if not self.replay:
            self.known[text] = self.queries.embed_query(text)
        return self.known[text]


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
    print(f"\n{'':44}{'embedding':>10}{'search':>8}{'ratio':>7}{'own':>7}{'recall@10':>11}   (medians, ms)")
    for size in options.sizes:
        vectors = filled_up(real, size)
        exact = [set(best(vectors @ query)) for query in asked]
        with tempfile.TemporaryDirectory() as folder:
            others = options.others if size == min(options.sizes) else 0
            measure_size(Path(folder), Prepared(vectors, model), queries, exact, others)


def measure_size(folder: Path, model: Prepared, queries: list[str], exact: list[set[int]], others: int) -> None:
    size = len(model.vectors)
    index = {"dims": model.vectors.shape[1], "embed": model, "fields": ["t"]}
    with ChromaStore.from_path(folder / "bank", index=index, cache_bytes=4 << 30) as store:
        started = time.perf_counter()
        put(store, BANK, range(size))
        filled = time.perf_counter()
        store.search(BANK, query=queries[0])
        print(f"-- {size} items: filled in {filled - started:.0f} s, first search {time.perf_counter() - filled:.1f} s")
        row("ChromaStore", searching(store), queries, model, exact)
        row("Chroma's own index", asking_the_index(store, model), queries, model, exact)
        if others:
            put_others(store, others, size)
            row(f"ChromaStore beside {others} namespaces of 5", searching(store), queries, model, exact)
            store.search((), query=queries[0])
            row("the same after a search of everything", searching(store), queries, model, exact)
    memory = InMemoryStore(index=index)
    put(memory, BANK, range(size))
    row("LangGraph's InMemoryStore", searching(memory), queries[:20], model, exact)


def searching(store: BaseStore) -> Ask:
    return lambda query: [int(item.key) for item in store.search(BANK, query=query, limit=K)]


def asking_the_index(store: ChromaStore, model: Embeddings) -> Ask:
    collection = store._collection.rows.collection

    def ask(query: str) -> list[int]:
        vector = model.embed_query(query)
        found = collection.query(query_embeddings=[vector], n_results=K, where=below(BANK), include=["documents"])
        return [int(json.loads(text)["t"].split()[1]) for text in found["documents"][0]]

    return ask


def row(what: str, ask: Ask, queries: Sequence[str], model: Prepared, exact: list[set[int]]) -> None:
    alone, search, own, hits = [], [], [], []
    for query, wanted in zip(queries, exact, strict=False):
        alone.append(seconds(model.embed_query, query)[0])
        search.append(seconds(ask, query)[0])
        model.queries.embed_query(query)  # takes the bank out of the processor's cache again
        model.replay = True
        spent, found = seconds(ask, query)
        model.replay = False
        own.append(spent)
        hits.append(len(wanted.intersection(found)) / K)
    middle = [float(np.median(some)) * 1e3 for some in (alone, search, own)]
    ratio = middle[1] / middle[0]
    print(f"{what:44}{middle[0]:10.2f}{middle[1]:8.2f}{ratio:7.2f}{middle[2]:7.2f}{np.mean(hits):11.4f}", flush=True)


def seconds(call: Callable[[str], Any], query: str) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = call(query)
    return time.perf_counter() - start, answer


def put_others(store: BaseStore, others: int, size: int) -> None:
    for start in range(0, others, 1000):
        numbers = range(start, min(others, start + 1000))
        places = [(n, m) for n in numbers for m in range(5)]
        store.batch([PutOp(("bench", f"other-{n}"), str(m), {"t": f"row {(n * 5 + m) % size}"}) for n, m in places])


def put(store: BaseStore, namespace: tuple[str, ...], rows: Sequence[int]) -> None:
    for start in range(0, len(rows), 5000):
        store.batch([PutOp(namespace, str(n), {"t": f"row {n}"}) for n in rows[start : start + 5000]])


def embedded(texts: list[str], model: Embeddings, kept: Path | None) -> Vectors:
    if kept and kept.exists():
        vectors: Vectors = np.load(kept)
        if len(vectors) >= len(texts):
            return vectors[: len(texts)]
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
