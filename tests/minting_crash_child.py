"""Kills the write of an attempt whose lessons a policy links, caps and evicts for, and merges; a new process goes on.

Usage: python -m tests.minting_crash_child FOLDER

Prints JSON: `calm`, what an undisturbed run leaves; and by the name of each step what is there when the process has
died there, after a second life, and after a third one that replays the attempt.

The steps of merging and of undoing it are named `merge: ...` and `undo: ...`.
"""

import json
import sys
from pathlib import Path

from langgraph.checkpoint.sqlite import SqliteSaver

from reasoningbank_langgraph import MemoryBank, Policy, create_reasoning_bank
from reasoningbank_langgraph.namespaces import LEFT_OUT, beside
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel

from .bank.test_bank import lesson
from .dying import DyingStore, fork, lives, steps
from .loop_fakes import verdict

NAMESPACE = ("m",)
POLICY = Policy(similarity=0.8, capacity=5, per_run=2)
TASKS = [f"{name} task" for name in ("first", "second", "third", "last")]
SAME = {"title": "check the units", "description": "when units differ", "content": "convert first"}


WORDS = {"second task": ("pears", "plums"), "third task": ("wheels", "gears"), "last task": ("stars", "moons")}


def distilled(task):
    """Of the first task one lesson, of the last one a near copy of that and two others, of which one is too much."""
    new = [{"title": word * 3, "description": word * 2, "content": word} for word in WORDS.get(task, ())]
    return {"first task": [SAME], "last task": [{**SAME, "content": "convert at first"}, *new]}.get(task, new)


def reply(messages):
    if "You check whether" in messages[0].text:
        return verdict()
    return json.dumps({"items": distilled(next(task for task in TASKS if task in messages[1].text))})


def life(folder, end=None, replays=False):
    """Solve the tasks that are not solved yet, or die on the way; says what is there after it."""
    with (
        DyingStore.from_path(folder / "bank", embeddings=HashEmbeddings()) as store,
        SqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as saver,
    ):
        graph = create_reasoning_bank(
            lambda state: {"answer": "5"}, model=ScriptedChatModel(reply), namespace="m", policy=POLICY, min_score=1
        ).compile(checkpointer=saver, store=store)
        for task in TASKS:
            steps.begin(end if task == TASKS[-1] else None)
            go_on(graph, {"configurable": {"thread_id": task}}, task)
        if replays:
            replay(graph, {"configurable": {"thread_id": TASKS[-1]}})
        bank = MemoryBank(store, NAMESPACE)
        titles = {item.id: item.title for item in bank.items()}
        return {
            "steps": steps.names,
            "items": [[item.title, item.content, item.status, titles.get(item.near, "")] for item in bank.items()],
            "left out": [row.value["left_out"] for row in store.search(beside(NAMESPACE, LEFT_OUT))],
            "ok": store.verify().ok,
        }


def go_on(graph, config, task):
    state = graph.get_state(config)
    if state.next or not state.values:
        graph.invoke(None if state.next else {"task": task}, config, durability="sync")


def replay(graph, config):
    """Do the last task's consolidation again, as from its checkpoint."""
    before = next(state for state in graph.get_state_history(config) if state.next == ("consolidate",))
    graph.invoke(None, before.config)


def merge_life(folder, work, end=None):
    """Merge two lessons, or undo that, or die on the way; says what is there before and after it."""
    with DyingStore.from_path(folder / "bank", embeddings=HashEmbeddings()) as store:
        bank = MemoryBank(store, NAMESPACE)
        found = left(store)
        steps.begin(end)
        if work == "fill":
            for name in ("a", "b"):
                bank.add([lesson(name, f"task {name}")])
        else:
            merged = bank.merge(["a", "b"])
        if work == "undo":
            bank.undo_merge(merged.id)
        return {"steps": steps.names, "found": found, "left": left(store)}


def left(store):
    items = [[item.title, item.status] for item in MemoryBank(store, NAMESPACE).items()]
    return {"items": items, "ok": store.verify().ok}


def merges(folder):
    """Kill a merge and its undoing before and after each write, and let a second life do the same work."""
    killed = {work: lives(merge_life, folder / work, "fill", work)["points"] for work in ("merge", "undo")}
    return {f"{work}: {name}": found for work, points in killed.items() for name, found in points.items()}


def new(folder, name):
    (place := folder / name).mkdir()
    return place


def main(folder):
    undisturbed = fork(life, new(folder, "calm")).said()
    found = {"calm": undisturbed}
    for number, name in enumerate(undisturbed["steps"]):
        place = new(folder, str(number))
        killed = fork(life, place, name).said() is None
        after = fork(life, place).said()
        found[name] = {"killed": killed, "second": after, "third": fork(life, place, None, True).said()}
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1])) | merges(Path(sys.argv[1]))))
