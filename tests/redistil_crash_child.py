"""Kills a run of `redistil` at every step, or its undoing, and lets a new process go on with it.

Usage: python -m tests.redistil_crash_child FOLDER

Prints JSON: by the name of each step what is in use when the process has died there and after a second life.
"""

import json
import sys
from pathlib import Path

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.testing import HashEmbeddings

from .bank.test_forgetting import NAMESPACE
from .bank.test_redistil import filled, newer
from .dying import DyingStore, lives, steps


def life(folder, work, end=None):
    """Do what is left of the work, or die on the way; says the steps and what is there before and after it."""
    with DyingStore.from_path(folder, embeddings=HashEmbeddings()) as store:
        bank = filled(store, 3) if work == "fill" else MemoryBank(store, NAMESPACE)
        found = left(store)
        model = newer("one", "two")
        reply = model.script

        def dying_reply(messages):
            steps.come("call")
            return reply(messages)

        model.script = dying_reply
        steps.begin(end)
        if work == "redistil":
            bank.redistil(model)
        elif work == "undo":
            bank.undo_redistil(bank.redistil(model, dry_run=True).run)
        return {"steps": steps.names, "found": found, "left": left(store)}


def left(store):
    items = MemoryBank(store, NAMESPACE).items()
    told = [[item.experience_id, item.title, item.status, item.id] for item in items]
    return {"items": told, "ok": store.verify().ok}


def main(root):
    works = {"redistil": ["fill", "redistil"], "undo": ["fill", "redistil", "undo"]}
    killed = {work: lives(life, root / work, *each)["points"] for work, each in works.items()}
    return {f"{work}: {name}": found for work, points in killed.items() for name, found in points.items()}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
