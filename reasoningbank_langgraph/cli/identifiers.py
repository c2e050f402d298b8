"""Namespaces, ids and filters as they stand in a command: safe to print, and to be pasted back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote, unquote

import typer

from reasoningbank_langgraph.namespaces import Filled
from reasoningbank_langgraph.text.visible import is_invisible

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import Where
    from reasoningbank_langgraph.records import Episode, MemoryItem, PendingAttempt

    Known = Episode | MemoryItem | PendingAttempt

_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")

WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where", help="Only lessons of these: tags=NAME, scope=NAME or difficulty=NAME; give it again for more."
    ),
]


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


def parse_where(given: list[str] | None) -> Where:
    """Return what is asked for. Raises `typer.BadParameter` where it is no such form."""
    tags: list[str] = []
    others: dict[str, str] = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not value or name not in ("tags", "scope", "difficulty") or name in others:
            problem = f"{text!r} is none of tags=NAME, scope=NAME and difficulty=NAME; only tags can be given again"
            raise typer.BadParameter(problem, param_hint="--where")
        if name == "tags":
            tags.append(value)
        else:
            others[name] = value
    return {**others, "tags": tags} if tags else others


def known_by(record: Known) -> dict[str, str | None]:
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
