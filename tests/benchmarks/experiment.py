"""What the harness adds to a problem, with a model that answers at once, and how long a page of 5,000 rows takes.

python -m tests.benchmarks.experiment [--problems 200]
"""

import argparse
import io
import resource
import tempfile
import time
from pathlib import Path

from rich.console import Console

from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.report import write_report
from reasoningbank_langgraph.experiments.run import Models, Run
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel

from ..experiments import worlds  # noqa: TID252 - the fakes of the tests


class Forgetful(ScriptedChatModel):
    """A scripted model that keeps no record of its calls, which LangChain would look through at each one."""

    def _next(self, messages):
        return self.script(messages)


ARMS = ("baseline", "memory", "shuffled", "random", "filler")


def memory():
    """Return the most memory this process has used, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    """Print milliseconds a row, seconds a report and the memory before and after."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=200)
    count = parser.parse_args().problems
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        config = ExperimentConfig(
            protocol="phase1",
            train=worlds.problems(place / "train.jsonl", 20),
            test=worlds.problems(place / "test.jsonl", count, start=100),
            train_limit=20,
            limit=count,
            arms=ARMS,
        )
        chat = Forgetful(worlds.reply)
        run = Run(config, place / "out", Models(chat, chat, HashEmbeddings()), Console(file=io.StringIO()))
        run.carry_out()
        for arm in ARMS:
            rows = [row for row in run.results.rows if row.arm == arm]
            print(f"{arm:9} {1000 * sum(row.seconds for row in rows) / len(rows):6.2f} ms a problem inside the call")
        before, started = memory(), time.perf_counter()
        again = run.config.model_copy(update={"arms": ("baseline",)})
        alone = Run(again, place / "alone", Models(chat, chat, HashEmbeddings()), Console(file=io.StringIO()))
        alone.carry_out()
        each = (time.perf_counter() - started) / count * 1000
        print(f"baseline alone, all in all {each:.2f} ms a problem; memory {before:.0f} -> {memory():.0f} MiB")
        started = time.perf_counter()
        write_report(place / "out")
        print(
            f"report of {len(run.results.rows)} rows {time.perf_counter() - started:.1f} s; memory {memory():.0f} MiB"
        )


if __name__ == "__main__":
    main()
