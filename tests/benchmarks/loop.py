"""What the loop costs a task, and what keeping the attempts themselves adds to a bank on disk.

python -m tests.benchmarks.loop [--tasks 200] [--experiences 300]

The whole graph is timed against the bare solver, with a model that answers at once. Then two banks are filled with the
same lessons, one of them with episodes whose solutions have 7,500 characters, and are searched and written in turn.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import ChromaStore, Episode, MemoryBank, MemoryItem, ReasoningBankState
from reasoningbank_langgraph.graph import create_reasoning_bank
from reasoningbank_langgraph.testing import HashEmbeddings

from ..loop_fakes import learner, solver  # noqa: TID252 - the fakes of the tests

SOLUTION = "so we add. " * 682
"""7,502 characters."""


def milliseconds(graph, tasks):
    """Return the median time of one task, each on its own."""
    return statistics.median(timed(lambda number=number: graph.invoke({"task": task_of(number)})) for number in tasks)


def task_of(number):
    """Return a task that no other number has."""
    return f"add {number} apples and {number + 3} pears"


def timed(call):
    """Return the milliseconds a call takes."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def write(bank, number, *, episode):
    """Write three lessons, with their episode or without."""
    task, name = task_of(number), str(number)
    items = [
        MemoryItem(title=title, description="when", content="do", outcome="success", task=task, experience_id=name)
        for title in ("add", "draw", "check")
    ]
    kept = Episode(id=name, task=task, solution=SOLUTION, outcome="success")
    bank.add(items, episodes=[kept] if episode else [])


def with_and_without(folder, experiences):
    """Return the median milliseconds of a write and of a search, each as a pair: with episodes and without."""
    banks = {}
    for episode in (True, False):
        store = ChromaStore.from_path(folder / str(episode), embeddings=HashEmbeddings())
        banks[episode] = MemoryBank(store, "m")
    writes, searches = ({True: [], False: []} for _ in range(2))
    for number in range(experiences):
        for episode, bank in banks.items():
            writes[episode].append(timed(lambda: write(bank, number, episode=episode)))  # noqa: B023 - called here
    for number in range(experiences):
        for episode, bank in banks.items():
            searches[episode].append(timed(lambda: bank.search(f"{task_of(number)} more")))  # noqa: B023 - called here
    for bank in banks.values():
        bank.store.close()
    return [[statistics.median(times[episode]) for episode in (True, False)] for times in (writes, searches)]


def main():
    """Print the times, their differences and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--experiences", type=int, default=300)
    chosen = parser.parse_args()
    bare = StateGraph(ReasoningBankState)
    bare.add_node("solve", solver)
    bare.add_edge(START, "solve")
    store = InMemoryStore(index={"dims": 64, "embed": HashEmbeddings(), "fields": ["$"]})
    loop = create_reasoning_bank(solver, model=learner(titles=("add", "draw", "check"))).compile(store=store)
    tasks = chosen.tasks
    alone, whole = milliseconds(bare.compile(), range(tasks)), milliseconds(loop, range(tasks))
    print(f"bare solver {alone:.2f} ms, loop {whole:.2f} ms a task (median of {tasks}; the bank grows to {tasks * 3})")
    print(f"the loop adds {whole - alone:.2f} ms a task, {whole / alone:.1f} times the bare graph")
    with tempfile.TemporaryDirectory() as folder:
        pairs = with_and_without(Path(folder), chosen.experiences)
    for name, (more, less) in zip(("write", "search"), pairs, strict=True):
        print(f"a {name} with episodes {more:.2f} ms, without {less:.2f} ms: {more / less:.2f} times")


if __name__ == "__main__":
    main()
