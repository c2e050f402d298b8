"""What the loop costs a task: the whole graph against the bare solver, with a model that answers at once.

python -m tests.benchmarks.loop [--tasks 200]
"""

import argparse
import statistics
import time

from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import ReasoningBankState, create_reasoning_bank
from reasoningbank_langgraph.testing import HashEmbeddings

from ..loop_fakes import learner, solver  # noqa: TID252 - the fakes of the tests


def milliseconds(graph, tasks):
    """Return the median time of one task, each on its own."""
    times = []
    for number in range(tasks):
        started = time.perf_counter()
        graph.invoke({"task": f"add {number} apples and {number + 3} pears"})
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def main():
    """Print both times, their difference and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    tasks = parser.parse_args().tasks
    bare = StateGraph(ReasoningBankState)
    bare.add_node("solve", solver)
    bare.add_edge(START, "solve")
    store = InMemoryStore(index={"dims": 64, "embed": HashEmbeddings(), "fields": ["$"]})
    loop = create_reasoning_bank(solver, model=learner(titles=("add", "draw", "check"))).compile(store=store)
    alone, whole = milliseconds(bare.compile(), tasks), milliseconds(loop, tasks)
    print(f"bare solver {alone:.2f} ms, loop {whole:.2f} ms a task (median of {tasks}; the bank grows to {tasks * 3})")
    print(f"the loop adds {whole - alone:.2f} ms a task, {whole / alone:.1f} times the bare graph")


if __name__ == "__main__":
    main()
