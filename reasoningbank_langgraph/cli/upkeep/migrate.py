"""`reasoningbank import-from`: the lessons of another memory, taken over or only looked at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reasoningbank_langgraph.bank import MemoryBank, MemorySource
from reasoningbank_langgraph.cli.bank import ACTOR, DEFAULT_FOLDER, has_bank, open_bank, open_to_embed
from reasoningbank_langgraph.cli.identifiers import format_id, format_namespace, parse_namespace
from reasoningbank_langgraph.cli.solve_report import plural, shorten
from reasoningbank_langgraph.cli.terminal import console, named_errors
from reasoningbank_langgraph.namespaces import Filled, check_filled
from reasoningbank_langgraph.records import Outcome

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import Migrated


def import_from(
    source: Annotated[MemorySource, typer.Argument(help="Whose file it is.")],
    file: Annotated[Path, typer.Argument(help="File with one JSON object a line.")],
    namespace: Annotated[str, typer.Option(help="Namespace to add them to, written as `bank show` prints it.")],
    outcome: Annotated[
        Outcome | None,
        typer.Option(
            help="What lessons were learned from where the file does not say so; without it they are skipped."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be added, and change nothing.")] = False,
    bank: Annotated[Path, typer.Option(help="Folder of the bank; created if it does not exist.")] = DEFAULT_FOLDER,
) -> None:
    """Add the lessons of langmem, google-research/reasoning-bank or any JSONL file, each once, and say what is skipped.

    They are embedded with the packaged embedder, which must also be that of the bank; --dry-run embeds nothing.
    """
    with named_errors():
        labels = Filled(check_filled(parse_namespace(namespace)))
        found = _dry_run(bank, labels, source, file, outcome)
        if found.added and not dry_run:
            instead = f"MemoryBank(store, {tuple(labels)}).import_from({source!r}, {str(file)!r})"
            with open_to_embed(bank, instead) as store:
                found = MemoryBank(store, labels, actor=ACTOR).import_from(source, file, outcome=outcome)
    _print(found, format_namespace(labels), dry_run=dry_run)


def _dry_run(bank: Path, labels: Filled, source: MemorySource, file: Path, outcome: Outcome | None) -> Migrated:
    if has_bank(bank):
        with open_bank(bank) as store:
            return MemoryBank(store, labels).import_from(source, file, outcome=outcome, dry_run=True)
    from langgraph.store.memory import InMemoryStore

    return MemoryBank(InMemoryStore(), labels).import_from(source, file, outcome=outcome, dry_run=True)


def _print(found: Migrated, place: str, *, dry_run: bool) -> None:
    for item in found.added if dry_run else ():
        console.print(Text(f"  [{item.outcome}] {shorten(item.title, 80)}"))
    for line, why in found.skipped:
        console.print(Text(f"  line {line} is skipped: {shorten(why, 200)}"))
    verb = "would be added" if dry_run else "added"
    counts = f"{found.known} already there, {len(found.skipped)} skipped"
    console.print(f"{plural(len(found.added), 'lesson')} {verb} to {place}, {counts}")
    if found.added and not dry_run:
        run = format_id(found.added[0].provenance.run_id or "")
        console.print(f"to take them out again: bank forget --run {run} --namespace {place}")
