"""`reasoningbank bank log`, `why` and `graph`: each change of a bank, and where a lesson comes from and what it did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.bank import (
    DEFAULT_FOLDER,
    AsJson,
    BankFolder,
    OnlyNamespace,
    bank_app,
    chosen_banks,
    only_bank,
    open_bank,
    print_json,
)
from reasoningbank_langgraph.cli.identifiers import format_id, format_namespace, parse_id
from reasoningbank_langgraph.cli.solve_report import plural, shorten
from reasoningbank_langgraph.cli.terminal import console, error_console
from reasoningbank_langgraph.files import check_file

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import Why
    from reasoningbank_langgraph.bank.lineage.graph import Node
    from reasoningbank_langgraph.policies import Change
    from reasoningbank_langgraph.policies.ledger import State
    from reasoningbank_langgraph.records import MemoryItem

_IDS = 8
_Namespace = Annotated[
    str | None, typer.Option(help="Namespace of the bank, as `bank show` prints it; not needed if there is one.")
]


@bank_app.command()
def log(
    namespace: OnlyNamespace = None,
    as_json: AsJson = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Print every change of a bank, oldest first; the exit code is 1 if a row of the record is missing or altered."""
    with open_bank(bank) as store:
        banks = [MemoryBank(store, labels) for labels in chosen_banks(store, namespace, emptied=True)]
        complete = [_print_log(memory, as_json=as_json) for memory in banks]
    raise typer.Exit(0 if all(complete) else 1)


def _print_log(memory: MemoryBank, *, as_json: bool) -> bool:
    """Print the changes of one bank and say whether its ledger is complete."""
    name, report = format_namespace(memory.namespace), memory.verify_log()
    out = error_console if as_json else console
    out.print(Text(f"{name}: {report}", "bold" if report.ok else "red"))
    for change in memory.log():
        if as_json:
            print_json(memory.namespace, change.to_json())
        else:
            _print_change(change)
    if report.heads:
        out.print(Text(f"  head: {' '.join(report.heads)}", "dim"))
    return report.ok


def _print_change(change: Change) -> None:
    names = ", ".join(map(format_id, change.ids[:_IDS]))
    more = f" and {len(change.ids) - _IDS} more" if len(change.ids) > _IDS else ""
    because = f": {change.reason}" if change.reason else ""
    console.print(f"  {change.time:%Y-%m-%d %H:%M:%S} {change.kind} by {change.actor}{because}")
    states = f"{_state(change.before, 'new')} -> {_state(change.after, 'gone')}"
    console.print(Text(f"      {states}: {names}{more}", "dim"))


def _state(state: State | None, absent: str) -> str:
    return absent if state is None else ", ".join(f"{name} {value}" for name, value in state.items())


@bank_app.command()
def why(
    item: Annotated[str, typer.Argument(metavar="ID", help="Id of a lesson or an episode, also of one forgotten.")],
    namespace: _Namespace = None,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Say where a lesson comes from, what it did since, and what came of it."""
    with open_bank(bank) as store:
        labels = only_bank(store, namespace)
        memory, name = MemoryBank(store, labels), parse_id(item)
        found, nodes = memory.why(name), {node.id: node for node in memory.graph().nodes}
        if name not in nodes and not found.changes:
            place = format_namespace(labels)
            raise typer.BadParameter(f"nothing in {place!r} is or was called {name!r}", param_hint="ID")
        console.print(Text(_described(nodes[name]) if name in nodes else f"{format_id(name)}: gone", "bold"))
        _print_why(found, nodes)


@bank_app.command()
def graph(
    file: Annotated[Path, typer.Argument(help="File to write; it ends in .graphml, or in .mmd for Mermaid.")],
    namespace: _Namespace = None,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Write the lessons and episodes of a bank, and what led from one to the other, as GraphML or Mermaid."""
    if file.suffix not in (".graphml", ".mmd"):
        raise typer.BadParameter("the name ends in .graphml or .mmd", param_hint="FILE")
    with open_bank(bank) as store:
        found = MemoryBank(store, only_bank(store, namespace)).graph()
        check_file(file)
        file.write_text(found.graphml() if file.suffix == ".graphml" else found.mermaid(), encoding="utf-8")
        console.print(f"{plural(len(found.nodes), 'node')} and {plural(len(found.edges), 'edge')} written to {file}")


def _print_why(found: Why, nodes: dict[str, Node]) -> None:
    if found.item:
        _print_origin(found.item)
    for said, ids in (
        ("learned from", found.learned_from),
        ("its attempt was shown", found.was_shown),
        ("took the place of", found.supersedes),
        ("its place was taken by", found.superseded_by),
        ("contradicts", found.contradicts),
        ("was shown to", found.shown_to),
        ("taught", found.taught),
    ):
        for name in ids:
            console.print(Text(f"  {said} {_described(nodes[name])}"))
    for change in found.changes:
        _print_change(change)


def _print_origin(item: MemoryItem) -> None:
    source, worth = item.provenance, item.utility
    told = {"thread": source.thread_id, "run": source.run_id, "judge": source.judge, "model": source.model}
    console.print(Text("  " + ", ".join(f"{name} {format_id(value)}" for name, value in told.items() if value), "dim"))
    if worth.used:
        console.print(f"  pairs: fixed {worth.helped}, broke {worth.hurt}, ties {worth.ties}")


def _described(node: Node) -> str:
    said = ", ".join(filter(None, (node.kind, node.status, node.outcome)))
    return f"{format_id(node.id)} [{said}] {shorten(node.label, 80)}".rstrip()
