"""What an adapter was made from and how well it fits, for programs and for readers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from reasoningbank_langgraph.errors import AdapterError
from reasoningbank_langgraph.files import write_whole
from reasoningbank_langgraph.local.tuned import CARD

if TYPE_CHECKING:
    from pathlib import Path

_README = """\
# {name}

A LoRA adapter of `{base}`, made by `reasoningbank tune`.

- base: SHA-256 `{base_sha256}`; the adapter fits no other weights
- data: {train} rows to train on and {validation} to validate with, {left_out} left out as too long; SHA-256 \
`{data_sha256}`
- settings: {told}
- validation loss: {before:.4f} without the adapter, {after:.4f} with it, after {best_step} of {steps} steps
- it took {minutes:.1f} minutes on {device} and {memory:.2f} GB of memory at the peak

In this folder: the adapter for PEFT (`adapter_model.safetensors`, `adapter_config.json`), the same for llama.cpp
(`{adapter}`), and all of this page for programs (`card.json`).

| step | loss | validation loss |
|---|---|---|
"""


class Point(NamedTuple):
    """The losses after a number of steps: of the last batch, and of the validation rows where it was computed."""

    step: int
    loss: float | None
    validation_loss: float


@dataclass(frozen=True)
class Card:
    """What an adapter was made from and how well it fits; `card.json` in its folder."""

    name: str
    base: str
    """File or folder of the base."""
    base_sha256: str
    adapter: str
    """File of llama.cpp in the folder."""
    settings: dict[str, Any]
    data_sha256: str
    train: int
    """Rows it was trained on."""
    validation: int
    """Rows that told when to stop."""
    left_out: int
    """Rows with more tokens than `longest`."""
    curve: list[Point]
    best_step: int
    """After which the validation loss was lowest: the weights are those of this step."""
    steps: int
    """How many were taken."""
    seconds: float
    """Of the last process that worked on it: one that was killed is not counted."""
    peak_bytes: int
    """Memory of the process at its peak, and on a GPU what was allocated there as well."""
    device: str
    versions: dict[str, str]
    data: str = ""
    """File or folder of the data; "" where it is not known."""
    tasks: list[str] = field(default_factory=list)
    """Keys of the tasks in the data: equal for texts that differ in case or spacing only."""

    @property
    def before(self) -> float:
        """The validation loss of the base."""
        return self.curve[0].validation_loss

    @property
    def after(self) -> float:
        """The validation loss with the adapter."""
        return next(point.validation_loss for point in self.curve if point.step == self.best_step)

    def write(self, folder: Path) -> None:
        """Write `README.md` and then `card.json`, which says that the folder is whole."""
        told = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        head = {"before": self.before, "after": self.after, "minutes": self.seconds / 60, "told": told}
        text = _README.format(**asdict(self), **head, memory=self.peak_bytes / 1e9)
        for step, loss, validation in self.curve:
            text += f"| {step} | {'' if loss is None else f'{loss:.4f}'} | {validation:.4f} |\n"
        (folder / "README.md").write_text(text, encoding="utf-8")
        write_json(folder / CARD, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the card of a folder; None where it has none, as its adapter is not finished.

        Raises:
            AdapterError: it is of other things, damaged, or of a version that writes other cards.
        """
        if not (folder / CARD).exists():
            return None
        try:
            values = json.loads((folder / CARD).read_text(encoding="utf-8"))
            return cls(**values | {"curve": [Point(*point) for point in values["curve"]]})
        except (ValueError, TypeError, KeyError) as error:
            problem = f"is no card of an adapter that this version reads ({type(error).__name__}: {error!s:.200})"
            raise AdapterError(f"{folder / CARD} {problem}: bring it back, or tune in another folder") from error


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write a file that is whole as soon as it is there."""
    write_whole(path, json.dumps(values, indent=2) + "\n")
