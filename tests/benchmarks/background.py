"""How long a user waits for an answer if the run learns, if it learns in the background, and if it does not learn.

python -m tests.benchmarks.background [--tasks 30] [--milliseconds 300]

Solving, judging and distilling are one call each of a model that takes its time; the bank is on disk.
"""

import argparse
import itertools
import statistics
import tempfile
import time
from pathlib import Path

from reasoningbank_langgraph import ChromaStore, MemoryBank, create_reasoning_bank
from reasoningbank_langgraph.learn import drain
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel

from ..loop_fakes import lessons, verdict  # noqa: TID252 - the fakes of the tests

WAYS = {"in the run": True, "in the background": "background", "deferred": "deferred", "not at all": False}


def slow_model(seconds):
    """Return a model that needs this long for a call."""
    ways = itertools.count()

    def reply(messages):
        time.sleep(seconds)
        if "You check whether" in messages[0].text:
            return verdict()
        return lessons("add", "draw", "check", way=next(ways)) if "teach problem solving" in messages[0].text else "5"

    return ScriptedChatModel(reply)


def waits(folder, learn, tasks, seconds):
    """Return the median milliseconds until the answer, and how many lessons are there in the end."""
    model = slow_model(seconds)
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        graph = create_reasoning_bank(
            lambda state: {"messages": [model.invoke(state["task"])]}, model=model, namespace="m", learn=learn
        ).compile(store=store)
        times = []
        for number in range(tasks):
            started = time.perf_counter()
            graph.invoke({"task": f"add {number} apples and {number + 3} pears"})
            times.append((time.perf_counter() - started) * 1000)
            if learn == "background":
                time.sleep(2 * seconds)  # as long as a user reads, say
        drain()
        return statistics.median(times), len(MemoryBank(store, "m").items())


def main():
    """Print the times and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=30)
    parser.add_argument("--milliseconds", type=float, default=300, help="of one call of the model")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = {
            way: waits(Path(folder) / way, learn, chosen.tasks, chosen.milliseconds / 1000)
            for way, learn in WAYS.items()
        }
    base = found["in the run"][0]
    for way, (median, learned) in found.items():
        print(f"learning {way}: {median:.0f} ms until the answer, {median / base:.2f} of the first; {learned} lessons")


if __name__ == "__main__":
    main()
