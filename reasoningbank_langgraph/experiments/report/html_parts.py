"""Pieces of HTML. Every text from outside passes `safe`, so that it is shown and never obeyed."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

LONGEST = 4000
"""Characters of one text that a page shows."""
# Controls, marks that turn or hide text, halves of characters, and code points that HTML forbids.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufdd0-\ufdef\ufeff\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)


def safe(text: object, limit: int = LONGEST) -> str:
    """Return a text as HTML: what cannot be seen is named, what is too long is cut with a note."""
    whole = str(text).replace("\r\n", "\n")
    cut = _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", whole[:limit])
    rest = f" … ({len(whole) - limit:,} further characters are in results.jsonl)" if len(whole) > limit else ""
    return html.escape(cut + rest)


def block(text: str, label: str = "") -> str:
    """Return a text that keeps its lines, in a direction of its own."""
    heading = f"<h5>{safe(label)}</h5>" if label else ""
    return f'{heading}<pre dir="auto">{safe(text)}</pre>'


def folded(label: str, inside: str, *, opened: bool = False, css: str = "") -> str:
    """Return HTML that a click opens; it works without scripts."""
    return f'<details class="{css}"{" open" if opened else ""}><summary>{label}</summary>{inside}</details>'


def section(name: str, title: str, *inside: str) -> str:
    """Return a part of the page that can be linked to."""
    return f'<section id="{name}"><h2>{safe(title)}</h2>{"".join(inside)}</section>'


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[str] = ()) -> str:
    """Return a table of finished HTML cells.

    Args:
        headings: of the columns; the first names the row.
        rows: cells as HTML.
        words: a sentence below each row, as text. Such a table becomes a row of cards on a narrow screen.
    """
    head = "".join(f'<th scope="col">{safe(heading)}</th>' for heading in headings)
    body = "".join(
        _row(headings, cells) + (_words(words[place], len(headings)) if words else "")
        for place, cells in enumerate(rows)
    )
    kind = "cards" if words else "plain"
    return f'<div class="wide"><table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _row(headings: Sequence[str], cells: Sequence[str]) -> str:
    name, *figures = cells
    shown = "".join(
        f'<td data-label="{safe(heading)}"><span>{cell}</span></td>'
        for heading, cell in zip(headings[1:], figures, strict=True)
    )
    return f'<tr><th scope="row">{name}</th>{shown}</tr>'


def _words(text: str, columns: int) -> str:
    return f'<tr class="words"><td colspan="{columns}">{safe(text)}</td></tr>'


def bullets(texts: Iterable[str]) -> str:
    """Return a list of texts."""
    return f"<ul>{''.join(f'<li>{safe(text)}</li>' for text in texts)}</ul>"
