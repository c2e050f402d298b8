"""How soon a guard finds what memory does, how often it is wrong (simulated, no model), and what it costs a task.

python -m tests.benchmarks.guard [--tasks 300]
"""

import argparse
import itertools
import statistics
import tempfile
import time
from pathlib import Path

from reasoningbank_langgraph import ChromaStore, Guard, create_reasoning_bank
from reasoningbank_langgraph.testing import HashEmbeddings

from ..loop_fakes import learner, solver  # noqa: TID252 - the fakes of the tests
from ..policies.guard_runs import NEVER, first_decisions, paired_runs, parts_shown  # noqa: TID252 - the runs of the tests
from .writes import WriteCount

RATES = [(0.06, 0.25), (0.155, 0.155), (0.25, 0.06), (0.10, 0.15)]


def after(pairs):
    """Return a number of pairs or tasks as text."""
    return "-" if pairs >= NEVER else f"{pairs:.0f}"


def cost(folder, tasks):
    """Return median times and mean writes of a task in the loop, without a guard and with one, a bank on disk each."""
    times, graphs, writes = {False: [], True: []}, {}, {}
    for guarded in times:
        store = ChromaStore.from_path(folder / str(guarded), embeddings=HashEmbeddings())
        writes[guarded] = WriteCount(store)
        built = create_reasoning_bank(solver, model=learner(), guard=Guard(share=1e-9) if guarded else None)
        graphs[guarded] = built.compile(store=store)
    for number in range(tasks):
        for guarded, graph in graphs.items():
            started = time.perf_counter()
            graph.invoke({"task": f"add {number} apples and {number + 3} pears"})
            times[guarded].append((time.perf_counter() - started) * 1000)
    for graph in graphs.values():
        graph.store.close()
    return [(statistics.median(times[guarded]), writes[guarded].total / tasks) for guarded in times]


def streams():
    """Print when streams of tasks are decided, and how many points they lose or gain until then."""
    print("\n100 streams, 71 % right without memory; points against no memory, of the first tasks")
    print("| right with memory | share | off | on | median tasks until decided | of 60 | of 100 | of 300 | of 1,000 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for right, share in itertools.product((0.52, 0.66, 0.71, 0.76, 0.9), (0.2, 0.5)):
        found = first_decisions(Guard(share=share), right, 0.71)
        off, on = ([state for _, state in found].count(wanted) for wanted in ("off", "on"))
        shown = parts_shown(Guard(share=share), right, 0.71, tasks=1000)
        points = " | ".join(f"{100 * (right - 0.71) * shown[:tasks].mean():+.1f}" for tasks in (60, 100, 300, 1000))
        tasks = after(statistics.median(number for number, _ in found))
        print(f"| {right:.0%} | {share} | {off} | {on} | {tasks} | {points} |")


def main():
    """Print what happens to pairs of given rates and to streams of tasks of which a share is held out, and the cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=300)
    tasks = parser.parse_args().tasks
    print("1,000 runs of 4,000 pairs, one task of each with memory and one without, alpha 0.05")
    print("| fixed | broken | off within 60 | within 400 | within 4,000 | median pairs until off |")
    print("|---|---|---|---|---|---|")
    for fixed, broken in RATES:
        runs = paired_runs(fixed, broken, pairs=4000)
        parts = " | ".join(f"{runs.part_off(within):.1%}" for within in (60, 400, 4000))
        print(f"| {fixed:.1%} | {broken:.1%} | {parts} | {after(runs.median_off)} |")
    streams()
    with tempfile.TemporaryDirectory() as folder:
        (without, plain), (guarded, counted) = cost(Path(folder), tasks)
    print(f"\na task in the whole loop, bank on disk, model at 0 ms: {without:.2f} ms, with a guard {guarded:.2f} ms")
    print(f"the guard adds {guarded - without:.2f} ms a task, {guarded / without:.2f} times")
    print(f"writes of the store a task: {plain:.2f} without, {counted:.2f} with a guard")


if __name__ == "__main__":
    main()
