"""`reasoningbank bank export`, `import`, `forget`: the lessons of one namespace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.bank import DEFAULT_FOLDER, BankFolder, bank_app, open_bank
from reasoningbank_langgraph.cli.identifiers import format_id, parse_id, parse_namespace
from reasoningbank_langgraph.cli.solve_report import plural
from reasoningbank_langgraph.cli.terminal import console

if TYPE_CHECKING:
    from reasoningbank_langgraph.store import ChromaStore

_Namespace = Annotated[str, typer.Option(help="Namespace of the lessons, as `bank show` prints it.")]
_File = Annotated[Path, typer.Argument(help="JSONL file.")]


@bank_app.command("export")
def export_(file: _File, namespace: _Namespace, bank: BankFolder = DEFAULT_FOLDER) -> None:
    """Write the lessons of a namespace to a JSONL file."""
    with open_bank(bank) as store:
        count = _bank_with_lessons(store, namespace).export_jsonl(file)
        console.print(f"{plural(count, 'lesson')} written to {file}")


@bank_app.command("import")
def import_(file: _File, namespace: _Namespace, bank: BankFolder = DEFAULT_FOLDER) -> None:
    """Add the lessons of an exported file: all of them or, if a line is invalid, none."""
    with open_bank(bank) as store:
        added, skipped = MemoryBank(store, parse_namespace(namespace)).import_jsonl(file)
        console.print(f"{plural(added, 'lesson')} added, {skipped} already there")


@bank_app.command()
def forget(
    namespace: _Namespace,
    item: Annotated[str | None, typer.Option(help="Id of a lesson.")] = None,
    thread: Annotated[str | None, typer.Option(help="Id of a thread, to delete all that it learned.")] = None,
    run: Annotated[str | None, typer.Option(help="Id of a run, to delete all that it learned.")] = None,
    experience: Annotated[str | None, typer.Option(help="Id of an experience, to delete all that it taught.")] = None,
    cascade: Annotated[
        bool,
        typer.Option(
            "--cascade/--no-cascade", help="Also delete what was learned in runs that were shown these lessons."
        ),
    ] = True,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Delete lessons for good; `bank vacuum` then erases their text from the files."""
    options = {"id": item, "thread_id": thread, "run_id": run, "experience_id": experience}
    selectors = {name: parse_id(value) for name, value in options.items() if value is not None}
    if len(selectors) != 1:
        raise typer.BadParameter("give exactly one of --item, --thread, --run and --experience")
    with open_bank(bank) as store:
        removed = _bank_with_lessons(store, namespace).forget(**selectors, cascade=cascade)
        console.print(
            f"{plural(len(removed), 'lesson')} removed" + "".join(f"\n  {format_id(name)}" for name in removed)
        )


def _bank_with_lessons(store: ChromaStore, namespace: str) -> MemoryBank:
    """Return a bank that holds something: with a mistyped namespace nothing would be done, and no error say so."""
    memory = MemoryBank(store, parse_namespace(namespace))
    if not memory.totals().items:
        raise typer.BadParameter(f"there are no lessons in {namespace!r}", param_hint="--namespace")
    return memory
