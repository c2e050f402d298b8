"""`reasoningbank bank contradictions`: similar lessons that a model holds for opposite advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reasoningbank_langgraph.cli.bank import (
    DEFAULT_FOLDER,
    BankFolder,
    bank_app,
    filled_bank,
    open_to_embed,
    require_bank,
)
from reasoningbank_langgraph.cli.identifiers import format_id
from reasoningbank_langgraph.cli.model import TIME_LIMIT, loaded_model
from reasoningbank_langgraph.cli.solve_report import plural, shorten
from reasoningbank_langgraph.cli.terminal import console

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import Contradictions, MemoryBank


@bank_app.command()
def contradictions(
    namespace: Annotated[str, typer.Option(help="Namespace of the lessons, as `bank show` prints it.")],
    model: Annotated[str | None, typer.Option(help="Model that compares, named as in `solve`.")] = None,
    max_pairs: Annotated[int, typer.Option(min=1, help="How many similar pairs it is asked about.")] = 100,
    keep: Annotated[bool, typer.Option("--keep", help="Write it down, for `bank why` and `bank graph`.")] = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """List similar lessons that give opposite advice, in the opinion of a model; none is set aside.

    The packaged embedder must be that of the bank.
    """
    require_bank(bank)
    with open_to_embed(bank, "MemoryBank(store, ...).contradictions(model)") as store:
        memory = filled_bank(store, namespace)
        with loaded_model(model) as resolved:
            found = memory.contradictions(resolved.chat, max_pairs=max_pairs, time_limit=TIME_LIMIT, keep=keep)
        _print(memory, found)
    if found.asked and found.unclear == found.asked:
        raise typer.Exit(1)


def _print(memory: MemoryBank, found: Contradictions) -> None:
    titles = {item.id: item.title for item in memory.items()}
    for one in found.found:
        for name in (one.first, one.second):
            console.print(Text(f"  {format_id(name)}: {shorten(titles.get(name, ''), 80)}"))
        console.print(Text(f"      {shorten(one.why, 400)}", "dim"))
    counts = f"{plural(found.asked, 'pair')} compared, {len(found.found)} opposite, {found.unclear} unclear"
    console.print(f"{counts}, {found.left} not compared")
    if found.failure:
        console.print(f"  the last call that failed: {found.failure}")
