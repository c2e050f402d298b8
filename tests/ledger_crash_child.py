"""Kills changes of a bank before and after every write, and lets a new process carry them out again.

Usage: python -m tests.ledger_crash_child FOLDER

Prints JSON: for each change and step, what is there when the process has died and after a second life; and under
`before` and `calm`, what undisturbed lives leave.
"""

import json
import sys
from pathlib import Path

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.testing import HashEmbeddings

from .bank.test_forgetting import NAMESPACE, family, lesson
from .crash_child import fork
from .redistil_crash_child import DyingStore, steps

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
    """Make a change, or die on the way; says the steps and what is there after it."""
    with DyingStore.from_path(folder / "bank", embeddings=HashEmbeddings()) as store:
        bank, file = MemoryBank(store, NAMESPACE), folder / "lessons.jsonl"
        if change == "fill":
            family(store).export_jsonl(file)
        steps.begin(end)
        if change in CHANGES:
            CHANGES[change](bank, file)
        banks = [bank, MemoryBank(store, ("other",))]
        return {
            "steps": steps.names,
            "items": [[item.id, item.status] for one in banks for item in one.items()],
            "log": [[change.kind, *change.ids] for one in banks for change in one.log()],
            "ok": store.verify().ok and all(one.verify_log().ok for one in banks),
        }


def lives(root, change):
    """Kill a life at each of its steps and let a second one carry out the change again."""
    earlier = ["fill", "prune"] if change == "undo" else ["fill"]
    calm = last_life_of(root / change, *earlier, change)
    found = {"before": last_life_of(root / f"{change} before", *earlier), "calm": calm}
    for number, name in enumerate(calm["steps"]):
        place = root / f"{change} {number}"
        last_life_of(place, *earlier)
        assert fork(life, place, change, name).said() is None
        found[name] = {"first": fork(life, place, "look").said(), "second": fork(life, place, change).said()}
    return found


def last_life_of(place, *changes):
    place.mkdir()
    return [fork(life, place, change).said() for change in changes][-1]


if __name__ == "__main__":
    print(json.dumps({change: lives(Path(sys.argv[1]), change) for change in CHANGES}))
