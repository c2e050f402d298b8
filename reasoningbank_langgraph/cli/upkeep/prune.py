"""`reasoningbank bank prune`: lessons taken out of use by rule, and the way back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from reasoningbank_langgraph.cli.bank import (
    DEFAULT_FOLDER,
    BankFolder,
    bank_app,
    filled_bank,
    open_bank,
    open_to_embed,
    require_bank,
)
from reasoningbank_langgraph.cli.identifiers import format_id
from reasoningbank_langgraph.cli.solve_report import plural
from reasoningbank_langgraph.cli.terminal import console

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import MemoryBank


@bank_app.command()
def prune(
    namespace: Annotated[str, typer.Option(help="Namespace of the lessons, as `bank show` prints it.")],
    expired: Annotated[bool, typer.Option("--expired", help="Those that are no longer valid.")] = False,
    min_utility: Annotated[float | None, typer.Option(help="Those of less utility, -1 to 1; 0 if unknown.")] = None,
    unused_days: Annotated[float | None, typer.Option(help="Those that no attempt was shown in these days.")] = None,
    min_value: Annotated[float | None, typer.Option(help="Those of less verifier score x novelty, 0 to 1.")] = None,
    capacity: Annotated[int | None, typer.Option(help="The least useful beyond so many.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say which would go out of use, and why.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Bring back those of the last pruning.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Take lessons out of use by rule, and say why first; they are kept, and --undo brings them back.

    --min-value and --capacity compare lessons with the packaged embedder, which must be that of the bank.
    """
    rules: dict[str, Any] = {"expired": expired, "min_utility": min_utility, "unused_days": unused_days}
    rules |= {"min_value": min_value, "capacity": capacity}
    if undo == any(value is not None and value is not False for value in rules.values()):
        raise typer.BadParameter("give either rules or --undo")
    if undo:
        _undo(bank, namespace)
        return
    require_bank(bank)
    embeds = min_value is not None or capacity is not None
    with open_to_embed(bank, "MemoryBank(store, ...).prune(...)") if embeds else open_bank(bank) as store:
        _prune(filled_bank(store, namespace), rules, dry_run=dry_run, yes=yes)


def _prune(memory: MemoryBank, rules: dict[str, Any], *, dry_run: bool, yes: bool) -> None:
    try:
        foreseen = memory.prune(**rules)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    for name, reason in foreseen.leaving.items():
        console.print(Text(f"  {format_id(name)}: {reason}"))
    counts = f"{plural(len(foreseen.leaving), 'lesson')} would go out of use, {foreseen.left} would stay"
    if dry_run or not foreseen.leaving:
        console.print(counts)
        return
    if not yes and not typer.confirm(f"{counts}. Go on?"):
        console.print("nothing was changed")
        raise typer.Exit(1)
    done = memory.prune(**rules, dry_run=False)
    console.print(f"{plural(len(done.leaving), 'lesson')} out of use; --undo brings them back")


def _undo(bank: Path, namespace: str) -> None:
    with open_bank(bank) as store:
        back = filled_bank(store, namespace).undo_prune()
        console.print(
            f"{plural(len(back), 'lesson')} in use again" + "".join(f"\n  {format_id(name)}" for name in back)
        )
