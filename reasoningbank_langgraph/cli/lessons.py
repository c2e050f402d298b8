"""`reasoningbank bank export`, `import`, `quarantine`, `merge`, `forget`: the lessons of one namespace."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.bank.exchange import jsonl
from reasoningbank_langgraph.cli.bank import (
    ACTOR,
    DEFAULT_FOLDER,
    BankFolder,
    bank_app,
    filled_bank,
    has_bank,
    open_bank,
    open_to_embed,
    require_bank,
)
from reasoningbank_langgraph.cli.identifiers import format_id, format_namespace, known_by, parse_id, parse_namespace
from reasoningbank_langgraph.cli.solve_report import plural
from reasoningbank_langgraph.cli.terminal import console, named_errors
from reasoningbank_langgraph.cli.train.harvest import print_fed, require_harvests
from reasoningbank_langgraph.embeddings import embedder_name
from reasoningbank_langgraph.namespaces import check_filled
from reasoningbank_langgraph.records import Episode, MemoryItem, PendingAttempt

if TYPE_CHECKING:
    from reasoningbank_langgraph.cli.identifiers import Known
    from reasoningbank_langgraph.records import ItemStatus

_Namespace = Annotated[str, typer.Option(help="Namespace of the lessons, as `bank show` prints it.")]


@bank_app.command("export")
def export_(
    file: Annotated[Path, typer.Argument(help="JSONL file to write; one that is there is replaced.")],
    namespace: _Namespace,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Write the lessons of a namespace to a JSONL file."""
    with open_bank(bank) as store:
        memory = filled_bank(store, namespace)
        count, waiting = memory.export_jsonl(file), len(memory.pending())
        verb = "waits" if waiting == 1 else "wait"
        left = f"; {plural(waiting, 'attempt')} {verb} here and will not be in it" if waiting else ""
        console.print(f"{plural(count, 'lesson')} written to {file}{left}")


@bank_app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="JSONL file that `bank export` wrote.")],
    namespace: Annotated[str, typer.Option(help="Namespace to add them to, written as `bank show` prints it.")],
    bank: Annotated[Path, typer.Option(help="Folder of the bank; created if it does not exist.")] = DEFAULT_FOLDER,
) -> None:
    """Add the lessons of an exported file: all of them or, if a line is invalid, none.

    They are embedded with the packaged embedder, which must also be that of the bank.
    """
    with named_errors():
        labels = parse_namespace(namespace)
        check_filled(labels)
        is_new = _check_new(bank, file)
    with open_to_embed(bank, f"MemoryBank(store, {tuple(labels)}).import_jsonl({str(file)!r})") as store:
        if is_new and store.embeddings:
            console.print(f"new bank at {bank.resolve()}, made with the embedder {embedder_name(store.embeddings)}")
        added, skipped = MemoryBank(store, labels, actor=ACTOR).import_jsonl(file)
        console.print(f"{plural(added, 'lesson')} added to {format_namespace(labels)}, {skipped} already there")


def _check_new(bank: Path, file: Path) -> bool:
    """Say whether the bank has to be made, which only a file without mistakes is a reason for."""
    if has_bank(bank):
        return False
    if bank.exists() and not (bank.is_dir() and not any(bank.iterdir())):
        problem = f"{bank} holds no bank, but other things: name a new or an empty folder"
        raise typer.BadParameter(problem, param_hint="--bank")
    jsonl.read(file)
    return True


@bank_app.command()
def quarantine(
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of lessons, as `bank show` prints them.")],
    namespace: _Namespace,
    undo: Annotated[bool, typer.Option("--undo", help="Bring quarantined lessons back.")] = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Take lessons out of use without deleting them: no search returns them."""
    before: ItemStatus = "quarantined" if undo else "active"
    after: ItemStatus = "active" if undo else "quarantined"
    with open_bank(bank) as store:
        memory = filled_bank(store, namespace)
        found = [_lesson(memory, parse_id(name), namespace) for name in ids]
        changed = memory.set_status([item.id for item in found if item.status == before], after)
        console.print(f"{plural(len(changed), 'lesson')} now {after}")
        for item in found:
            note = "" if item.id in changed else f" (was {item.status} before)"
            console.print(f"  {format_id(item.id)}{note}")


@bank_app.command()
def merge(
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of lessons, the one to be found by first.")],
    namespace: _Namespace,
    title: Annotated[str | None, typer.Option(help="Title of the new lesson; by default that of the first.")] = None,
    description: Annotated[str | None, typer.Option(help="When to use it; by default as the first.")] = None,
    content: Annotated[str | None, typer.Option(help="What to do; by default as the first.")] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Bring back what merged lessons stand for.")] = False,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Put one new lesson in the place of several that say the same; they stay in the bank, out of use.

    It is embedded with the packaged embedder, which must also be that of the bank. --undo embeds nothing.
    """
    require_bank(bank)
    with open_bank(bank) if undo else open_to_embed(bank, "MemoryBank(store, namespace).merge(ids)") as store:
        memory = filled_bank(store, namespace)
        names = [_lesson(memory, parse_id(name), namespace).id for name in ids]
        if undo:
            back = [one for name in names for one in memory.undo_merge(name)]
            console.print(
                f"{plural(len(back), 'lesson')} now active" + "".join(f"\n  {format_id(one)}" for one in back)
            )
        else:
            merged = memory.merge(names, title=title, description=description, content=content)
            console.print(f"{plural(len(set(names)), 'lesson')} merged into\n  {format_id(merged.id)}")


def _lesson(memory: MemoryBank, name: str, namespace: str) -> MemoryItem:
    item = memory.get(name) if name else None
    if item is None:
        raise _unknown("ID", name, namespace)
    return item


def _unknown(option: str, name: str, namespace: str) -> typer.BadParameter:
    problem = f"there is no {name!r} in {namespace!r}: `bank show` and `bank episodes` list the ids"
    return typer.BadParameter(problem, param_hint=option)


@bank_app.command()
def forget(
    namespace: _Namespace,
    item: Annotated[str | None, typer.Option(help="Id of a lesson or an episode.")] = None,
    thread: Annotated[str | None, typer.Option(help="Id of a thread, to delete all that it learned.")] = None,
    run: Annotated[str | None, typer.Option(help="Id of a run, to delete all that it learned.")] = None,
    experience: Annotated[str | None, typer.Option(help="Id of an experience, to delete all that it taught.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Delete all lessons of the namespace.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before --all.")] = False,
    cascade: Annotated[
        bool,
        typer.Option(
            "--cascade/--no-cascade", help="Also delete what was learned in runs that were shown these lessons."
        ),
    ] = True,
    harvest: Annotated[
        list[Path] | None, typer.Option(help="Harvest whose rows to name that came from these; give it again for more.")
    ] = None,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Delete lessons for good; `bank vacuum` then erases their text from the files.

    Nothing outside the namespace is deleted. Checkpoints that hold lessons, harvests and models are not touched.
    """
    options = {"item": item, "thread": thread, "run": run, "experience": experience}
    given = {name: parse_id(value) for name, value in options.items() if value is not None}
    if len(given) + everything != 1:
        raise typer.BadParameter("give exactly one of --item, --thread, --run, --experience and --all")
    with open_bank(bank) as store:
        memory = filled_bank(store, namespace)
        require_harvests(harvest or ())
        if everything:
            _forget_all(memory, yes=yes)
        else:
            _forget(memory, namespace, given, cascade=cascade)
        for folder in harvest or ():
            print_fed(folder, memory)


def _forget(memory: MemoryBank, namespace: str, given: Mapping[str, str], *, cascade: bool) -> None:
    ((option, name),) = given.items()
    before = _records(memory)
    if name not in {known_by(record)[option] for record in before.values()}:
        raise _unknown(f"--{option}", name, namespace)
    chosen: dict[str, Any] = {"id" if option == "item" else f"{option}_id": name}
    memory.forget(**chosen, cascade=cascade)
    gone = before.keys() - _records(memory).keys()
    removed = [record for key, record in before.items() if key in gone]
    console.print(f"{_count(removed)} removed" + "".join(f"\n  {format_id(record.id)}" for record in removed))


def _forget_all(memory: MemoryBank, *, yes: bool) -> None:
    place, guarded = format_namespace(memory.namespace), " and the counts of a guard" if memory.guards() else ""
    count = _count(_records(memory).values()) + guarded
    if not yes and not typer.confirm(f"Delete {count} of {place} for good?"):
        console.print("nothing was removed")
        raise typer.Exit(1)
    memory.forget_all()
    console.print(f"{count} removed from {place}")


def _records(memory: MemoryBank) -> dict[str, Known]:
    records: list[Known] = [*memory.pending(), *memory.items(), *memory.episodes()]
    return {record.id: record for record in records}


def _count(records: Collection[Known]) -> str:
    """Return how many records of each kind there are; lessons also if there are none."""
    kinds = {"lesson": MemoryItem, "episode": Episode, "waiting attempt": PendingAttempt}
    counts = {name: sum(isinstance(record, kind) for record in records) for name, kind in kinds.items()}
    told = [plural(count, name) for name, count in counts.items() if count or name == "lesson"]
    return " and ".join([", ".join(told[:-1]), told[-1]] if told[1:] else told)
