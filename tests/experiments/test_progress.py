"""The table of progress counts each row once, also one that failed and was run again."""

import io

from rich.console import Console

from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.progress import Progress

from .fake_rows import row


def progress(there=()):
    config = ExperimentConfig(protocol="stream", test="problems.jsonl", price_in=1.0, price_out=2.0)
    return Progress(Console(file=io.StringIO()), config, {"baseline": 4}, there)


def shown(table):
    console = Console(file=io.StringIO(), width=120, record=True)
    console.print(table)
    return console.export_text()


def test_a_row_that_failed_is_counted_once_when_it_is_there():
    table = progress([row("baseline", "p1", right=True), row("baseline", "p2", error="gone", right=False)])
    assert (table.arms["baseline"].done, table.arms["baseline"].failed) == (1, 1)
    assert "3 of 4 to go" in shown(table.table())
    table.note(row("baseline", "p2", right=False))
    assert (table.arms["baseline"].done, table.arms["baseline"].failed, table.arms["baseline"].right) == (2, 0, 1)
    assert "0.500" in shown(table.table())
    for name in ("p3", "p4"):
        table.note(row("baseline", name, right=True))
    assert "done" in shown(table.table())
