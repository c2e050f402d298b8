"""Four workers on one bank and one database of checkpoints; two of them are killed in the middle of their work.

    python examples/fleet/run.py                                  a scripted model: no key, no network
    python examples/fleet/run.py --model openai:gpt-4.1-mini --postgres postgresql://user@host/database

Ends with a report, and with exit code 1 if an attempt was not learned exactly once.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from langgraph.checkpoint.postgres import PostgresSaver
from report import Report, make_report
from scripted import scripted_model
from servers import ServerError, chroma_server, private_postgres
from work import Place, bank_of, create_app, open_bank, open_connection

from reasoningbank_langgraph.math_solver.problems import read_problems

HERE = Path(__file__).parent
PROBLEMS = HERE.parent / "math_solver" / "problems.jsonl"
WORKERS = 4
DEATHS = ["judged", "extracted"]
"""What a worker has just done, in its second task or later, when it is killed: one worker each."""

Line = dict[str, Any]


class Fleet:
    """The worker processes, who say what they do through one pipe."""

    def __init__(self, arguments: list[str]) -> None:
        reader, writer = os.pipe()
        self.pipe = os.fdopen(reader, encoding="utf-8")
        self.workers = {name: _start(name, arguments, writer) for name in map("worker-{}".format, range(WORKERS))}
        os.close(writer)  # now the pipe ends with the last worker
        self.killed: list[str] = []

    def lines(self) -> Iterator[Line]:
        """Yield what the workers say, until all have ended."""
        with self.pipe:
            for line in self.pipe:
                yield json.loads(line)
        for name, worker in self.workers.items():
            if worker.wait() and name not in self.killed:
                raise ServerError(f"{name} ended with exit code {worker.returncode}")

    def kill(self, name: str) -> None:
        """End a worker at once: it has no time to tidy up."""
        self.workers[name].send_signal(signal.SIGKILL)
        self.killed.append(name)

    def close(self) -> None:
        """End all that still run."""
        for worker in self.workers.values():
            worker.kill()
            worker.wait()


def _start(name: str, arguments: list[str], writer: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(HERE / "worker.py"), "--name", name, *arguments]
    return subprocess.Popen(command, stdout=writer)  # noqa: S603 - this interpreter, our own file


def watch(fleet: Fleet) -> int:
    """Show what happens, kill as planned, and return how many tasks were taken over from killed workers."""
    starts: dict[str, int] = dict.fromkeys(fleet.workers, 0)
    deaths, resumed = list(DEATHS), 0
    for line in fleet.lines():
        worker, event = line["worker"], line["event"]
        starts[worker] += event in ("begun", "resumed")
        resumed += event == "resumed"
        if event in ("resumed", "finished", "failed"):
            print(f"{worker}  {event:9} {line['task']}", line.get("error", ""), flush=True)
        if event in deaths and starts[worker] > 1 and worker not in fleet.killed:
            deaths.remove(event)
            fleet.kill(worker)
            print(f"{worker}  KILLED    {line['task']}, just {event}", flush=True)
    return resumed


def run(options: argparse.Namespace) -> Report:
    """Start the servers and the fleet, watch it, and compare what it learned with its checkpoints."""
    problems = read_problems(options.problems, options.limit)
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="fleet-")))
        url = options.postgres or opened.enter_context(private_postgres())
        port = opened.enter_context(chroma_server(folder))
        place = Place(url, port, time.strftime("fleet-%Y%m%d-%H%M%S"), options.fake_embeddings)
        connection = opened.enter_context(open_connection(url))
        PostgresSaver(connection).setup()
        store = opened.enter_context(open_bank(place))
        fleet = Fleet(_arguments(options, place))
        opened.callback(fleet.close)
        resumed = watch(fleet)
        app = create_app(scripted_model(problems, "report"), store, connection)
        return make_report(app, bank_of(store), place, problems, killed=len(fleet.killed), resumed=resumed)


def _arguments(options: argparse.Namespace, place: Place) -> list[str]:
    arguments = {
        "--postgres": place.postgres,
        "--chroma": place.chroma,
        "--run": place.run,
        "--problems": options.problems,
        "--limit": options.limit,
        "--model": options.model,
    }
    words = [str(word) for name, value in arguments.items() if value is not None for word in (name, value)]
    return [*words, "--fake-embeddings"] if options.fake_embeddings else words


def main() -> None:
    """Read the arguments, run, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=Path, default=PROBLEMS, help="JSONL with `id`, `problem` and `answer`")
    parser.add_argument("--limit", type=int, default=40, help="tasks to work through (default 40)")
    parser.add_argument("--postgres", help="URL of the database; default: one of its own, if Postgres is installed")
    parser.add_argument("--model", help="as for `reasoningbank solve --model`; default: a scripted one")
    parser.add_argument("--fake-embeddings", action="store_true", help="hashed words in place of a model, for tests")
    try:
        report = run(parser.parse_args())
    except ServerError as error:
        sys.exit(str(error))
    print("\n".join(["", *report.lines()]))
    sys.exit(not report.sound)


if __name__ == "__main__":
    main()
