"""Adapters of one base side by side in a folder: what was decided on each, and which one is in use.

The folder has a file of decisions, one a line and never changed. What is in use follows from it alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from reasoningbank_langgraph.errors import AdapterError, InvalidRecordError
from reasoningbank_langgraph.files import whole_lines
from reasoningbank_langgraph.local.tuned import CARD, Tuned, card_values, digest, read_tuned
from reasoningbank_langgraph.records import Count, Record, Score, UtcDatetime, utc_now

HISTORY = "history.jsonl"
Outcome = Literal["accepted", "not better", "rejected", "rolled back"]
"""`accepted`, `not better`: what a trial found; `rejected`, `rolled back`: what a person decided."""


class RivalComparison(Record):
    """An adapter and a rival on the problems that both answered."""

    rival: str = ""
    """Name of another adapter, "" for the base."""
    rival_sha256: str
    problems: Count
    right: Count
    """With the adapter."""
    rival_right: Count
    fixed: Count
    """Right with the adapter, wrong with the rival."""
    broken: Count
    p: Score
    """Of McNemar's exact test, two-sided."""

    def is_better(self, level: float) -> bool:
        """Say whether the adapter is better, and chance does not explain it at this level."""
        return self.fixed > self.broken and self.p <= level


class AdapterTrial(Record):
    """What an adapter was tried on, and how it did against the base and against what was in use."""

    problems: str
    """Name of the file."""
    problems_sha256: str
    """Of all the problems that it was ever tried on, with their answers, and of how they were asked."""
    comparisons: tuple[RivalComparison, ...]
    left_out: Mapping[str, int] = {}
    """Problems of the file that were not asked, by reason: `same task`, `near copy` or `answer` where the adapter knows
    them from its data, `twice` where they are there again."""
    unchecked: str = ""
    """Why only equal texts were looked for; "" where near copies were too."""
    alpha: float
    level: float
    """What p is held against: `alpha`, halved for each earlier trial on other problems, with other answers or with
    another token limit."""

    @property
    def is_better(self) -> bool:
        """Whether the adapter is better than each rival."""
        return all(one.is_better(self.level) for one in self.comparisons)


class Decision(Record):
    """One line of the history."""

    at: UtcDatetime = Field(default_factory=utc_now)
    adapter: str
    """Name of its folder."""
    sha256: str
    """Of its weights."""
    base_sha256: str
    outcome: Outcome
    reason: str = ""
    """What a person said."""
    trial: AdapterTrial | None = None


def read_history(folder: Path) -> list[Decision]:
    """Return what was decided on the adapters of a folder, oldest first.

    Raises:
        AdapterError: a line is no decision.
    """
    found = []
    for number, line in enumerate(whole_lines(folder / HISTORY), 1):
        try:
            found.append(Decision.model_validate_json(line))
        except InvalidRecordError as error:
            raise AdapterError(f"{folder / HISTORY}, line {number}: no decision on an adapter: {error}") from error
    return found


def accepted(history: Sequence[Decision]) -> list[Decision]:
    """Return the decisions that stand: the last one is in use, and `rollback` goes back to the one before."""
    standing: list[Decision] = []
    for decision in history:
        if decision.outcome == "accepted":
            standing.append(decision)
        elif decision.outcome == "rolled back":
            del standing[-1:]
        elif decision.outcome == "rejected":
            standing = [one for one in standing if decision.adapter != one.adapter and decision.sha256 != one.sha256]
    return standing


def adapter_folders(folder: Path) -> list[Path]:
    """Return the folders of the adapters in a folder that are finished, by name."""
    return sorted(card.parent for card in folder.glob(f"*/{CARD}") if _is_of_adapter(card))


def require_adapters(folder: Path) -> None:
    """Refuse a path that is no folder of adapters. Raises `AdapterError`."""
    if not folder.is_dir():
        raise AdapterError(f"there is no folder {folder}")
    if (folder / CARD).is_file():
        raise AdapterError(f"{folder} is one adapter: name the folder that it lies in, {folder.parent}")


def holds_adapters(folder: Path) -> bool:
    """Say whether a path is a folder of adapters, of those that were decided on or of others."""
    return (folder / HISTORY).is_file() or bool(adapter_folders(folder))


def adapter_in_use(folder: str | Path) -> Tuned:
    """Return the base of a folder of adapters, and of these the one that is in use.

    Args:
        folder: holds folders that `reasoningbank tune` made, all of one base.

    Returns:
        The files, as `start_local_model` takes them; the adapter is None where none is accepted.

    Raises:
        AdapterError: what is in use is gone or has changed, or adapters of several bases or none are there.
        ModelUnavailableError: the base is gone, is another file by now, or is no GGUF file.
    """
    folder = Path(folder).expanduser().absolute()
    if not (standing := accepted(read_history(folder))):
        return Tuned(_common_base(folder), None)
    last, path = standing[-1], folder / standing[-1].adapter
    if not (path / CARD).is_file():
        raise AdapterError(f"{path} is in use and is not there: bring it back, or run {_way_back(folder)}")
    tuned = read_tuned(path)
    if tuned.adapter is None or not tuned.adapter.is_file() or digest(tuned.adapter) != last.sha256:
        problem = f"{path} is in use, and its weights are not those that were accepted on {last.at:%Y-%m-%d}"
        raise AdapterError(f"{problem}: bring them back, or run {_way_back(folder)}")
    return tuned


def _is_of_adapter(card: Path) -> bool:
    try:
        return "adapter" in card_values(card.parent)
    except ValueError:  # it is no JSON, so it is of something else
        return False


def _common_base(folder: Path) -> Path:
    folders = adapter_folders(folder)
    bases = {card_values(path)["base_sha256"]: path for path in folders}
    if len(bases) != 1:
        names = ", ".join(path.name for path in bases.values())
        problem = f"holds adapters of several bases ({names})" if bases else "holds no finished adapter"
        raise AdapterError(f"{folder} {problem}: a folder of adapters has one base")
    return read_tuned(folders[0]).base


def _way_back(folder: Path) -> str:
    return f"`reasoningbank adapter rollback {folder}`"
