"""The consoles of all commands, which show control characters instead of obeying them, and bars and errors on them."""

from __future__ import annotations

import logging
import sqlite3
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.segment import Segment
from typer.core import TyperGroup

from reasoningbank_langgraph.errors import ReasoningBankError
from reasoningbank_langgraph.text.visible import printable


class SafeConsole(Console):
    """Prints text as it is: no markup, and a character that would control the terminal as its escape."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, soft_wrap=True, highlight=False, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as rich does, which all printing goes through, tables and progress bars too."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


console, error_console = SafeConsole(), SafeConsole(stderr=True)


class Commands(TyperGroup):
    """A group of commands whose usage errors are made printable, as they may quote files and labels."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            error.message = printable(error.message)
            raise


# Of Click, or of the copy that newer versions of Typer carry.
_UsageError: Any = typer.BadParameter.__base__


class _Warnings(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        error_console.print(self.format(record))


def prepare() -> None:
    """Print warnings and unexpected errors through the same consoles."""
    logging.basicConfig(level=logging.WARNING, handlers=[_Warnings()])
    sys.excepthook = lambda *error: error_console.print("".join(traceback.format_exception(*error)))


def progress_bar() -> Progress:
    """Return a bar with counts and times, which is removed in the end."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, TimeRemainingColumn(), console=console, transient=True)


@contextmanager
def named_errors() -> Iterator[None]:
    """Show an error of this package, of the disk or of a damaged file in one line and end with exit code 1."""
    try:
        yield
    except (ReasoningBankError, OSError, UnicodeError, sqlite3.Error) as error:
        error_console.print(f"Error: {error}", style="red")
        raise typer.Exit(1) from error
