"""`reasoningbank bank episodes`, `guard` and `stats`: what a bank keeps, did and used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.bank import (
    DEFAULT_FOLDER,
    AsJson,
    BankFolder,
    OnlyNamespace,
    bank_app,
    chosen_banks,
    list_records,
    open_bank,
    print_json,
)
from reasoningbank_langgraph.cli.identifiers import as_options, format_id, format_namespace
from reasoningbank_langgraph.cli.solve_report import describe_totals, plural, shorten
from reasoningbank_langgraph.cli.terminal import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reasoningbank_langgraph.bank import BankStats
    from reasoningbank_langgraph.policies import GuardStatus, Pairs
    from reasoningbank_langgraph.records import Episode

_UNITS = {
    "calls": "calls",
    "input_tokens": "tokens in",
    "output_tokens": "tokens out",
    "texts": "texts",
    "characters": "characters",
}


@bank_app.command()
def episodes(
    namespace: OnlyNamespace = None,
    as_json: AsJson = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """List judged attempts, oldest first, with the ids that `bank forget --item` takes."""
    list_records(bank, namespace, as_json, MemoryBank.episodes, _print_episodes)


def _print_episodes(name: str, kept: Sequence[Episode]) -> None:
    console.print(Text(f"{name}: {plural(len(kept), 'episode')}", "bold"))
    for one in kept:
        judged = f"{one.provenance.judge or 'unknown'} ({one.created_at:%Y-%m-%d %H:%M})"
        console.print(Text(f"  [{one.outcome}] {shorten(one.task, 100)}"))
        console.print(Text(f"      did:    {shorten(one.solution, 400)}\n      answer: {shorten(one.answer, 100)}"))
        console.print(Text(f"      judged by: {judged}\n      {as_options(one)}", "dim"))


@bank_app.command()
def guard(
    namespace: OnlyNamespace = None,
    as_json: AsJson = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Say for each bank and model whether memory is on, and what came of tasks with it and without it."""
    list_records(bank, namespace, as_json, MemoryBank.guards, _print_guards)


def _print_guards(name: str, known: Sequence[GuardStatus]) -> None:
    if not known:
        console.print(Text(f"{name}: no guard has watched this bank"))
    for status in known:
        _print_status(name, status)


def _print_status(bank: str, status: GuardStatus) -> None:
    whose = f", model {format_id(status.model)}" if status.model else ""
    console.print(Text(f"{bank}{whose}: {status.state}", "bold"))
    console.print(f"  with memory {status.shown_right} of {status.shown} tasks solved,", end=" ")
    console.print(f"without {status.held_out_right} of {status.held_out}")
    if status.decided_by:
        console.print(f"  decided by {_evidence(status.decided_by)}")
    chance = f"chance of harm {status.pairs.harm_chance:.0%}"
    console.print(f"  the test that runs has {_evidence(status.pairs)}; {chance}")


def _evidence(pairs: Pairs) -> str:
    evidence = f"evidence of harm {pairs.hurts:.3g}, of gain {pairs.helps:.3g}"
    return f"{plural(pairs.count, 'pair')}: memory fixed {pairs.fixed}, broke {pairs.broken}; {evidence}"


@bank_app.command()
def stats(
    namespace: OnlyNamespace = None,
    as_json: AsJson = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Print what a bank holds, and what memory has used for it: calls and tokens of models, and embedded texts."""
    with open_bank(bank) as store:
        for labels in chosen_banks(store, namespace, emptied=True):
            found = MemoryBank(store, labels).stats()
            if as_json:
                print_json(labels, {"totals": found.totals._asdict(), "usage": found.usage})
            else:
                console.print(Text(f"{format_namespace(labels)}: {describe_totals(found.totals)}", "bold"))
                _print_usage(found)


def _print_usage(found: BankStats) -> None:
    for step, counts in sorted(found.usage.items()):
        used = ", ".join(f"{unit} {counts[name]:,}" for name, unit in _UNITS.items() if counts.get(name))
        console.print(f"  {step:<9} {used}")
    console.print(f"  tokens    memory {found.memory_tokens:,}, solver {found.solver_tokens:,}")
