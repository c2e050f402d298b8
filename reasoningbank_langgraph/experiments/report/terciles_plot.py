"""The picture of where a memory helps: the difference it makes in three parts of the problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.experiments.report.drawing import Theme, canvas, key, title
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.experiments.summary import By, Summary, Tercile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TITLES: dict[By, str] = {
    "similarity": "Points gained, by similarity of the nearest task",
    "reply length": "Points gained, by length of the replies",
}
_MARKS, _COLOURS = "soD^Pv", ("memory", "control", "scaling", "both", "plain")


def terciles_plot(_: Sequence[ResultRow], summary: Summary, theme: Theme) -> tuple[Figure, str] | None:
    """Return a panel for each order of the problems: differences with their intervals, a mark for each arm."""
    orders = list(dict.fromkeys(part.by for part in summary.terciles))
    if not orders:
        return None
    figure, axes = canvas([2.4] * (len(orders) - 1) + [2.8], theme)
    arms = list(dict.fromkeys(part.arm for part in summary.terciles))
    for axis, by in zip(axes, orders, strict=True):
        title(axis, _TITLES[by], theme)
        for place, arm in enumerate(arms):
            parts = [part for part in summary.terciles if (part.by, part.arm) == (by, arm)]
            _arm(axis, parts, place, len(arms), theme)
        axis.axhline(0, color=theme.ink, linewidth=1.2)
        axis.set_xticks(range(3), ["lowest third", "middle third", "highest third"])
        axis.set_xlim(-0.5, 2.5)
    key(figure, theme)
    return (
        figure,
        f"Difference of accuracy by {' and by '.join(orders)}, in thirds of the problems; figures in the table.",
    )


def _arm(axes: Axes, parts: Sequence[Tercile], place: int, arms: int, theme: Theme) -> None:
    colour = getattr(theme, _COLOURS[place % len(_COLOURS)])
    places = [third + 0.12 * (place - (arms - 1) / 2) for third in range(len(parts))]
    found = [(where, part.difference) for where, part in zip(places, parts, strict=True) if part.difference]
    style: dict[str, Any] = {"color": colour, "markersize": 6.5, "linestyle": ""}
    for where, line in found:
        axes.vlines(where, line.low * 100, line.high * 100, color=colour, linewidth=2.2, alpha=0.5)
    marks = [line.value * 100 for _, line in found]
    label = f"{parts[0].arm} over {parts[0].against}" if parts else None
    axes.plot([where for where, _ in found], marks, _MARKS[place % len(_MARKS)], label=label, **style)
