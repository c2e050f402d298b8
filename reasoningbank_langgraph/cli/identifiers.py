"""Namespaces and ids in a form that is safe to print and can be pasted back into a command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import typer

from reasoningbank_langgraph.namespaces import Filled
from reasoningbank_langgraph.text.visible import is_invisible

if TYPE_CHECKING:
    from reasoningbank_langgraph.records import Episode, MemoryItem

_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def format_namespace(labels: Sequence[str]) -> str:
    """Return labels with / between them; what is not a letter, a digit or one of _-@+,: is written as %XX."""
    return "/".join(_format(label, "_-@+,:") for label in labels)


def parse_namespace(text: str) -> Filled:
    """Return the labels that `format_namespace` shows this way. Raises `typer.BadParameter` for no such form."""
    return Filled(parse_id(label) for label in text.split("/"))


def format_id(name: str) -> str:
    """Return an id in the same form, in which / and . stand for themselves."""
    return _format(name, "_-@+,:./")


def parse_id(text: str) -> str:
    """Return the id, or the label, that is shown this way. Raises `typer.BadParameter` for no such form."""
    if stray := _STRAY_PERCENT.search(text):
        place = text[stray.start() : stray.start() + 3]
        raise typer.BadParameter(f"{place!r} in {text!r}: two digits follow a %, and a % itself is written %25")
    try:
        return unquote(text, errors="surrogatepass")
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"{text!r} is no name that a bank shows: {error.reason}") from error


def known_by(record: MemoryItem | Episode) -> dict[str, str | None]:
    """Return the ids that a lesson or an episode is known by, named like the options of `bank forget`."""
    source = record.provenance
    return {"item": record.id, "experience": record.experience_id, "thread": source.thread_id, "run": source.run_id}


def as_options(record: MemoryItem | Episode) -> str:
    """Return these ids as options, to be pasted into a command."""
    return "  ".join(f"--{name} {format_id(value)}" for name, value in known_by(record).items() if value)


def _format(name: str, plain: str) -> str:
    start = "%2D" if name.startswith("-") else ""
    return start + "".join(_format_char(char, plain) for char in (name[1:] if start else name))


def _format_char(char: str, plain: str) -> str:
    if char in plain or (char.isalnum() and not is_invisible(char)):
        return char
    return quote(char, safe="", errors="surrogatepass")
