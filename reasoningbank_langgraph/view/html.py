"""Templates, in which text is text, and characters that hide or turn text around are shown as escapes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from reasoningbank_langgraph.text.visible import printable

FOLDER = Path(__file__).parent / "templates"


def _shown(value: Any) -> Any:
    """Return what stands on a page for a value: what a template made stays, and all else is text."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return "" if value is None else printable(str(value))


def address(path: str, **query: Any) -> str:
    """Return an address with its query, without what is empty."""
    given = {name: value for name, value in query.items() if value not in ("", None)}
    return f"{path}?{urlencode(given, errors='surrogatepass')}" if given else path


def short(text: str, chars: int) -> str:
    """Return a text in one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= chars else f"{line[: chars - 1]}…"


ENVIRONMENT = Environment(
    loader=FileSystemLoader(FOLDER),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_shown,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.globals["address"] = address
ENVIRONMENT.filters["short"] = short


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a template filled with values."""
    return HTMLResponse(ENVIRONMENT.get_template(template).render(values), status)
