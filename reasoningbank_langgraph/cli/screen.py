"""The terminal: where commands print, and how they end when something is wrong."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

from reasoningbank_langgraph.errors import ReasoningBankError

console = Console(soft_wrap=True, highlight=False)


@contextmanager
def named_errors() -> Iterator[None]:
    """Show an error of this package, of the disk or of a damaged file in one line and end with exit code 1."""
    try:
        yield
    except (ReasoningBankError, OSError, UnicodeError, sqlite3.Error) as error:
        console.print(f"Error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(1) from error
