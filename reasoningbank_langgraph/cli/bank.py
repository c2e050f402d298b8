"""`reasoningbank bank`: look at a bank, check it, repair it, move it to another embedder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reasoningbank_langgraph.cli.report import amount, console, short
from reasoningbank_langgraph.errors import ReasoningBankError

if TYPE_CHECKING:
    from reasoningbank_langgraph.store import ChromaStore

bank_app = typer.Typer(help="A bank on disk: show, verify, rebuild, reindex.", no_args_is_help=True)
_Bank = Annotated[Path, typer.Option(help="Folder of the bank.")]
_HERE = Path("bank")


@bank_app.command()
def show(bank: _Bank = _HERE) -> None:
    """Show every lesson, by namespace, oldest first."""
    from reasoningbank_langgraph.bank import MemoryBank

    with _opened(bank) as store:
        for namespace in store.list_namespaces(limit=100_000):
            memory = MemoryBank(store, namespace)
            console.print(Text(f"{'/'.join(namespace)}: {amount(memory.totals())}", "bold"))
            for item in memory.items():
                console.print(Text(f"  [{item.outcome}] {short(item.title, 80)}"))
                console.print(
                    Text(f"      when: {short(item.description, 200)}\n      do:   {short(item.content, 400)}")
                )
                console.print(
                    Text(f"      from: {short(item.task, 100)} ({item.created_at:%Y-%m-%d %H:%M}, {item.id})", "dim")
                )


@bank_app.command()
def verify(bank: _Bank = _HERE) -> None:
    """Check that rows, items and vectors fit together; exit code 1 if they do not."""
    with _opened(bank) as store:
        report = store.verify()
        console.print(str(report))
        raise typer.Exit(0 if report.ok else 1)


@bank_app.command()
def rebuild(bank: _Bank = _HERE) -> None:
    """Make the vectors and their index anew from the items."""
    with _opened(bank) as store:
        store.rebuild_index()
        console.print(str(store.verify()))


@bank_app.command()
def reindex(bank: _Bank = _HERE) -> None:
    """Move a bank that was made with another embedder to the packaged one."""
    with _opened(bank, reindex=True) as store:
        console.print(str(store.verify()))


@contextmanager
def _opened(bank: Path, *, reindex: bool = False) -> Iterator[ChromaStore]:
    """Open an existing bank; a mistyped path must not make a new one."""
    from reasoningbank_langgraph.embeddings import default_embeddings
    from reasoningbank_langgraph.store import ChromaStore

    if not bank.is_dir():
        raise typer.BadParameter(f"there is no bank at {bank}", param_hint="--bank")
    try:
        with ChromaStore.from_path(bank, embeddings=default_embeddings(), reindex=reindex) as store:
            yield store
    except ReasoningBankError as error:
        console.print(f"Error: {error}", style="red", markup=False)
        raise typer.Exit(1) from error
