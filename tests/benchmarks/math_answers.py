"""Speed of the answer check on plain numbers, and how it and math-verify do on labelled pairs.

python tests/benchmarks/math_answers.py [pairs.jsonl ...]

math-verify takes part where it is installed: pip install "math-verify[antlr4_13_2]==0.9.0". It is handed each text as a
formula, between dollar signs, as it asks for.
"""

from __future__ import annotations

import json
import logging
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reasoningbank_langgraph.math_answers import equivalent

PAIRS = Path(__file__).parents[1] / "data" / "math_answer_pairs.jsonl"
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


def math_verify() -> Callable[[str, str], bool]:
    """Return the check of math-verify in the form of ours."""
    from math_verify import parse, verify

    logging.getLogger("math_verify").setLevel(logging.CRITICAL)

    def read(text: str) -> list[Any]:
        return list(parse(text if "$" in text or "\\boxed" in text else f"${text}$"))

    return lambda gold, prediction: bool(verify(read(gold), read(prediction)))


def score(name: str, check: Callable[[str, str], bool], rows: Iterable[dict[str, Any]]) -> None:
    """Print how often a check agrees with the labels, and in which direction it errs."""
    outcomes = Counter((bool(row["expected"]), check(row["gold"], row["prediction"])) for row in rows)
    right = outcomes[True, True] + outcomes[False, False]
    print(
        f"  {name}: right on {right} of {outcomes.total()}, "
        f"{outcomes[False, True]} wrongly equal, {outcomes[True, False]} wrongly different"
    )


def main(paths: list[Path]) -> None:
    rates = [1000 * PLAIN_PAIRS / sum(milliseconds(plain_pairs())) for _ in range(5)]
    print(f"plain pairs: median {statistics.median(rates):.0f} pairs/s of 5 runs (lowest {min(rates):.0f})")
    for path in paths:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        taken = sorted(milliseconds([(row["gold"], row["prediction"]) for row in rows] * 5))
        p99 = taken[int(0.99 * len(taken))]
        print(f"{path.name}: median {statistics.median(taken):.2f} ms, p99 {p99:.1f} ms, max {taken[-1]:.1f} ms")
        score("math_answers", equivalent, rows)
        if find_spec("math_verify"):
            score(f"math-verify {version('math-verify')}", math_verify(), rows)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or [PAIRS])
