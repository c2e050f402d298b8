"""Speed of the answer check: pairs of plain numbers a second, and the slowest pairs of two case files.

python tests/benchmarks/math_answers.py [cases.jsonl ...]
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from pathlib import Path

from reasoningbank_langgraph.math_answers import equivalent

ROOT = Path(__file__).parents[2]
CASES = [ROOT / "tests/data/math_answer_pairs.jsonl", ROOT / "../shared/cases/math_equivalence.jsonl"]
PLAIN_PAIRS = 2_000


def plain_pairs() -> list[tuple[str, str]]:
    draw = random.Random(7)
    spellings = ("{}", "${}$", "{}.0", "\\frac{{{}}}{{1}}", "{} apples", "\\boxed{{{}}}")
    numbers = [draw.randint(-10_000, 10_000) for _ in range(PLAIN_PAIRS)]
    return [(str(number), draw.choice(spellings).format(number + draw.choice((0, 1)))) for number in numbers]


def milliseconds(pairs: list[tuple[str, str]]) -> list[float]:
    taken = []
    for gold, prediction in pairs:
        start = time.perf_counter()
        equivalent(gold, prediction)
        taken.append(1000 * (time.perf_counter() - start))
    return taken


def main(paths: list[Path]) -> None:
    rates = [1000 * PLAIN_PAIRS / sum(milliseconds(plain_pairs())) for _ in range(5)]
    print(f"plain pairs: median {statistics.median(rates):.0f} pairs/s of 5 runs (lowest {min(rates):.0f})")
    for path in filter(Path.exists, paths):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        right = sum(equivalent(row["gold"], row["prediction"]) is row["expected"] for row in rows)
        taken = sorted(milliseconds([(row["gold"], row["prediction"]) for row in rows] * 5))
        p99 = taken[int(0.99 * len(taken))]
        print(
            f"{path.name}: {right}/{len(rows)} right, median {statistics.median(taken):.2f} ms, "
            f"p99 {p99:.1f} ms, max {taken[-1]:.1f} ms"
        )


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or CASES)
