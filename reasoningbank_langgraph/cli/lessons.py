"""`reasoningbank bank export`, `import`, `forget`: the lessons of one namespace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.bank import bank_app, open_bank
from reasoningbank_langgraph.cli.identifiers import format_id, parse_id, parse_namespace
from reasoningbank_langgraph.cli.terminal import console

_Bank = Annotated[Path, typer.Option(help="Folder of the bank.")]
_Namespace = Annotated[str, typer.Option(help="Labels of the bank, as `bank show` lists them.")]
_File = Annotated[Path, typer.Argument(help="JSONL file.")]
_DEFAULT_FOLDER = Path("bank")


@bank_app.command("export")
def export_(file: _File, namespace: _Namespace, bank: _Bank = _DEFAULT_FOLDER) -> None:
    """Write the lessons of a namespace to a file."""
    with open_bank(bank) as store:
        memory = MemoryBank(store, parse_namespace(namespace))
        if not memory.totals().items:
            raise typer.BadParameter(f"no lessons are in {namespace!r}", param_hint="--namespace")
        count = memory.export_jsonl(file)
        console.print(f"{count} lessons written to {file}")


@bank_app.command("import")
def import_(file: _File, namespace: _Namespace, bank: _Bank = _DEFAULT_FOLDER) -> None:
    """Take over the lessons of an exported file: all of them or, if a line is wrong, none."""
    with open_bank(bank) as store:
        added, skipped = MemoryBank(store, parse_namespace(namespace)).import_jsonl(file)
        console.print(f"{added} lessons added, {skipped} were there already")


@bank_app.command()
def forget(
    namespace: _Namespace,
    item: Annotated[str | None, typer.Option(help="A lesson.")] = None,
    thread: Annotated[str | None, typer.Option(help="All that a thread learned.")] = None,
    run: Annotated[str | None, typer.Option(help="All that a run learned.")] = None,
    experience: Annotated[str | None, typer.Option(help="All that an attempt taught.")] = None,
    cascade: Annotated[
        bool, typer.Option("--cascade/--no-cascade", help="And what was learned in runs that were shown it.")
    ] = True,
    bank: _Bank = _DEFAULT_FOLDER,
) -> None:
    """Remove lessons for good; `bank vacuum` then removes their text from the files."""
    options = {"id": item, "thread_id": thread, "run_id": run, "experience_id": experience}
    selectors = {name: parse_id(value) for name, value in options.items() if value is not None}
    if len(selectors) != 1:
        raise typer.BadParameter("give one of --item, --thread, --run and --experience")
    with open_bank(bank) as store:
        removed = MemoryBank(store, parse_namespace(namespace)).forget(**selectors, cascade=cascade)
        console.print(f"{len(removed)} lessons removed" + "".join(f"\n  {format_id(name)}" for name in removed))
