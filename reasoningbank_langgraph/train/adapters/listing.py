"""The adapters of a folder: what each is, what was decided on it, and whether it is in use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from reasoningbank_langgraph.local.adapters import Decision, accepted, adapter_folders, read_history, require_adapters
from reasoningbank_langgraph.local.tuned import SETTINGS, digest
from reasoningbank_langgraph.records import Count, Record
from reasoningbank_langgraph.train.card import Card

State = Literal[
    "in use", "accepted earlier", "not tried", "not better", "rejected", "rolled back", "unfinished", "changed", "gone"
]
"""`accepted earlier`: what `rollback` goes back to; `changed`: its weights are not those that were decided on; `gone`:
its folder is no longer there."""


class Adapter(Record):
    """One adapter of a folder."""

    name: str
    state: State
    size: Count = 0
    """Bytes of its weights for llama.cpp."""
    validation_loss: tuple[float, float] | None = None
    """Without the adapter and with it, on the rows that told when to stop training."""
    decision: Decision | None = None
    """The last one on it."""


def list_adapters(folder: str | Path) -> list[Adapter]:
    """Return the adapters of a folder by name, with those that are unfinished and those that are gone.

    Raises:
        AdapterError: it is no folder of adapters; the history of the folder cannot be read, or the card of an adapter.
    """
    path = Path(folder).expanduser().absolute()
    require_adapters(path)
    history, finished = read_history(path), {one.name: one for one in adapter_folders(path)}
    begun = {settings.parent.name for settings in path.glob(f"*/{SETTINGS}")}
    names = sorted(finished.keys() | begun | {one.adapter for one in history})
    return [_adapter(name, finished.get(name), name in begun, history) for name in names]


def _adapter(name: str, folder: Path | None, begun: bool, history: Sequence[Decision]) -> Adapter:
    decision = next((one for one in reversed(history) if one.adapter == name), None)
    card = Card.read(folder) if folder else None
    weights = folder / card.adapter if folder and card else None
    if card is None or weights is None or not weights.is_file():
        unfinished = begun and card is None and decision is None
        return Adapter(name=name, state="unfinished" if unfinished else "gone", decision=decision)
    return Adapter(
        name=name,
        state=_state(decision, digest(weights), accepted(history)),
        size=weights.stat().st_size,
        validation_loss=(card.before, card.after),
        decision=decision,
    )


def _state(decision: Decision | None, sha256: str, standing: Sequence[Decision]) -> State:
    """Return the state of an adapter, given the last decision on it and those that stand."""
    if decision is None:
        return "not tried"
    if decision.sha256 != sha256:
        return "changed"
    if decision.adapter in [one.adapter for one in standing]:
        return "in use" if standing[-1].adapter == decision.adapter else "accepted earlier"
    # Accepted and no longer standing: the same weights were rejected under another name.
    return "rejected" if decision.outcome == "accepted" else decision.outcome
