"""Harvests that are killed at each file they write or finish, and harvests after them.

python -m tests.harvest_crash_child FOLDER
"""

import json
import os
import sys
from pathlib import Path

from tests.dying import lives, steps
from tests.train.attempts import TASKS, attempt, bank_of

_fsync, _replace = os.fsync, Path.replace


def fsync(handle):
    steps.come("before the disk has a file")
    _fsync(handle)


def replace(path, target):
    steps.come("before the card has its name")
    _replace(path, target)
    steps.come("after the card has its name")


def life(root, validation, end=None):
    """Harvest unless it is done; say what is there."""
    os.fsync, Path.replace = fsync, replace
    out = Path(root) / "out"
    group = [
        attempt(f"{number} {right}", task, f"{number} + 5 = {number + 5 + right}, so it is \\boxed{{}}.", right)
        for number, task in enumerate(TASKS[:4])
        for right in (True, False)
    ]
    bank = bank_of(*(one.model_copy(update={"experience_id": one.task}) for one in group))
    found = sorted(path.name for path in out.iterdir()) if out.exists() else []
    steps.begin(end)
    if "card.json" not in found:
        bank.harvest(out, validation=validation)
    left = {path.name: path.read_text() for path in sorted(out.iterdir()) if path.suffix == ".jsonl"}
    return {"steps": steps.names, "found": found, "left": left, "names": sorted(path.name for path in out.iterdir())}


if __name__ == "__main__":
    print(json.dumps(lives(life, Path(sys.argv[1]) / "lives", 0.3)))
