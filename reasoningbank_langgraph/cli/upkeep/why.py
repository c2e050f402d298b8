"""`reasoningbank bank why` and `graph`: where a lesson comes from, what it did since, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reasoningbank_langgraph.cli.bank import DEFAULT_FOLDER, BankFolder, bank_app, only_bank, open_bank
from reasoningbank_langgraph.cli.identifiers import format_id, format_namespace, parse_id
from reasoningbank_langgraph.cli.solve_report import plural, shorten
from reasoningbank_langgraph.cli.terminal import console
from reasoningbank_langgraph.cli.upkeep.log import print_change

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import Why
    from reasoningbank_langgraph.bank.lineage.graph import MemoryGraph, Node
    from reasoningbank_langgraph.records import MemoryItem

_Namespace = Annotated[
    str | None, typer.Option(help="Namespace of the bank, as `bank show` prints it; not needed if there is one.")
]


@bank_app.command()
def why(
    item: Annotated[str, typer.Argument(metavar="ID", help="Id of a lesson or an episode, also of one forgotten.")],
    namespace: _Namespace = None,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Say where a lesson comes from, what it did since, and what came of it."""
    from reasoningbank_langgraph.bank import MemoryBank

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
    from reasoningbank_langgraph.bank import MemoryBank
    from reasoningbank_langgraph.files import check_file

    if file.suffix not in (".graphml", ".mmd"):
        raise typer.BadParameter("the name ends in .graphml or .mmd", param_hint="FILE")
    with open_bank(bank) as store:
        labels = only_bank(store, namespace)
        found: MemoryGraph = MemoryBank(store, labels).graph()
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
        ("was shown to", found.shown_to),
        ("taught", found.taught),
    ):
        for name in ids:
            console.print(Text(f"  {said} {_described(nodes[name])}"))
    for change in found.changes:
        print_change(change)


def _print_origin(item: MemoryItem) -> None:
    source, worth = item.provenance, item.utility
    told = {"thread": source.thread_id, "run": source.run_id, "judge": source.judge, "model": source.model}
    console.print(Text("  " + ", ".join(f"{name} {format_id(value)}" for name, value in told.items() if value), "dim"))
    if worth.used:
        console.print(f"  pairs: fixed {worth.helped}, broke {worth.hurt}, ties {worth.ties}")


def _described(node: Node) -> str:
    said = ", ".join(filter(None, (node.kind, node.status, node.outcome)))
    return f"{format_id(node.id)} [{said}] {shorten(node.label, 80)}".rstrip()
