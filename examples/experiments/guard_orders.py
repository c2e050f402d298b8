"""What a guard makes of the rows of a run, in many orders of its problems: one order alone is half luck.

python examples/experiments/guard_orders.py examples/experiments/svamp-qwen2.5-coder-1.5b [--arm memory] [--orders 150]

Needs no model and no problems: the guard draws by ids and order.
"""

import argparse
import random
import statistics
from collections.abc import Sequence
from pathlib import Path

from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.guarded import guarded_rows
from reasoningbank_langgraph.experiments.results import ResultRow, Results
from reasoningbank_langgraph.math_solver.problems import Problem

SHARES = (0.2, 0.5)


def points(rows: Sequence[ResultRow], arm: str, share: float, orders: int) -> list[float]:
    """Return for each order how many points the guarded answers are above the baseline."""
    baseline = [row for row in rows if row.arm == "baseline"]
    right, found, guarded_arm = sum(row.right for row in baseline), [], Arm(f"guarded+{arm}")
    for order in range(orders):
        shuffled = random.Random(order).sample(baseline, len(baseline))  # noqa: S311 - no secret
        problems = [Problem(row.id, f"{order} {row.id}", None) for row in shuffled]
        guarded = sum(row.right for row in guarded_rows(rows, problems, 0, guarded_arm, share=share))
        found.append(100 * (guarded - right) / len(problems))
    return found


def main() -> None:
    """Print the points of memory alone and under guards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of a run")
    parser.add_argument("--arm", default="memory", help="the arm that shows memory")
    parser.add_argument("--orders", type=int, default=150)
    options = parser.parse_args()
    rows = Results(options.folder).rows
    right = {name: [row.right for row in rows if row.arm == name] for name in ("baseline", options.arm)}
    alone, shown = (100 * statistics.mean(of) for of in right.values())
    print(f"shown to all: {shown - alone:+.1f} points")
    for share in SHARES:
        found = points(rows, options.arm, share, options.orders)
        print(f"guard, share {share}: {statistics.mean(found):+.1f} (one order: within {statistics.stdev(found):.1f})")


if __name__ == "__main__":
    main()
