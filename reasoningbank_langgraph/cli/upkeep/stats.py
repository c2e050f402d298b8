"""`reasoningbank bank stats`: what a bank holds, and what memory has used for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.bank import DEFAULT_FOLDER, BankFolder, bank_app, chosen_banks, open_bank
from reasoningbank_langgraph.cli.identifiers import format_namespace
from reasoningbank_langgraph.cli.solve_report import describe_totals
from reasoningbank_langgraph.cli.terminal import console

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reasoningbank_langgraph.bank import BankStats

_UNITS = {
    "calls": "calls",
    "input_tokens": "tokens in",
    "output_tokens": "tokens out",
    "texts": "texts",
    "characters": "characters",
}


@bank_app.command()
def stats(
    namespace: Annotated[str | None, typer.Option(help="Show only this namespace, written as in the output.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one bank a line as JSON.")] = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Print what a bank holds, and what memory has used for it: calls and tokens of models, and embedded texts."""
    with open_bank(bank) as store:
        for labels in chosen_banks(store, namespace, emptied=True):
            found = MemoryBank(store, labels).stats()
            if as_json:
                content = {"namespace": list(labels), "totals": found.totals._asdict(), "usage": found.usage}
                console.print(json.dumps(content))
            else:
                console.print(Text(f"{format_namespace(labels)}: {describe_totals(found.totals)}", "bold"))
                _print_usage(found)


def _print_usage(found: BankStats) -> None:
    for step, counts in sorted(found.usage.items()):
        console.print(f"  {step:<9} {_described(counts)}")
    console.print(f"  tokens    memory {found.memory_tokens:,}, solver {found.solver_tokens:,}")


def _described(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{unit} {counts[name]:,}" for name, unit in _UNITS.items() if counts.get(name))
