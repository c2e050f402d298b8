"""`reasoningbank pending`, `resolve` and `resolve-overdue`: attempts that wait for a verdict or for a model."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.bank import (
    ACTOR,
    DEFAULT_FOLDER,
    AsJson,
    BankFolder,
    OnlyNamespace,
    chosen_banks,
    list_records,
    open_to_embed,
    require_bank,
)
from reasoningbank_langgraph.cli.identifiers import format_id, format_namespace, parse_id, parse_namespace
from reasoningbank_langgraph.cli.model import TIME_LIMIT, loaded_model
from reasoningbank_langgraph.cli.solve_report import plural, shorten
from reasoningbank_langgraph.cli.terminal import console
from reasoningbank_langgraph.errors import UnknownAttemptError
from reasoningbank_langgraph.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reasoningbank_langgraph.local.model_choice import ResolvedModel
    from reasoningbank_langgraph.records import PendingAttempt
    from reasoningbank_langgraph.store import ChromaStore

_Model = Annotated[str | None, typer.Option(help="Model that judges and distils, named as in `solve`.")]


def pending(
    namespace: OnlyNamespace = None,
    as_json: AsJson = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """List attempts that wait for a verdict or for a model, oldest first, with the ids that `resolve` takes."""
    list_records(bank, namespace, as_json, MemoryBank.pending, _print_waiting)


def _print_waiting(name: str, waiting: Sequence[PendingAttempt]) -> None:
    console.print(Text(f"{name}: {plural(len(waiting), 'attempt')} waiting", "bold"))
    for one in waiting:
        thread = f"  --thread {format_id(one.thread_id)}" if one.thread_id else ""
        console.print(Text(f"  [{one.waits_for}] {shorten(one.task, 100)} ({one.created_at:%Y-%m-%d %H:%M})"))
        console.print(Text(f"      answer: {shorten(one.answer or '', 200)}"))
        console.print(Text(f"      {format_id(one.id)}{thread}", "dim"))


def resolve(
    attempt: Annotated[str, typer.Argument(metavar="ID", help="Id of an attempt of `pending`, or of an episode.")],
    verdict: Annotated[Literal["success", "failure"], typer.Argument(help="Whether it solved its task.")],
    namespace: Annotated[str, typer.Option(help="Namespace of the attempt, as `pending` prints it.")],
    because: Annotated[str, typer.Option(help="How that is known; the model that distils is told.")] = "",
    model: _Model = None,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Say whether an attempt succeeded, and learn from it; a verdict that was given before is overturned.

    The packaged embedder must be that of the bank.
    """
    known, said = parse_id(attempt), Verdict(status=verdict, confidence=1.0, rationale=because, judge="user")
    with _ready(bank, model, "MemoryBank(store, ...).resolve(...)") as (store, resolved):
        try:
            memory = MemoryBank(store, parse_namespace(namespace), actor=ACTOR)
            done = memory.resolve(known, said, model=resolved.chat, time_limit=TIME_LIMIT)
        except UnknownAttemptError as error:
            raise typer.BadParameter(str(error), param_hint="ID") from error
    out_of_use = f", {plural(len(done.superseded), 'lesson')} out of use" if done.superseded else ""
    console.print(f"{plural(done.added, 'lesson')} written{out_of_use}")
    if done.failure is not None:
        console.print(f"the verdict is kept, and the attempt waits for its lessons: {done.failure}")
        raise typer.Exit(1)


def resolve_overdue(
    after: Annotated[float, typer.Option(min=0, help="Days an attempt waits for a verdict from outside.")] = 7,
    drop_after: Annotated[
        float | None, typer.Option(min=0, help="Days after which one that still waits is given up; never by default.")
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Only this namespace, written as `pending` prints it.")] = None,
    model: _Model = None,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Let a model judge and distil the attempts that nobody resolved in time, and those that an outage left.

    The packaged embedder must be that of the bank.
    """
    from reasoningbank_langgraph import learn

    judged, given_up = timedelta(days=after), None if drop_after is None else timedelta(days=drop_after)
    with _ready(bank, model, "learn.resolve_overdue(MemoryBank(store, ...), model=...)") as (store, resolved):
        failed = False
        for labels in chosen_banks(store, namespace):
            memory = MemoryBank(store, labels, actor=ACTOR)
            done = learn.resolve_overdue(
                memory, model=resolved.chat, after=judged, drop_after=given_up, time_limit=TIME_LIMIT
            )
            console.print(f"{format_namespace(labels)}: {done.resolved} resolved, {done.dropped} given up", end=", ")
            console.print(f"{done.waiting} still waiting")
            if done.failure is not None:
                console.print(f"  the last call that failed: {done.failure}")
            failed = failed or done.failure is not None
    if failed:
        raise typer.Exit(1)


@contextmanager
def _ready(bank: Path, model: str | None, instead: str) -> Iterator[tuple[ChromaStore, ResolvedModel]]:
    """Open a bank to write lessons, and give the model that distils them."""
    require_bank(bank)
    with open_to_embed(bank, instead) as store, loaded_model(model) as resolved:
        yield store, resolved
