"""Kills writers with SIGKILL at random moments and counts what is lost: nothing may be.

    python -m tests.benchmarks.durability [--kills 200] [--seed 1]

Each kill is of a process that works on a bank in a folder and acknowledges every operation through a pipe once it has
returned. Another process then opens the folder. What was acknowledged has to be there, what was deleted has to be gone,
the operation under way has to be there whole or not at all (legal either way), `get`, a query in memory and a query of
Chroma's index have to find the same items, and `verify()` has to be content, if need be after `rebuild_index()` alone.
Every bank is killed five times in a row; every fourth kill strikes while the bank is being opened, and one scenario
strikes while Chroma saves its index, which no moment taken at random hits often. Exit status 1 on any loss.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .durability_child import Finding, check, fork, reopen, write
from .durability_work import Step, attempt, batch, batch_of, delete, imported, mixed, rebuild, single, vacuum

BELOW, ABOVE = 200, 1_200
"""Items a bank starts with; a scenario adds up to 600, so the first stays below 1,000."""
KILLS_A_BANK = 5
OPENING = 0.25
"""Seconds within which a kill strikes a bank that is being opened."""
SAVING = 0.02
"""The same for a bank whose index is being saved."""
PATIENCE = 60
STEPS = 1_000_000


class Scenario(NamedTuple):
    """Work to be killed at: what, and in a bank of how many items."""

    name: str
    steps: Callable[[int], Step]
    start: int
    watch: bool = False
    """Strike when Chroma begins to write the files of its index, which it does after every thousand rows."""
    write: Callable[..., None] = write
    """How a child takes the steps: in one store, or each in a store that is opened and closed for it, which writes
    what is kept for a quick first search."""


SCENARIOS = [
    Scenario("first opening", single, 0),
    Scenario("single writes", single, BELOW),
    Scenario("single writes", single, ABOVE),
    Scenario("batches of 200", batch, BELOW),
    Scenario("batches of 200", batch, ABOVE),
    Scenario("index being saved", batch, ABOVE, watch=True),
    Scenario("deletes", delete, BELOW),
    Scenario("deletes", delete, ABOVE),
    Scenario("puts and deletes", mixed, BELOW),
    Scenario("puts and deletes", mixed, ABOVE),
    Scenario("MemoryBank.add", attempt, BELOW),
    Scenario("MemoryBank.add", attempt, ABOVE),
    Scenario("import_jsonl", imported, BELOW),
    Scenario("import_jsonl", imported, ABOVE),
    Scenario("rebuild_index", rebuild, BELOW),
    Scenario("rebuild_index", rebuild, ABOVE),
    Scenario("vacuum", vacuum, BELOW),
    Scenario("vacuum", vacuum, ABOVE),
    Scenario("opened and closed", single, ABOVE, write=reopen),
    Scenario("opened and closed", batch, ABOVE, write=reopen),
]


@dataclass
class Bank:
    """A bank and what is known to be in it."""

    folder: Path
    known: dict[str, str] = field(default_factory=dict)
    next: int = 0
    slowest: float = 0.4
    """Seconds the longest step took so far: within so many after one of the first acknowledgements a kill strikes."""

    def take(self, step):
        """Count a step as done."""
        for key, text in step.changes.items():
            if text is None:
                self.known.pop(key, None)
            else:
                self.known[key] = text
        self.next += 1


@dataclass
class Row:
    """One line of the table."""

    scenario: Scenario
    kills: int = 0
    acknowledged: int = 0
    findings: list[Finding] = field(default_factory=list)

    def total(self, name):
        """Return the sum of one kind of finding; anything else that is wrong counts once a kill."""
        return sum(bool(value) if name == "wrong" else value for value in (getattr(f, name) for f in self.findings))

    @property
    def clean(self):
        """Whether nothing was lost."""
        return not any(finding.spoils for finding in self.findings)


def main():
    """Kill, check, print the table."""
    options = arguments()
    chance = random.Random(options.seed)
    scratch = Path(tempfile.mkdtemp(prefix="durability-"))
    each = -(-options.kills // len(SCENARIOS))
    rows = []
    for scenario in SCENARIOS:
        rows.append(run(scenario, each, chance, scratch))
        print(line(rows[-1]), file=sys.stderr, flush=True)
    print(table(rows, options.seed))
    if all(row.clean for row in rows):
        shutil.rmtree(scratch)
        return 0
    print(f"the banks are in {scratch}")
    return 1


def run(scenario, kills, chance, scratch):
    """Kill a scenario so many times, with a new bank every fifth time and after a loss."""
    row = Row(scenario)
    bank = None
    for number in range(kills):
        if bank is None or number % KILLS_A_BANK == 0 or not scenario.start:
            bank = new_bank(scenario, scratch)
        acknowledged, finding = kill_once(scenario, bank, chance, opening=number % 4 == 3 or not scenario.start)
        row.kills += 1
        row.acknowledged += acknowledged
        row.findings.append(finding)
        if finding.spoils:
            print(f"{scenario.name}, {scenario.start} items, {bank.folder}: {finding}", file=sys.stderr)
            bank = None
    return row


def new_bank(scenario, scratch):
    """Return a copy of a bank that was filled once, or the place for one that is not there yet."""
    bank = Bank(Path(tempfile.mkdtemp(dir=scratch)) / "bank")
    if scenario.start:
        filled = scratch / f"filled-{scenario.start}"
        steps = filling(scenario.start)
        if not filled.exists():
            fork(write, filled, steps, 0, scenario.start // 100).end()
        shutil.copytree(filled, bank.folder)
        for number in range(scenario.start // 100):
            bank.take(steps(number))
    bank.next = 0
    return bank


def filling(count):
    """Return the steps that fill a bank, a hundred items each."""
    return lambda number: batch_of({f"old {key}": f"old {key}" for key in range(number * 100, number * 100 + 100)})


def kill_once(scenario, bank, chance, *, opening):
    """Let a writer work on a bank for a random time, kill it, check the bank; returns its acknowledgements too."""
    writer = fork(scenario.write, bank.folder, scenario.steps, bank.next, STEPS)
    said = [] if opening else [listen(writer, bank) for _ in range(1 if scenario.watch else chance.randint(1, 3))]
    if scenario.watch and not opening:
        await_saving(bank.folder)
        time.sleep(chance.uniform(0, SAVING))
    else:
        time.sleep(chance.uniform(0, OPENING if opening and scenario.start else bank.slowest))
    os.kill(writer.pid, signal.SIGKILL)
    rest, killed = writer.end()
    numbers = [int(line) for line in [*said, *rest] if line.strip().isdigit()]
    for number in numbers:
        bank.take(scenario.steps(number))
    finding = checked(bank, scenario.steps(bank.next))
    if finding.arrived:
        bank.take(scenario.steps(bank.next))
    return len(numbers), finding if killed else finding._replace(wrong=f"the writer failed; {finding.wrong}")


def await_saving(folder):
    """Wait until a file of Chroma's index changes."""

    def sizes():
        return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.glob("*-*/*")}

    before, until = sizes(), time.monotonic() + PATIENCE
    while sizes() == before and time.monotonic() < until:
        time.sleep(0.0005)


def listen(writer, bank):
    """Wait for what a writer says next: "ready" at first, then the number of a step."""
    started = time.monotonic()
    said = writer.lines.readline()
    if said.strip().isdigit():
        bank.slowest = max(bank.slowest, time.monotonic() - started)
    return said


def checked(bank, step):
    """Check a bank in a process of its own."""
    checker = fork(check, bank.folder, bank.known, step.changes)
    said, _ = checker.end()
    return Finding(*json.loads(said[-1])) if said else Finding(0, 0, 0, 0, 0, "the bank does not open or read")


COLUMNS = ("lost", "back", "torn", "wrong", "arrived", "repaired")


def line(row):
    """Return a row as text."""
    size = f"{row.scenario.start:,}+ items" if row.scenario.start else "new bank"
    figures = "".join(f"{row.total(name):>9}" for name in COLUMNS)
    return f"{row.scenario.name:<18}{size:>13}{row.kills:>7}{row.acknowledged:>14}{figures}"


def table(rows, seed):
    """Return the table with its total and what it does not show."""
    head = f"{'':31}{'kills':>7}{'acknowledged':>14}" + "".join(f"{name:>9}" for name in COLUMNS)
    total = Row(Scenario("all", single, 0))
    for row in rows:
        total.kills += row.kills
        total.acknowledged += row.acknowledged
        total.findings += row.findings
    sums = line(total).replace("new bank", "        ")
    notes = [
        f"seed {seed}; acknowledged: operations that had returned; back: deleted items that are there again; "
        "wrong: counts differ, not mended by rebuild_index(), or does not open;",
        "arrived: not acknowledged and there whole (legal); repaired: verify() asked for rebuild_index().",
        "kill -9 ends a process; it does not test power loss, which also takes what was not yet on the disk.",
    ]
    return "\n".join(["", head, *map(line, rows), sums, "", *notes])


def arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="in all; rounded up to the same number a scenario")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
