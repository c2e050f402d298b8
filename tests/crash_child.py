"""Kills a run at every step that leaves something on disk, and lets a new process go on with it.

Usage: python -m tests.crash_child KIND FOLDER [URL]     KIND is `sqlite` or `postgres`, URL that of a server

Prints JSON: `calm`, what undisturbed runs leave, by the variant of lessons that the second task gives; and `points`,
by the name of each step what is there before and after the second life.
"""

import json
import os
import signal
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.config import get_config
from langgraph.store.base import PutOp

from reasoningbank_langgraph import ChromaStore, MemoryBank, create_reasoning_bank
from reasoningbank_langgraph.testing import HashEmbeddings

from .dying import fork
from .flows import NODES, TASKS, differing_model, solve, told

STEPS = ["input", "start", *NODES]
RUNS = [("a", TASKS[0]), ("b", TASKS[1]), ("b", TASKS[2])]
DISTURBED = TASKS[1]
LANES = 3
"""Points tried at the same time: most of a life is waiting for the disk."""


class Death:
    """Names the steps of the disturbed task as they come; at one of them the process ends."""

    def __init__(self, point=None):
        self.point, self.armed, self.points, self._seen = point, False, [], Counter()

    def may_come(self, name):
        if not self.armed:
            return
        self._seen[name] += 1
        name = f"{name} ({self._seen[name]})" if self._seen[name] > 1 else name
        self.points.append(name)
        if name == self.point:
            os.kill(os.getpid(), signal.SIGKILL)


death = Death()


class DyingStore(ChromaStore):
    def batch(self, ops):
        ops = list(ops)
        writes = any(isinstance(op, PutOp) for op in ops)
        node = get_config()["metadata"]["langgraph_node"] if death.armed else ""
        death.may_come(f"{node} before it {'writes' if writes else 'reads'}")
        results = super().batch(ops)
        if writes:
            death.may_come(f"{node} after it wrote")
        return results


def dying(saver_class):
    class DyingSaver(saver_class):
        def put(self, config, checkpoint, metadata, new_versions):
            if death.armed:
                death.may_come(f"checkpoint after {STEPS[metadata['step'] - death.first_step]}")
            return super().put(config, checkpoint, metadata, new_versions)

        def put_writes(self, config, writes, task_id, task_path=""):
            death.may_come(f"result of {task_path.split(', ')[-1]}")
            return super().put_writes(config, writes, task_id, task_path)

    return DyingSaver


@contextmanager
def open_saver(kind, folder, url):
    if kind == "sqlite":
        with dying(SqliteSaver).from_conn_string(str(folder / "threads.sqlite")) as saver:
            yield saver
    else:
        from langgraph.checkpoint.postgres import PostgresSaver

        with dying(PostgresSaver).from_conn_string(url) as saver:
            saver.setup()
            yield saver


def dying_solver(state):
    death.may_come("solve")
    return solve(state)


def dying_model(variant):
    model = differing_model({DISTURBED: variant})
    reply = model.script

    def dying_reply(messages):
        death.may_come("judge" if "You check whether" in messages[0].text else "extract")
        return reply(messages)

    model.script = dying_reply
    return model


def life(kind, folder, url, variant, point=None):
    """Do what is left of the runs, or die on the way; returns what was there before and after."""
    death.point = point
    with (
        DyingStore.from_path(folder / "bank", embeddings=HashEmbeddings()) as store,
        open_saver(kind, folder, url) as saver,
    ):
        graph = create_reasoning_bank(dying_solver, model=dying_model(variant), k=2, max_items=9).compile(
            checkpointer=saver, store=store
        )
        bank = MemoryBank(store, "reasoningbank")
        before, lessons = [item.id for item in bank.items()], checkpointed_lessons(saver)
        for thread, task in RUNS:
            go_on(graph, {"configurable": {"thread_id": thread}}, task)
        items, episodes, used = bank.items(), bank.episodes(), bank.stats().usage
        written = [
            name
            for thread in "ab"
            for name in graph.get_state({"configurable": {"thread_id": thread}}).values["written"]
        ]
    ids = [item.id for item in items]
    return {
        "points": death.points,
        "before": before,
        "lessons": lessons,
        "ids": ids,
        "written": written,
        "told": told(items),
        "calls": [used[step]["calls"] for step in ("judge", "extract")],
        "episodes": [episode.id for episode in episodes],
        "experiences": [
            list(dict.fromkeys(record.experience_id for record in records)) for records in (items, episodes)
        ],
    }


def go_on(graph, config, task):
    """Run a task, or the rest of it, or nothing where it is done.

    A run has an end where no task is left. `next` does not tell: it leaves out the tasks whose results are saved but
    not yet in a checkpoint.
    """
    state = graph.get_state(config)
    if task in [past.values.get("task") for past in graph.get_state_history(config) if not past.tasks]:
        return
    death.armed = task == DISTURBED
    death.first_step = state.metadata["step"] + 1 if state.metadata else -1
    graph.invoke(None if state.tasks else {"task": task}, config, durability="sync")
    death.armed = False


def checkpointed_lessons(saver):
    """Ids of the disturbed task's lessons, where its checkpoint has them already."""
    saved = saver.get_tuple({"configurable": {"thread_id": "b"}})
    if saved is None:
        return []
    values = [saved.checkpoint["channel_values"].get("lessons")]
    values += [value for _, channel, value in saved.pending_writes if channel == "lessons"]
    return [lesson["id"] for lesson in next(filter(None, values[::-1]), [])]


def new_place(kind, folder, url, number):
    """A folder and, for Postgres, a database of their own."""
    place = folder / str(number)
    place.mkdir()
    if kind == "sqlite":
        return place, ""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE crash_{number} STRATEGY file_copy")
    return place, url.replace("/postgres?", f"/crash_{number}?")


def two_lives(kind, folder, url, points):
    """Kill a first life at each of these numbered points and see what a second one makes of it."""
    found = {}
    for number, point in points:
        place = new_place(kind, folder, url, number)
        first = fork(life, kind, *place, 0, point).said()
        found[point] = {"killed": first is None, **fork(life, kind, *place, 1).said()}
    return found


def main(kind, folder, url=""):
    calm = [fork(life, kind, *new_place(kind, folder, url, variant), variant).said() for variant in (0, 1)]
    numbered = list(enumerate(calm[0]["points"], 2))
    lanes = [fork(two_lives, kind, folder, url, numbered[lane::LANES]) for lane in range(LANES)]
    points = {}
    for lane in lanes:
        points |= lane.said()
    print(json.dumps({"calm": [one["told"] for one in calm], "points": points}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
