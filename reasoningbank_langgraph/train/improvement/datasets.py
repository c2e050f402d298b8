"""Training data of equal size for an adapter and for those it is compared with.

Each row of the adapter has a partner in the data of a control: one that chance draws from the few of about its length,
with its weight. So all learn as many rows, as often, and about as many tokens.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reasoningbank_langgraph.errors import TuneError
from reasoningbank_langgraph.files import write_whole
from reasoningbank_langgraph.train.rows import TRAIN, VALIDATION

_NEAREST = 5
"""Rows of about the wanted length that chance chooses from."""
Line = dict[str, Any]
"""A row of a harvest."""


def write_equal_sets(harvests: Mapping[str, Path], out: Path, seed: int) -> None:
    """Write a folder with `train.jsonl` and `validation.jsonl` for each harvest, all of equal size.

    Args:
        harvests: folders by name; the first is the one that the others are fitted to. Where another has fewer rows,
            chance leaves out some of it too.
        out: gets a folder for each name; files that are there are written anew.
        seed: of all choices.

    Raises:
        TuneError: a harvest has no row to train on or to validate with.
    """
    for file in (TRAIN, VALIDATION):
        pools = {name: _lines(folder / file) for name, folder in harvests.items()}
        if empty := [name for name, pool in pools.items() if not pool]:
            raise TuneError(f"{harvests[empty[0]]} has no rows in {file}: more problems or more samples give some")
        draw = random.Random(f"{file} {seed}")  # noqa: S311 - no secret
        first, *others = pools
        chosen = draw.sample(pools[first], min(map(len, pools.values())))
        _write(out / first / file, chosen)
        for name in others:
            _write(out / name / file, _partners(chosen, pools[name], draw))


def _partners(chosen: Sequence[Line], pool: Sequence[Line], draw: random.Random) -> list[Line]:
    """Return a row of the pool for each that was chosen; none is taken twice."""
    left, partners = list(pool), list[Line]()
    for row in sorted(chosen, key=length, reverse=True):  # the longest have the fewest that are like them
        near = sorted(left, key=lambda other: abs(length(other) - length(row)))[:_NEAREST]
        partner = draw.choice(near)
        left.remove(partner)
        partners.append({**partner, "weight": row["weight"]})
    return partners


def length(row: Line) -> int:
    """Return the characters that a row teaches."""
    return sum(len(message["content"]) for message in row["completion"])


def characters_taught(folder: Path) -> int:
    """Return the characters that an epoch of a training set teaches, each row as often as it weighs."""
    return sum(row["weight"] * length(row) for row in _lines(folder / TRAIN))


def _lines(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def _write(path: Path, rows: Sequence[Line]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, "".join(json.dumps(row) + "\n" for row in rows))
