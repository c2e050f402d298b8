"""`reasoningbank harvest`: training data from attempts that were checked, and what forgotten ones fed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from reasoningbank_langgraph.cli.bank import DEFAULT_FOLDER, BankFolder, filled_bank, open_bank
from reasoningbank_langgraph.cli.identifiers import format_id
from reasoningbank_langgraph.cli.solve_report import plural
from reasoningbank_langgraph.cli.terminal import console, named_errors

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import MemoryBank
    from reasoningbank_langgraph.train.harvest import Harvest


def harvest(
    folder: Annotated[Path, typer.Argument(help="Folder to make; with --check, the harvest to look at.")],
    namespace: Annotated[
        str | None, typer.Option(help="Namespace of the attempts, as `bank show` prints it; without it, only runs.")
    ] = None,
    run: Annotated[
        list[Path] | None, typer.Option(help="Folder of an experiment with its texts; give it again for more.")
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(help="Arm of the runs; give it again for more. By default those that learn from train problems."),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(help="Believe this judge too, `llm` or `user` for example; give it again for more."),
    ] = None,
    not_in: Annotated[
        list[Path] | None,
        typer.Option(help="Problems to keep clear of: a file to evaluate on; give it again for more."),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="Largest number of solutions of a task.")] = 4,
    validation: Annotated[float, typer.Option(min=0, max=0.9, help="Share of tasks held back for validation.")] = 0.1,
    check: Annotated[
        bool, typer.Option("--check", help="List rows of a harvest whose attempt is forgotten or tainted since.")
    ] = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Make training data of attempts that were checked: JSONL that TRL reads, and a card that names each row's source.

    Attempts that a model judged are left out unless --judge llm is given. With --check nothing is made, and the exit
    code is 1 if rows are listed.
    """
    from reasoningbank_langgraph.train.harvest import CHECKS, harvest

    options: dict[str, Any] = {"runs": run or (), "arms": arm or (), "not_in": not_in or ()}
    options |= {"judges": (*CHECKS, *(judge or ())), "samples": samples, "validation": validation}
    if check:
        _check(folder, bank, namespace)
    elif namespace is None:
        with named_errors():
            _print(harvest(folder, **options), folder)
    else:
        with open_bank(bank) as store:
            _print(filled_bank(store, namespace).harvest(folder, **options), folder)


def _check(folder: Path, bank: Path, namespace: str | None) -> None:
    if namespace is None:
        raise typer.BadParameter("name the namespace that the harvest was made from", param_hint="--namespace")
    with open_bank(bank) as store:
        raise typer.Exit(1 if print_fed(folder, filled_bank(store, namespace)) else 0)


def print_fed(folder: Path, memory: MemoryBank) -> int:
    """Print which rows of a harvest should be learned from no longer, and why; return how many there are."""
    from reasoningbank_langgraph.train.harvest import tainted_rows

    found = tainted_rows(folder, memory)
    rows = len({(one.row.file, one.row.line) for one in found})
    console.print(Text(f"{folder}: {plural(rows, 'row')} to learn from no longer"))
    for row, source, reason in found:
        console.print(Text(f"  {row.file}, line {row.line}: {source.kind} {format_id(source.id)}: {reason}"))
    return rows


def require_harvests(folders: Iterable[Path]) -> None:
    """Raise `HarvestError` for a folder that holds none, before anything is forgotten."""
    from reasoningbank_langgraph.train.harvest import read_card

    for folder in folders:
        read_card(folder)


def _print(made: Harvest, folder: Path) -> None:
    for name, file in made.files.items():
        console.print(f"{name}: {plural(file.rows, 'row')} of {plural(file.tasks, 'task')}")
    told = ", ".join(f"{count} {reason}" for reason, count in made.left_out.items())
    console.print(f"left out of {plural(made.solutions, 'solution')}: {told or 'none'}")
    console.print(Text(f"written to {folder}, digest {made.digest[:16]}; card.md says where each row comes from"))
