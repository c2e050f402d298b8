"""A model that was tuned: the folder of an adapter, whose card names its base."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

from reasoningbank_langgraph.errors import ModelUnavailableError

SETTINGS, CARD = "settings.json", "card.json"
"""The files that a folder of an adapter has from the first, and when it is whole: that is written last."""


class Tuned(NamedTuple):
    """A base and its adapter, as `start_local_model` takes them."""

    base: Path
    adapter: Path | None
    """None for the base alone."""


def read_tuned(folder: Path) -> Tuned:
    """Return the files that the card of an adapter names.

    Raises:
        ModelUnavailableError: the card cannot be read, or the base is gone, is another file by now, or is no GGUF file.
    """
    try:
        card = card_values(folder)
        base, base_sha256, adapter = Path(card["base"]), card["base_sha256"], folder / card["adapter"]
    except (ValueError, TypeError, KeyError) as error:
        problem = "its card is damaged or of other things: name a folder of `reasoningbank tune`"
        raise ModelUnavailableError(str(folder), problem) from error
    if not base.is_file():
        way_out = "start_local_model(GGUF_OF_THE_BASE, adapter=...) serves it with a file that you name"
        raise ModelUnavailableError(str(folder), f"its base {base} is not a GGUF file on this disk: {way_out}")
    if digest(base) != base_sha256:
        problem = f"its base {base} is not the file that it was tuned on: an adapter fits no other weights"
        raise ModelUnavailableError(str(folder), problem)
    return Tuned(base, adapter)


def card_values(folder: Path) -> dict[str, Any]:
    """Return what the card in a folder says; that of an adapter names an `adapter`."""
    values: dict[str, Any] = json.loads((folder / CARD).read_text(encoding="utf-8"))
    return values


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of the files in a folder."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    files = sorted(child for child in path.iterdir() if child.is_file())
    return hashlib.sha256(repr([(file.name, digest(file)) for file in files]).encode()).hexdigest()
