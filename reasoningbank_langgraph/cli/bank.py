"""`reasoningbank bank`: show a bank, check it, repair it, clean it, re-embed it and serve it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from reasoningbank_langgraph.bank import MemoryBank, is_asked_for
from reasoningbank_langgraph.bank.operations import has_rows, run
from reasoningbank_langgraph.cli.identifiers import (
    WhereOption,
    as_options,
    format_namespace,
    parse_namespace,
    parse_where,
)
from reasoningbank_langgraph.cli.solve_report import describe_totals, shorten
from reasoningbank_langgraph.cli.terminal import console, error_console, named_errors
from reasoningbank_langgraph.cli.upkeep.encryption import encryption_key
from reasoningbank_langgraph.namespaces import (
    EPISODES,
    HEADS,
    LEDGER,
    PENDING,
    THREADS,
    Filled,
    bank_of,
    beside,
    check_filled,
)

if TYPE_CHECKING:
    from reasoningbank_langgraph.policies import GuardStatus
    from reasoningbank_langgraph.records import Episode, MemoryItem, PendingAttempt
    from reasoningbank_langgraph.store import ChromaStore

_Known = TypeVar("_Known", bound="Episode | GuardStatus | PendingAttempt")
bank_app = typer.Typer(help="Inspect and maintain a bank on disk.", no_args_is_help=True)
BankFolder = Annotated[Path, typer.Option(help="Folder of the bank.")]
OnlyNamespace = Annotated[
    str | None, typer.Option("--namespace", help="Show only this namespace, written as in the output.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, a line for each of them, whole.")]
DEFAULT_FOLDER = Path("bank")
ACTOR = "command line"
_SAID = ("scope", "difficulty", "near")


@bank_app.command()
def show(
    bank: BankFolder = DEFAULT_FOLDER,
    namespace: OnlyNamespace = None,
    where: WhereOption = None,
) -> None:
    """List all lessons by namespace, oldest first, with the ids that `bank forget` and `bank quarantine` take."""
    asked = parse_where(where)

    with open_bank(bank) as store:
        for labels in chosen_banks(store, namespace):
            memory = MemoryBank(store, labels)
            console.print(Text(f"{format_namespace(labels)}: {describe_totals(memory.totals())}", "bold"))
            for item in memory.items():
                if is_asked_for(item, asked):
                    _print_item(item)


def _print_item(item: MemoryItem) -> None:
    status = "" if item.status == "active" else f", {item.status}"
    console.print(Text(f"  [{item.outcome}{status}] {shorten(item.title, 80)}"))
    console.print(Text(f"      when: {shorten(item.description, 200)}\n      do:   {shorten(item.content, 400)}"))
    if (worth := item.utility).used:
        console.print(f"      pairs: fixed {worth.helped}, broke {worth.hurt}, ties {worth.ties}")
    console.print(
        Text(
            f"      from: {shorten(item.task, 100)} ({item.created_at:%Y-%m-%d %H:%M})\n      {as_options(item)}", "dim"
        )
    )
    if said := [*item.tags, *(f"{name}: {value}" for name in _SAID if (value := getattr(item, name)))]:
        console.print(Text(f"      {shorten(', '.join(said), 200)}", "dim"))
    if item.redistil_run:
        console.print(Text(f"      made anew by {item.provenance.model}, run {item.redistil_run}", "dim"))


@bank_app.command()
def verify(bank: BankFolder = DEFAULT_FOLDER) -> None:
    """Check that rows, items and vectors agree; the exit code is 1 if they do not."""
    with open_bank(bank) as store:
        report = store.verify()
        console.print(str(report))
        raise typer.Exit(0 if report.ok else 1)


@bank_app.command()
def rebuild(bank: BankFolder = DEFAULT_FOLDER) -> None:
    """Rebuild all vectors and their index from the items of a bank made with the packaged embedder."""
    require_bank(bank)
    with open_to_embed(bank, "store.rebuild_index()") as store:
        store.rebuild_index()
        console.print(str(store.verify()))


@bank_app.command()
def reindex(bank: BankFolder = DEFAULT_FOLDER) -> None:
    """Move a bank to the packaged embedder; if interrupted, run it again to resume.

    Programs that open the bank with its old embedder are refused from then on.
    """
    require_bank(bank)
    with progress_bar("embedding") as update, open_to_embed(bank, reindex=update) as store:
        report = store.verify()
    console.print(str(report))


@bank_app.command()
def vacuum(bank: BankFolder = DEFAULT_FOLDER) -> None:
    """Erase all traces of deleted and replaced lessons from the files of the bank."""
    before = _megabytes(bank)
    with open_bank(bank) as store:
        store.vacuum()
        report = store.verify()
    console.print(f"{before:.1f} MB -> {_megabytes(bank):.1f} MB\n{report}")


@bank_app.command("serve")
def serve_command(
    bank: Annotated[Path, typer.Option("--path", "--bank", help="Folder of the bank.")] = DEFAULT_FOLDER,
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on.")] = 8000,
) -> None:
    """Share a bank between programs on this machine until Ctrl-C.

    There is no password: every user of this machine can connect.
    """
    from reasoningbank_langgraph.loopback import LOOPBACK
    from reasoningbank_langgraph.store.folder.serving import serve

    def ready() -> None:
        console.print(f'{bank} is open for: ChromaStore.from_server("{LOOPBACK}", {port})')

    with named_errors(), suppress(KeyboardInterrupt):
        serve(bank, port, ready)


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar, and give what moves it: a function of how many are done, and of how many."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=error_console) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def open_bank(bank: Path) -> Iterator[ChromaStore]:
    """Open an existing bank, whichever embedder made it; a mistyped path must not make a new one."""
    from reasoningbank_langgraph.store.without_embedder import open_without_embedder

    require_bank(bank)
    with named_errors(), open_without_embedder(bank, encryption_key()) as store:
        yield store


@contextmanager
def open_to_embed(
    bank: Path, instead: str = "", *, reindex: bool | Callable[[int, int], None] = False
) -> Iterator[ChromaStore]:
    """Open a bank with the packaged embedder, and name its own one and the Python to use instead where they differ."""
    from reasoningbank_langgraph.embeddings import default_embeddings
    from reasoningbank_langgraph.errors import EmbeddingMismatchError, StoreError
    from reasoningbank_langgraph.store import ChromaStore

    with named_errors():
        try:
            store = ChromaStore.from_path(
                bank, embeddings=default_embeddings(), encryption_key=encryption_key(), reindex=reindex
            )
        except EmbeddingMismatchError as error:
            raise StoreError(
                f"the bank at {str(bank)!r} was made with {error.stored}, and this command has only {error.given}: "
                f"in Python, with the store opened as your program opens it, call {instead}"
            ) from error
        with store:
            yield store


def print_json(labels: Sequence[str], *records: Mapping[str, Any]) -> None:
    """Print records of a bank, each as a line with its namespace."""
    for record in records:
        console.print(json.dumps({"namespace": list(labels), **record}))


def list_records(
    bank: Path,
    namespace: str | None,
    as_json: bool,
    read: Callable[[MemoryBank], Sequence[_Known]],
    tell: Callable[[str, Sequence[_Known]], None],
) -> None:
    """Print what is read from each bank that was chosen, as JSON or as it is told under the name of the bank."""
    with open_bank(bank) as store:
        for labels in chosen_banks(store, namespace):
            records = read(MemoryBank(store, labels))
            if as_json:
                print_json(labels, *(record.to_json() for record in records))
            else:
                tell(format_namespace(labels), records)


def chosen_banks(store: ChromaStore, namespace: str | None, *, emptied: bool = False) -> list[Filled]:
    """Return the namespace that was chosen or, if none was, those of all banks in a store.

    Args:
        store: the store.
        namespace: the one that was chosen.
        emptied: whether banks count of which only the ledger is left.
    """
    endings = (THREADS,) if emptied else (HEADS, LEDGER, THREADS)
    found = [labels for labels in store.list_namespaces(limit=100_000) if not labels[-1].endswith(endings)]
    banks = [Filled(labels) for labels in dict.fromkeys(map(bank_of, found))]
    if namespace is None:
        return banks
    if (labels := Filled(check_filled(parse_namespace(namespace)))) not in banks:
        raise _unknown(namespace)
    return [labels]


def only_bank(store: ChromaStore, namespace: str | None) -> Filled:
    """Return the namespace that was chosen or, if none was, the only one there is."""
    banks = chosen_banks(store, namespace)
    if len(banks) != 1:
        names = ", ".join(map(format_namespace, banks)) or "none"
        raise typer.BadParameter(f"say which bank is meant; there are: {names}", param_hint="--namespace")
    return banks[0]


def filled_bank(store: ChromaStore, namespace: str) -> MemoryBank:
    """Return a bank that holds something: with a mistyped namespace nothing would be done, and no error say so."""
    memory = MemoryBank(store, parse_namespace(namespace), actor=ACTOR)
    places = [memory.namespace, *(beside(memory.namespace, ending) for ending in (EPISODES, PENDING))]
    if not (run(has_rows(places), store) or memory.guards()):
        raise _unknown(namespace)
    return memory


def _unknown(namespace: str) -> typer.BadParameter:
    problem = f"there are no lessons in {namespace!r}: `bank show` lists the namespaces"
    return typer.BadParameter(problem, param_hint="--namespace")


def has_bank(folder: Path) -> bool:
    """Say whether a folder holds a bank."""
    from reasoningbank_langgraph.store.chroma_files import DATABASE_FILE

    return (folder / DATABASE_FILE).is_file()


def require_bank(folder: Path) -> None:
    """Raise `typer.BadParameter` if there is no bank in a folder."""
    if not has_bank(folder):
        raise typer.BadParameter(f"there is no bank at {folder.resolve()}", param_hint="--bank")


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
