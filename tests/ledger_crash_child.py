"""Kills changes of a bank before and after every write, and lets a new process carry them out again.

Usage: python -m tests.ledger_crash_child FOLDER

Prints JSON, for each change: `calm`, what an undisturbed life found and left; and `points`, by the name of each step
what is there when the process has died and after a second life.
"""

import json
import sys
from pathlib import Path

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.testing import HashEmbeddings

from .bank.test_forgetting import NAMESPACE, family, lesson
from .dying import DyingStore, lives, steps

CHANGES = {
    "add": lambda bank, _: bank.add([lesson("new"), lesson("newer", experience="new")]),
    "quarantine": lambda bank, _: bank.set_status(["gran", "child1"], "quarantined"),
    "forget": lambda bank, _: bank.forget("gran"),
    "forget all": lambda bank, _: bank.forget_all(),
    "prune": lambda bank, _: bank.prune(capacity=2, dry_run=False),
    "undo": lambda bank, _: bank.undo_prune(),
    "import": lambda bank, file: MemoryBank(bank.store, ("other",)).import_jsonl(file),
}


def life(folder, change, end=None):
    """Make a change, or die on the way; says the steps and what is there before and after it."""
    with DyingStore.from_path(folder / "bank", embeddings=HashEmbeddings()) as store:
        bank, file = MemoryBank(store, NAMESPACE), folder / "lessons.jsonl"
        if change == "fill":
            family(store).export_jsonl(file)
        found = left(store)
        steps.begin(end)
        if change in CHANGES:
            CHANGES[change](bank, file)
        return {"steps": steps.names, "found": found, "left": left(store)}


def left(store):
    banks = [MemoryBank(store, namespace) for namespace in (NAMESPACE, ("other",))]
    return {
        "items": [[item.id, item.status] for bank in banks for item in bank.items()],
        "log": [[change.kind, *change.ids] for bank in banks for change in bank.log()],
        "ok": store.verify().ok and all(bank.verify_log().ok for bank in banks),
    }


def main(root):
    earlier = {"undo": ["fill", "prune"]}
    return {change: lives(life, root / change, *earlier.get(change, ["fill"]), change) for change in CHANGES}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
