"""`reasoningbank bank episodes`: the judged attempts that are kept beside the lessons."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.bank import DEFAULT_FOLDER, BankFolder, bank_app, chosen_banks, open_bank
from reasoningbank_langgraph.cli.identifiers import as_options, format_namespace
from reasoningbank_langgraph.cli.solve_report import plural, shorten
from reasoningbank_langgraph.cli.terminal import console

if TYPE_CHECKING:
    from reasoningbank_langgraph.records import Episode


@bank_app.command()
def episodes(
    namespace: Annotated[str | None, typer.Option(help="Show only this namespace, written as in the output.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one episode a line as JSON, whole.")] = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """List judged attempts, oldest first, with the ids that `bank forget --item` takes."""
    with open_bank(bank) as store:
        for labels in chosen_banks(store, namespace):
            kept = MemoryBank(store, labels).episodes()
            if as_json:
                _print_json(labels, kept)
                continue
            console.print(Text(f"{format_namespace(labels)}: {plural(len(kept), 'episode')}", "bold"))
            for episode in kept:
                _print_episode(episode)


def _print_json(labels: tuple[str, ...], kept: list[Episode]) -> None:
    for episode in kept:
        console.print(json.dumps({"namespace": list(labels), **episode.to_json()}))


def _print_episode(episode: Episode) -> None:
    source = episode.provenance
    judged = f"{source.judge or 'unknown'} ({episode.created_at:%Y-%m-%d %H:%M})"
    console.print(Text(f"  [{episode.outcome}] {shorten(episode.task, 100)}"))
    console.print(Text(f"      did:    {shorten(episode.solution, 400)}\n      answer: {shorten(episode.answer, 100)}"))
    console.print(Text(f"      judged by: {judged}\n      {as_options(episode)}", "dim"))
