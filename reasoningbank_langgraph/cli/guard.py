"""`reasoningbank bank guard`: whether memory is on, and by which figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.bank import DEFAULT_FOLDER, BankFolder, bank_app, chosen_banks, open_bank
from reasoningbank_langgraph.cli.identifiers import format_id, format_namespace
from reasoningbank_langgraph.cli.solve_report import plural
from reasoningbank_langgraph.cli.terminal import console

if TYPE_CHECKING:
    from reasoningbank_langgraph.policies import GuardStatus, Pairs


@bank_app.command()
def guard(
    namespace: Annotated[str | None, typer.Option(help="Show only this namespace, written as in the output.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one guard a line as JSON.")] = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Say for each bank and model whether memory is on, and what came of tasks with it and without it."""
    with open_bank(bank) as store:
        for labels in chosen_banks(store, namespace):
            known = MemoryBank(store, labels).guards()
            if as_json:
                for status in known:
                    console.print(json.dumps({"namespace": list(labels), **status.to_json()}))
                continue
            if not known:
                console.print(Text(f"{format_namespace(labels)}: no guard has watched this bank"))
            for status in known:
                _print_status(format_namespace(labels), status)


def _print_status(bank: str, status: GuardStatus) -> None:
    whose = f", model {format_id(status.model)}" if status.model else ""
    console.print(Text(f"{bank}{whose}: {status.state}", "bold"))
    console.print(f"  with memory {status.shown_right} of {status.shown} tasks solved,", end=" ")
    console.print(f"without {status.held_out_right} of {status.held_out}")
    if status.decided_by:
        console.print(f"  decided by {_described(status.decided_by)}")
    chance = f"chance of harm {status.pairs.harm_chance:.0%}"
    console.print(f"  the test that runs has {_described(status.pairs)}; {chance}")


def _described(pairs: Pairs) -> str:
    evidence = f"evidence of harm {pairs.hurts:.3g}, of gain {pairs.helps:.3g}"
    return f"{plural(pairs.count, 'pair')}: memory fixed {pairs.fixed}, broke {pairs.broken}; {evidence}"
