"""`reasoningbank bank export`, `import`, `forget`: the lessons of one namespace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.bank import bank_app, opened
from reasoningbank_langgraph.cli.labels import read_id, read_namespace, shown_id
from reasoningbank_langgraph.cli.screen import console

_Bank = Annotated[Path, typer.Option(help="Folder of the bank.")]
_Namespace = Annotated[str, typer.Option(help="Labels of the bank, as `bank show` lists them.")]
_File = Annotated[Path, typer.Argument(help="JSONL file.")]
_HERE = Path("bank")


@bank_app.command("export")
def export_(file: _File, namespace: _Namespace, bank: _Bank = _HERE) -> None:
    """Write the lessons of a namespace to a file."""
    with opened(bank) as store:
        memory = MemoryBank(store, read_namespace(namespace))
        if not memory.totals().items:
            raise typer.BadParameter(f"no lessons are in {namespace!r}", param_hint="--namespace")
        count = memory.export_jsonl(file)
        console.print(f"{count} lessons written to {file}")


@bank_app.command("import")
def import_(file: _File, namespace: _Namespace, bank: _Bank = _HERE) -> None:
    """Take over the lessons of an exported file: all of them or, if a line is wrong, none."""
    with opened(bank) as store:
        added, skipped = MemoryBank(store, read_namespace(namespace)).import_jsonl(file)
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
    bank: _Bank = _HERE,
) -> None:
    """Remove lessons for good; `bank vacuum` then removes their text from the files."""
    given = {"id": item, "thread_id": thread, "run_id": run, "experience_id": experience}
    selectors = {name: read_id(value) for name, value in given.items() if value is not None}
    if len(selectors) != 1:
        raise typer.BadParameter("give one of --item, --thread, --run and --experience")
    with opened(bank) as store:
        gone = MemoryBank(store, read_namespace(namespace)).forget(**selectors, cascade=cascade)
        console.print(f"{len(gone)} lessons removed" + "".join(f"\n  {shown_id(name)}" for name in gone))
