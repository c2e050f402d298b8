"""What an attempt and a search cost on each kind of store, in turns: how many times as long as on a folder of Chroma.

    python -m tests.benchmarks.any_store [--lessons 900] [--rounds 20]

Each bank has as many lessons, a multiple of three, with vectors that are drawn from the texts. A round adds one
experience to each bank and searches each once. Figures are medians of milliseconds, and of the ratios of a round.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.bank.exchange import jsonl
from tests.postgres import servers, usable_programs

from .loop import timed
from .scale import NAMESPACE, Drawn, lesson

DIMS = 384
USUAL = "ChromaStore in a folder"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lessons", type=int, default=900)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        jsonl.write(folder / "bank.jsonl", [lesson(number) for number in range(options.lessons)], [])
        banks = {name: MemoryBank(store, NAMESPACE) for name, store in opened(stack, folder).items()}
        for bank in banks.values():
            bank.import_jsonl(folder / "bank.jsonl")
        spent = {name: ([], []) for name in banks}
        for number in range(options.rounds):
            new = [lesson(options.lessons + 3 * number + part) for part in range(3)]
            for name, bank in banks.items():
                spent[name][0].append(timed(lambda bank=bank, new=new: bank.add(new)))
                spent[name][1].append(timed(lambda bank=bank, new=new: bank.search(f"{new[0].task} And now?")))
    print(f"{'':26}{'attempt':>10}{'':8}{'search':>10}")
    for name, both in spent.items():
        ratios = [
            median(mine / usual for mine, usual in zip(*pair, strict=True))
            for pair in zip(both, spent[USUAL], strict=True)
        ]
        write, search = map(median, both)
        print(f"{name:26}{write:7.1f} ms{ratios[0]:7.2f}x{search:7.1f} ms{ratios[1]:7.2f}x")


class Listed(Drawn):
    """The same as lists, which is what Postgres takes."""

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = super().embed_query(text).tolist()
        return vector


def opened(stack: ExitStack, folder: Path) -> dict[str, BaseStore]:
    index: Any = {"dims": DIMS, "embed": Listed(DIMS)}
    with usable_programs():
        url = stack.enter_context(servers().private_postgres())
    port = stack.enter_context(servers().chroma_server(folder / "served"))
    stores: dict[str, BaseStore] = {
        "InMemoryStore": InMemoryStore(index=index),
        "SqliteStore, no index": stack.enter_context(SqliteStore.from_conn_string(str(folder / "store.sqlite"))),
        USUAL: stack.enter_context(ChromaStore.from_path(folder / "bank", index=index)),
        "ChromaStore on a server": stack.enter_context(ChromaStore.from_server(port=port, index=index)),
    }
    for kind in ("hnsw", "flat"):
        place = url.replace("/postgres?", f"/{kind}?")
        execute(url, f"CREATE DATABASE {kind}")
        kept = {**index, "ann_index_config": {"kind": kind}}
        stores[f"PostgresStore, {kind}"] = store = stack.enter_context(
            PostgresStore.from_conn_string(place, index=kept)
        )
        store.setup()
    return stores


def execute(url: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


if __name__ == "__main__":
    main()
