"""`reasoningbank model`, which lists local models and downloads them; and the model of any other command, loaded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from reasoningbank_langgraph.cli.terminal import console, error_console, named_errors
from reasoningbank_langgraph.errors import ModelUnavailableError
from reasoningbank_langgraph.local import packaged_model_path
from reasoningbank_langgraph.local.model_files import (
    HUB,
    MODEL_FILES,
    PACKAGED,
    ModelFile,
    default_directory,
    model_file,
    pull,
)

if TYPE_CHECKING:
    from reasoningbank_langgraph.local.model_choice import ResolvedModel

TIME_LIMIT = 600.0
"""Seconds for one call: a small machine may write three tokens a second."""
model_app = typer.Typer(help="List local models and download them.", no_args_is_help=True)

_Directory = Annotated[
    Path | None, typer.Option("--dir", help="Folder for model files.", show_default="~/.cache/reasoningbank/models")
]


@model_app.command("pull")
def pull_command(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(MODEL_FILES)}.")],
    base_url: Annotated[str, typer.Option("--from", help="Hugging Face hub, or a mirror with the same paths.")] = HUB,
    directory: _Directory = None,
) -> None:
    """Download a model file and verify its checksum; if interrupted, run it again to resume."""
    with named_errors():
        entry = model_file(name)
        # pip does not report progress to a pipe.
        with error_console.status(f"pip fetches {entry.repository}") if entry.member else nullcontext():
            path = pull(entry, base_url=base_url, directory=directory)
    console.print(f"{path}\nUse it with: --model {entry.name if directory is None else path}")


@model_app.command("list")
def list_command(directory: _Directory = None) -> None:
    """List the models that can be downloaded, and say which are on disk."""
    table = Table("name", "size", "on disk", "note", title=f"Models in {directory or default_directory()}")
    for entry in MODEL_FILES.values():
        table.add_row(entry.name, f"{entry.size / 1e6:,.0f} MB", _state(entry, directory), entry.note)
    console.print(table)


def _state(entry: ModelFile, directory: Path | None) -> str:
    path = entry.path(directory)
    part = path.with_name(f"{path.name}.part")
    if path.exists() or (entry.name == PACKAGED and _is_packaged()):
        return "yes"
    return f"{part.stat().st_size / entry.size:.0%}, pull again to resume" if part.exists() else "no"


def _is_packaged() -> bool:
    try:
        return packaged_model_path().exists()
    except ModelUnavailableError:
        return False


@contextmanager
def loaded_model(name: str | None) -> Iterator[ResolvedModel]:
    """Load the model that a command names, say which one it is, and end what was started for it."""
    from reasoningbank_langgraph.local.model_choice import resolve_model

    with console.status("loading the model"):
        resolved = resolve_model(name, temperature=0)
    with resolved:
        console.print(f"model: {resolved.description}")
        yield resolved
