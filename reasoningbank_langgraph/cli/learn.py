"""`reasoningbank learn`: lessons from the threads that a checkpointer holds."""

from __future__ import annotations

import importlib
import importlib.util
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reasoningbank_langgraph.cli.bank import DEFAULT_FOLDER, BankFolder, open_to_embed, progress_bar
from reasoningbank_langgraph.cli.identifiers import format_id, parse_namespace
from reasoningbank_langgraph.cli.model import TIME_LIMIT, loaded_model
from reasoningbank_langgraph.cli.solve_report import plural, shorten
from reasoningbank_langgraph.cli.terminal import console, named_errors
from reasoningbank_langgraph.cli.upkeep.encryption import checkpoint_serializer
from reasoningbank_langgraph.errors import MissingDependencyError
from reasoningbank_langgraph.text import redact_secrets

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from reasoningbank_langgraph.learn import Coverage

_POSTGRES = ("postgres://", "postgresql://")
_LISTED = 30
"""Attempts left out that are named one by one."""


def learn(
    threads: Annotated[
        str, typer.Argument(help="SQLite file of a checkpointer, or the postgresql:// URL of one. It is only read.")
    ],
    namespace: Annotated[
        str, typer.Option(help="Labels of the bank with / between them; those in braces come from each thread.")
    ],
    graph: Annotated[
        str | None, typer.Option(metavar="MODULE:NAME", help="The graph that made them, as langgraph.json names it.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model that judges and distils, named as in `solve`.")] = None,
    since: Annotated[
        str | None,
        typer.Option(help="Begin at this time, such as 2026-01-31, in UTC; by default where the last call ended."),
    ] = None,
    bank: BankFolder = DEFAULT_FOLDER,
) -> None:
    """Learn from old threads, those of graphs without a memory too: judge and distil what was not learned yet.

    Without --graph the threads hold messages. If interrupted, run it again to resume. The packaged embedder must be
    that of the bank; if there is no bank yet, it is made.
    """
    from reasoningbank_langgraph.learn import learn_from_threads

    begin, made_by = _time(since), None if graph is None else _graph(graph)
    with (
        named_errors(),
        _postgres(threads) if threads.startswith(_POSTGRES) else _sqlite(Path(threads)) as saver,
        open_to_embed(bank, "learn_from_threads(...)") as store,
        loaded_model(model) as resolved,
        progress_bar("threads") as update,
    ):
        coverage = learn_from_threads(
            made_by,
            model=resolved.chat,
            checkpointer=saver,
            store=store,
            namespace=tuple(parse_namespace(namespace)),
            since=begin,
            max_concurrency=resolved.at_once,
            time_limit=TIME_LIMIT,
            progress=update,
        )
    _report(coverage)
    if "outage" in coverage.reasons:
        raise typer.Exit(1)


def _report(coverage: Coverage) -> None:
    done = f"{plural(coverage.learned, 'attempt')} learned from, {plural(coverage.lessons, 'lesson')} written"
    console.print(f"{plural(coverage.threads, 'thread')} read: {done}, {coverage.skipped} left out")
    for reason, count in sorted(coverage.reasons.items()):
        console.print(f"  {reason}: {count}")
    for skip in coverage.skips[:_LISTED]:
        why = f": {shorten(skip.why, 200)}" if skip.why else ""
        console.print(f"    thread {format_id(skip.thread_id)} {skip.reason}{why}")
    if (more := len(coverage.skips) - _LISTED) > 0:
        console.print(f"    and {more} more")


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no time: write 2026-01-31 or 2026-01-31T18:00+01:00") from error
    return moment.replace(tzinfo=moment.tzinfo or UTC)


def _graph(name: str) -> Any:
    """Return the graph of this name; a function without arguments is called for it."""
    module, _, attribute = name.rpartition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        graph = getattr(_module(module), attribute)
    except (ImportError, AttributeError, OSError, ValueError) as error:
        problem = f"{name!r} names no graph: {error}; write ./folder/file.py:name or package.module:name"
        raise typer.BadParameter(problem, param_hint="--graph") from error
    finally:
        sys.path.pop(0)
    return graph if hasattr(graph, "channels") or not callable(graph) else graph()


def _module(name: str) -> Any:
    if not name.endswith(".py"):
        return importlib.import_module(name)
    path = Path(name)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{name} is no module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _sqlite(file: Path) -> Iterator[BaseCheckpointSaver[Any]]:
    from langgraph.checkpoint.sqlite import SqliteSaver

    if not file.is_file():
        raise typer.BadParameter(f"there is no file {file}", param_hint="THREADS")
    with closing(
        sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, check_same_thread=False)
    ) as connection:
        try:  # the checkpointer would make the tables that it misses, in whatever file it is given
            connection.execute("SELECT 1 FROM checkpoints LIMIT 1")
        except sqlite3.Error as error:
            raise typer.BadParameter(f"{file} is no file of a checkpointer: {error}", param_hint="THREADS") from error
        yield SqliteSaver(connection, serde=checkpoint_serializer())


@contextmanager
def _postgres(url: str) -> Iterator[BaseCheckpointSaver[Any]]:
    try:
        import psycopg
        from langgraph.checkpoint.postgres import PostgresSaver
        from psycopg.rows import dict_row
    except ImportError as error:
        raise MissingDependencyError("langgraph-checkpoint-postgres", "postgres") from error
    try:
        with psycopg.connect(url, autocommit=True, prepare_threshold=0, row_factory=dict_row) as connection:
            connection.execute("SELECT 1 FROM checkpoints LIMIT 1")
            yield PostgresSaver(connection, serde=checkpoint_serializer())
    except psycopg.Error as error:
        problem = redact_secrets(f"{type(error).__name__}: {error}").text
        raise typer.BadParameter(f"the database cannot be read: {problem}", param_hint="THREADS") from error
