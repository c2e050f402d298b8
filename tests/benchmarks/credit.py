"""What the usual counter and ours say of planted lessons (simulated, no model), and what credit costs a search.

python -m tests.benchmarks.credit [--experiences 300]
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from reasoningbank_langgraph import ChromaStore, MemoryBank, MemoryItem
from reasoningbank_langgraph.policies import Credit, Evidence, GroupCredit
from reasoningbank_langgraph.records import Provenance
from reasoningbank_langgraph.testing import HashEmbeddings

from ..policies.lesson_world import see_all, selected_by_disagreement  # noqa: TID252 - the world of the tests
from .writes import WriteCount


def cost(folder, experiences):
    """Return median times of a write and a search, and writes, in two banks, one with credit for each lesson."""
    stores = {known: ChromaStore.from_path(folder / str(known), embeddings=HashEmbeddings()) for known in (False, True)}
    writes = {known: WriteCount(store) for known, store in stores.items()}
    times = {(known, step): [] for known in stores for step in ("write", "search")}
    for step in ("write", "search"):
        for number in range(experiences):
            for known, store in stores.items():
                bank, started = MemoryBank(store, "m"), time.perf_counter()
                if step == "search":
                    bank.search(f"add {number} apples and {number} pears")
                else:
                    write(bank, number, known=known)
                times[known, step].append((time.perf_counter() - started) * 1000)
    for store in stores.values():
        store.close()
    counts = {known: counted.total / experiences for known, counted in writes.items()}
    return {case: statistics.median(values) for case, values in times.items()}, counts


def write(bank, number, *, known):
    """Write a lesson and, where credit is kept, what its attempts say of the one before."""
    credit = GroupCredit(
        ids=(f"lesson {number - 1}",),
        credit=Credit(2, 1, 0, 1),
        known_as=f"lesson {number}",
        provenance=Provenance(attempt_digest=str(number)),
    )
    item = MemoryItem(
        id=f"lesson {number}",
        title="add",
        description="when",
        content="do",
        outcome="success",
        task=f"add {number} apples and {number + 3} pears",
    )
    bank.add([item], evidence=Evidence(credit=credit) if known else None)


def main():
    """Print the two values of each lesson, what unfair partners would give a useless one, and the cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiences", type=int, default=300)
    experiences = parser.parse_args().experiences
    print(
        "150 tasks a lesson, 4 attempts at each, 2 of them with the lesson; easy tasks: 90 % solved without, hard: 30 %"
    )
    print("| planted | true effect | (s + 1)/(u + 2) | right with | right without | ties | utility | quarantined |")
    print("|---|---|---|---|---|---|---|---|")
    for planted, credit, confounded in see_all():
        counts = f"{credit.right_with} | {credit.right_without} | {credit.ties}"
        harmful = "yes" if credit.is_harmful else "no"
        values = f"{planted.effect:+.2f} | {confounded:.2f} | {counts} | {credit.utility:+.3f} | {harmful}"
        print(f"| {planted.name} | {values} |")
    utility = selected_by_disagreement(tasks=1000).utility
    print(f"\na useless lesson that is shown only where attempts without it disagree, against those: {utility:+.3f}")

    with tempfile.TemporaryDirectory() as folder:
        times, writes = cost(Path(folder), experiences)
    for step in ("write", "search"):
        without, known = times[False, step], times[True, step]
        print(f"a {step} without credit {without:.2f} ms, with {known:.2f} ms: {known / without:.2f} times")
    print(f"writes of the store an experience: {writes[False]:.2f} without credit, {writes[True]:.2f} with")


if __name__ == "__main__":
    main()
