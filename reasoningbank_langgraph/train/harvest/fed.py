"""Which rows of a harvest an attempt fed that is forgotten or tainted since."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from reasoningbank_langgraph.errors import HarvestError
from reasoningbank_langgraph.train.harvest.card import Origin, read_card
from reasoningbank_langgraph.train.harvest.solutions import Source

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank.reading import BankReader


class TaintedRow(NamedTuple):
    """A row of a harvest that should be learned from no longer."""

    row: Origin
    source: Source
    reason: str


class Taint:
    """What a bank says of its attempts now."""

    def __init__(self, bank: BankReader) -> None:
        items = bank.items()
        self._outcomes = {episode.id: episode.outcome for episode in bank.episodes()}
        self._status = {item.id: item.status for item in items}
        self._set_aside = {item.experience_id for item in items if item.status == "quarantined"}

    def reason(self, source: Source) -> str:
        """Return why nothing should be learned from an attempt, "" if it may."""
        if source.id not in self._outcomes:
            return "forgotten"
        if self._outcomes[source.id] != source.outcome:
            return f"judged a {self._outcomes[source.id]} since"
        if source.experience_id in self._set_aside:
            return "a lesson learned from it is quarantined"
        return next(self._of_shown(source), "")

    def _of_shown(self, source: Source) -> Iterator[str]:
        for name in source.shown:
            status = self._status.get(name) or ("active" if name in self._outcomes else "forgotten")
            if status in ("forgotten", "quarantined"):
                yield f"it was shown {name}, which is {status}"


def tainted_rows(harvest: str | os.PathLike[str], bank: BankReader) -> list[TaintedRow]:
    """Return the rows of a harvest that came from attempts of a bank which are forgotten or tainted since.

    Tainted is an attempt that was judged anew with another outcome, one with a quarantined lesson of its experience, or
    one that was shown a lesson which is quarantined or forgotten. Rows of experiments come from no bank and are not
    looked at. Files, and models that were trained with them, keep what they have: make the harvest anew, and the model.

    Args:
        harvest: its folder.
        bank: the bank it was made from, as it is now.

    Raises:
        HarvestError: there is no harvest, or it was made from another namespace.
    """
    card = read_card(Path(harvest))
    if card.namespace != tuple(bank.namespace):
        of = "/".join(card.namespace) or "experiments alone"
        raise HarvestError(f"{harvest} was made from {of}, and this bank is {'/'.join(bank.namespace)}")
    taint = Taint(bank)
    return [
        TaintedRow(row, source, reason)
        for row in card.rows
        for source in row.sources
        if source.kind == "episode" and (reason := taint.reason(source))
    ]
