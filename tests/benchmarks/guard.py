"""How soon a guard finds what memory does, and how often it is wrong: simulated, no model.

python -m tests.benchmarks.guard
"""

import statistics

from reasoningbank_langgraph import Guard

from ..policies.guard_runs import NEVER, first_decisions, paired_runs  # noqa: TID252 - the runs of the tests

RATES = [(0.06, 0.25), (0.155, 0.155), (0.25, 0.06), (0.10, 0.15)]


def after(pairs):
    """Return a number of pairs or tasks as text."""
    return "-" if pairs >= NEVER else f"{pairs:.0f}"


def main():
    """Print what happens to pairs of given rates, and to streams of tasks of which a share is held out."""
    print("1,000 runs of 4,000 pairs, one task of each with memory and one without, alpha 0.05")
    print("| fixed | broken | off within 60 | within 400 | within 4,000 | median pairs until off |")
    print("|---|---|---|---|---|---|")
    for fixed, broken in RATES:
        runs = paired_runs(fixed, broken, pairs=4000)
        parts = " | ".join(f"{runs.part_off(within):.1%}" for within in (60, 400, 4000))
        print(f"| {fixed:.1%} | {broken:.1%} | {parts} | {after(runs.median_off)} |")
    print("\n100 streams of tasks, solved in 52 % with memory and 71 % without")
    print("| share held out | switched off | median tasks until then |")
    print("|---|---|---|")
    for share in (0.2, 0.35, 0.5):
        found = first_decisions(Guard(share=share), 0.52, 0.71)
        off = sum(state == "off" for _, state in found)
        print(f"| {share} | {off} | {after(statistics.median(number for number, _ in found))} |")


if __name__ == "__main__":
    main()
