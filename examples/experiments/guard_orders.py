"""What a guard makes of the rows of a run, in many orders of its problems: one order alone is half luck.

python examples/experiments/guard_orders.py examples/experiments/svamp-qwen2.5-coder-1.5b [--arm memory] [--orders 150]

Needs no model and no problems: the guard draws by ids and order.
"""

import argparse
import random
import statistics
from pathlib import Path

from reasoningbank_langgraph.experiments.guarded import guarded_rows
from reasoningbank_langgraph.experiments.results import ResultRow, Results
from reasoningbank_langgraph.math_solver.problems import Problem

SHARES = (0.2, 0.5)


def read_rows(folder: Path, arm: str) -> list[ResultRow]:
    """Return the rows of the baseline and of an arm with memory, the latter under the name that a guard looks for."""
    named = {"baseline": "baseline", arm: "memory"}
    return [row.model_copy(update={"arm": named[row.arm]}) for row in Results(folder).rows if row.arm in named]


def points(rows: list[ResultRow], share: float, orders: int) -> list[float]:
    """Return for each order how many points the guarded answers are above the baseline."""
    baseline = [row for row in rows if row.arm == "baseline"]
    right, found = sum(row.right for row in baseline), []
    for order in range(orders):
        shuffled = random.Random(order).sample(baseline, len(baseline))  # noqa: S311 - no secret
        problems = [Problem(row.id, f"{order} {row.id}", None) for row in shuffled]
        guarded = sum(row.right for row in guarded_rows(rows, problems, 0, share=share))
        found.append(100 * (guarded - right) / len(problems))
    return found


def main() -> None:
    """Print the points of memory alone and under guards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of a run")
    parser.add_argument("--arm", default="memory", help="the arm that shows memory")
    parser.add_argument("--orders", type=int, default=150)
    options = parser.parse_args()
    rows = read_rows(options.folder, options.arm)
    right = {name: [row.right for row in rows if row.arm == name] for name in ("baseline", "memory")}
    print(f"shown to all: {100 * (statistics.mean(right['memory']) - statistics.mean(right['baseline'])):+.1f} points")
    for share in SHARES:
        found = points(rows, share, options.orders)
        print(f"guard, share {share}: {statistics.mean(found):+.1f} (one order: within {statistics.stdev(found):.1f})")


if __name__ == "__main__":
    main()
