"""The folder of a harvest: files that TRL reads, and the card last, so that it is whole or none."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reasoningbank_langgraph.errors import HarvestError
from reasoningbank_langgraph.experiments.folder import alone_in
from reasoningbank_langgraph.store.folder.lock import LOCK_FILE
from reasoningbank_langgraph.train.harvest.card import CARD, PAGE, DataFile, Harvest, Origin
from reasoningbank_langgraph.train.harvest.solutions import Solution
from reasoningbank_langgraph.train.rows import TRAIN, VALIDATION

PREFERENCES, VALIDATION_PREFERENCES = "preferences.jsonl", "validation_preferences.jsonl"
_DRAFT = f"{CARD}.part"
"""It is there from the first: what lies beside it is of a harvest that did not come to its end."""
_OWN = (TRAIN, VALIDATION, PREFERENCES, VALIDATION_PREFERENCES, PAGE)


class Row(NamedTuple):
    """One line of a file, and the solutions it was made of."""

    content: Mapping[str, Any]
    solutions: Sequence[Solution]
    weight: int = 1

    @property
    def id(self) -> str:
        """Digest of what it says."""
        return hashlib.sha256(json.dumps(self.content, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def line(self) -> str:
        """What stands in the file."""
        return json.dumps({**self.content, "weight": self.weight, "id": self.id}) + "\n"

    @property
    def task(self) -> str:
        """Key of its task."""
        return self.solutions[0].key


def check_free(folder: Path) -> None:
    """Refuse a folder that holds a harvest or other things; what a harvest left that was killed is no obstacle.

    Raises:
        HarvestError: there is something else.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise HarvestError(f"{folder} is no folder: name a new one")
    if (folder / CARD).exists():
        raise HarvestError(
            f"{folder} holds a harvest already, and what was trained with it names it: name a new folder"
        )
    own = {LOCK_FILE, *([_DRAFT, *_OWN] if (folder / _DRAFT).exists() else [])}
    if others := sorted({path.name for path in folder.iterdir()} - own):
        raise HarvestError(f"{folder} holds other things ({', '.join(others[:3])}): name a new folder")


def write(
    folder: Path, files: Mapping[str, Sequence[Row]], card: Harvest, prompt: Sequence[Mapping[str, str]]
) -> Harvest:
    """Write the files that have rows, for their owner alone, and then the card; return it.

    A folder without a card is no harvest: the same call makes it anew.

    Raises:
        HarvestError: another process harvests into the folder, or did since it was found free.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with alone_in(folder, HarvestError):
        check_free(folder)
        (folder / _DRAFT).touch(mode=0o600)
        for name in _OWN:
            (folder / name).unlink(missing_ok=True)
        filled = {name: rows for name, rows in files.items() if rows}
        told = {name: _write_rows(folder / name, rows) for name, rows in filled.items()}
        origins = tuple(origin for name, rows in filled.items() for origin in _origins(name, rows))
        card = card.model_copy(update={"files": told, "rows": origins})
        _write(folder / PAGE, card.page(prompt))
        _write(folder / _DRAFT, json.dumps(card.to_json(), indent=1) + "\n")
        (folder / _DRAFT).replace(folder / CARD)
    return card


def _write_rows(path: Path, rows: Sequence[Row]) -> DataFile:
    text = "".join(row.line for row in rows)
    _write(path, text)
    tasks = {row.task for row in rows}
    return DataFile(rows=len(rows), tasks=len(tasks), sha256=hashlib.sha256(text.encode()).hexdigest())


def _origins(name: str, rows: Sequence[Row]) -> list[Origin]:
    return [
        Origin(
            file=name,
            line=number,
            id=row.id,
            task=row.task,
            weight=row.weight,
            sources=tuple(solution.source for solution in row.solutions),
        )
        for number, row in enumerate(rows, 1)
    ]


def _write(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
