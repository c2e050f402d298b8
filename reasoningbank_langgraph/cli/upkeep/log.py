"""`reasoningbank bank log`: every change of a bank, and whether the record of them is complete."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.bank import DEFAULT_FOLDER, BankFolder, bank_app, chosen_banks, open_bank
from reasoningbank_langgraph.cli.identifiers import format_id, format_namespace
from reasoningbank_langgraph.cli.terminal import console, error_console

if TYPE_CHECKING:
    from reasoningbank_langgraph.policies import Change
    from reasoningbank_langgraph.policies.ledger import State

_IDS = 8


@bank_app.command()
def log(
    namespace: Annotated[str | None, typer.Option(help="Show only this namespace, written as in the output.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one change a line as JSON, whole.")] = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Print every change of a bank, oldest first; the exit code is 1 if a row of the record is missing or altered."""
    with open_bank(bank) as store:
        banks = [MemoryBank(store, labels) for labels in chosen_banks(store, namespace, emptied=True)]
        complete = [_print(memory, as_json=as_json) for memory in banks]
    raise typer.Exit(0 if all(complete) else 1)


def _print(memory: MemoryBank, *, as_json: bool) -> bool:
    """Print the changes of one bank and say whether its ledger is complete."""
    name, report = format_namespace(memory.namespace), memory.verify_log()
    out = error_console if as_json else console
    out.print(Text(f"{name}: {report}", "bold" if report.ok else "red"))
    for change in memory.log():
        if as_json:
            console.print(json.dumps({"namespace": list(memory.namespace), **change.to_json()}))
        else:
            print_change(change)
    if report.heads:
        out.print(Text(f"  head: {' '.join(report.heads)}", "dim"))
    return report.ok


def print_change(change: Change) -> None:
    """Print one row of the ledger."""
    names = ", ".join(map(format_id, change.ids[:_IDS]))
    more = f" and {len(change.ids) - _IDS} more" if len(change.ids) > _IDS else ""
    because = f": {change.reason}" if change.reason else ""
    console.print(f"  {change.time:%Y-%m-%d %H:%M:%S} {change.kind} by {change.actor}{because}")
    states = f"{_described(change.before, 'new')} -> {_described(change.after, 'gone')}"
    console.print(Text(f"      {states}: {names}{more}", "dim"))


def _described(state: State | None, absent: str) -> str:
    return absent if state is None else ", ".join(f"{name} {value}" for name, value in state.items())
