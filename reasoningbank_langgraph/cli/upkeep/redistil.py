"""`reasoningbank bank redistil`: lessons made anew from the episodes, and the way back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.bank import (
    ACTOR,
    DEFAULT_FOLDER,
    BankFolder,
    bank_app,
    chosen_banks,
    open_bank,
    open_to_embed,
    progress_bar,
    require_bank,
)
from reasoningbank_langgraph.cli.identifiers import format_namespace
from reasoningbank_langgraph.cli.model import TIME_LIMIT, loaded_model
from reasoningbank_langgraph.cli.solve_report import plural
from reasoningbank_langgraph.cli.terminal import console

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import Redistilled
    from reasoningbank_langgraph.local.model_choice import ResolvedModel


@bank_app.command()
def redistil(
    model: Annotated[str | None, typer.Option(help="Model that distils, named as in `solve`.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be asked and replaced.")] = False,
    undo: Annotated[
        str | None, typer.Option(metavar="RUN", help="Bring back the lessons whose place those of a run took.")
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only this namespace, written as `bank show` prints it.")
    ] = None,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Make lessons anew from the episodes with another model; the old ones go out of use and are kept.

    If interrupted, run it again to resume. The packaged embedder must be that of the bank.
    """
    if (model is None) == (undo is None) or (dry_run and undo is not None):
        raise typer.BadParameter("give either --model, with or without --dry-run, or --undo")
    if undo is not None:
        _undo(undo, namespace, bank)
    else:
        _redistil(model, namespace, bank, dry_run=dry_run)


def _redistil(model: str | None, namespace: str | None, bank: Path, *, dry_run: bool) -> None:
    require_bank(bank)
    with open_to_embed(bank, "MemoryBank(store, ...).redistil(model)") as store:
        banks = [MemoryBank(store, labels, actor=ACTOR) for labels in chosen_banks(store, namespace)]
        with loaded_model(model) as resolved:
            results = [_one(memory, resolved, dry_run=dry_run) for memory in banks]
    if any(done.failure and not done.distilled for done in results):
        raise typer.Exit(1)


def _one(memory: MemoryBank, model: ResolvedModel, *, dry_run: bool) -> Redistilled:
    name = format_namespace(memory.namespace)
    with progress_bar(name) as update:
        done = memory.redistil(
            model.chat, dry_run=dry_run, max_concurrency=model.at_once, time_limit=TIME_LIMIT, progress=update
        )
    verb = "would be made anew" if dry_run else "made anew"
    counts = f"{plural(done.distilled, 'experience')} {verb}, {done.done} had been before"
    added = "" if dry_run else f"; {plural(done.added, 'lesson')} written"
    console.print(f"{name}: {counts}{added}; {plural(done.superseded, 'lesson')} out of use for them")
    if done.kept:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(done.reasons.items()))
        console.print(f"  {plural(done.kept, 'experience')} kept as before: {reasons}")
    if done.failure:
        console.print(f"  the last call that failed: {done.failure}")
    if done.distilled and not dry_run:
        console.print(f"  to bring the old lessons back: --undo {done.run}")
    return done


def _undo(run: str, namespace: str | None, bank: Path) -> None:
    with open_bank(bank) as store:
        banks = [MemoryBank(store, labels, actor=ACTOR) for labels in chosen_banks(store, namespace)]
        made = [memory for memory in banks if any(item.redistil_run == run for item in memory.items())]
        if not run or not made:
            raise typer.BadParameter(f"no lesson was made by run {run!r}: `bank show` names the runs", param_hint="RUN")
        for memory in made:
            restored, retired = memory.undo_redistil(run)
            counts = f"{plural(restored, 'lesson')} in use again, {plural(retired, 'lesson')} of the run out of use"
            console.print(f"{format_namespace(memory.namespace)}: {counts}")
