"""One worker of a fleet: claims a task, works on it or goes on where a killed worker stopped, takes the next.

`run.py` starts it. What it does it says on its output, one JSON object a line.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from psycopg import Connection
from psycopg.rows import DictRow
from scripted import scripted_model
from work import Place, claimed, create_app, open_bank, open_connection

from reasoningbank_langgraph.local.model_choice import resolve_model
from reasoningbank_langgraph.math_solver.problems import Problem, read_problems


def say(worker: str, event: str, problem: Problem, **facts: Any) -> None:
    """Say what happens, with its line end in one write: lines of several workers on one pipe must not mix."""
    sys.stdout.write(json.dumps({"worker": worker, "task": problem.id, "event": event, **facts}) + "\n")
    sys.stdout.flush()


def work(app: Any, connection: Connection[DictRow], place: Place, problems: list[Problem], worker: str) -> None:
    """Go round the tasks until each is done, here or by another worker."""
    remaining = list(problems)
    while remaining:
        busy = []
        for problem in remaining:
            with claimed(connection, f"{place.run}/{problem.id}") as free:
                if not free:
                    busy.append(problem)
                    continue
                go_on(app, place, problem, worker)
        remaining = busy
        time.sleep(0.2 if busy else 0)


def go_on(app: Any, place: Place, problem: Problem, worker: str) -> None:
    """Begin a task, or go on with it from its last checkpoint, or leave it as it is where it is done.

    Whether a run has an end is told by its tasks. `next` leaves out those whose results are saved already, and a
    worker killed between a result and its checkpoint has not come to the end.
    """
    thread = place.thread(problem)
    before = app.get_state(thread)
    if before.values and not before.tasks:
        return
    say(worker, "resumed" if before.tasks else "begun", problem)
    fresh = {"task": problem.text, "task_id": problem.id, "reference": problem.answer}
    try:
        graph_input = None if before.tasks else fresh
        for event in app.stream(graph_input, thread, stream_mode="custom", durability="sync"):
            say(worker, event["event"], problem)
    except Exception as error:  # noqa: BLE001 - one task that fails must not end the worker; the report counts it
        say(worker, "failed", problem, error=f"{type(error).__name__}: {error}"[:500])
    else:
        say(worker, "finished", problem)


def main() -> None:
    """Read the arguments and work."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True)
    parser.add_argument("--postgres", required=True)
    parser.add_argument("--chroma", type=int, required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--problems", type=Path, required=True)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--model")
    parser.add_argument("--fake-embeddings", action="store_true")
    options = parser.parse_args()
    place = Place(options.postgres, options.chroma, options.run, options.fake_embeddings)
    problems = read_problems(options.problems, options.limit)
    with ExitStack() as opened:
        chat: Any = scripted_model(problems, options.name)
        if options.model:
            chat = opened.enter_context(resolve_model(options.model)).chat
        store = opened.enter_context(open_bank(place))
        connection = opened.enter_context(open_connection(place.postgres))
        work(create_app(chat, store, connection), connection, place, problems, options.name)


if __name__ == "__main__":
    main()
