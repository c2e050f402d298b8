"""How long the first search of a process takes, with and without what an earlier process kept beside Chroma.

    python -m tests.benchmarks.first_search [--sizes 10000 100000] [--banks FOLDER]

Fills a bank of each size once (in FOLDER it is left for the next run), then searches it in a fresh process: with
nothing kept, so that every row is read through Chroma, and again with what that process kept when it closed the bank.
The search alone is timed, its query embedded by hashing; opening the bank, and one write with the closing that
follows, are timed beside it.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from langgraph.store.base import PutOp

from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.cache.saved_prefixes import ENDING
from reasoningbank_langgraph.testing import HashEmbeddings

HERE = ("bench", "one")
DIMS = 384
WORDS = [f"word{number}" for number in range(5_000)]
AT_ONCE = 5_000


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        print(
            f"{'items':>9}{'through Chroma':>16}{'kept':>9}{'ratio':>8}{'opening':>10}{'write':>8}{'closing':>9}   (s)"
        )
        for size in options.sizes:
            folder = (options.banks or Path(scratch)) / f"bank-{size}"
            if not folder.exists():
                fill(folder, size)
            for kept in folder.glob(f"*{ENDING}"):
                kept.unlink()
            slow, quick = (in_a_process(folder, "search") for _ in range(2))
            written = in_a_process(folder, "write")
            ratio = slow["search"] / quick["search"]
            figures = f"{size:9}{slow['search']:16.2f}{quick['search']:9.3f}{ratio:8.0f}{quick['open']:10.2f}"
            print(f"{figures}{written['write']:8.3f}{written['close']:9.2f}", flush=True)


def opened(folder: Path) -> ChromaStore:
    index = {"embed": HashEmbeddings(DIMS), "dims": DIMS, "fields": ["title"]}
    return ChromaStore.from_path(folder, index=index, cache_bytes=4 << 30)


def fill(folder: Path, size: int) -> None:
    chance = random.Random(1)

    def value(number: int) -> dict[str, object]:
        title, content = (" ".join(chance.choices(WORDS, k=count)) for count in (12, 60))
        return {"title": title, "content": content, "n": number}

    with opened(folder) as store:
        for start in range(0, size, AT_ONCE):
            store.batch([PutOp(HERE, str(n), value(n)) for n in range(start, min(start + AT_ONCE, size))])


def in_a_process(folder: Path, what: str) -> dict[str, float]:
    """Return the seconds that each step took in a fresh process."""
    command = [sys.executable, "-m", "tests.benchmarks.first_search", "--child", str(folder), what]
    figures: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return figures


def child(folder: Path, what: str) -> None:
    marks = [time.perf_counter()]
    store = opened(folder)
    marks.append(time.perf_counter())
    if what == "search":
        store.search(HERE, query="word1 word2 word3", limit=3)
    else:
        store.put(HERE, "one more", {"title": "word1"})
        store.delete(HERE, "one more")
    marks.append(time.perf_counter())
    store.close()
    marks.append(time.perf_counter())
    steps = [after - before for before, after in pairwise(marks)]
    print(json.dumps(dict(zip(("open", what, "close"), steps, strict=True))))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000], help="items in the bank")
    parser.add_argument("--banks", type=Path, help="folder to keep the banks in between runs")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments().child
    main() if given is None else child(Path(given[0]), given[1])
