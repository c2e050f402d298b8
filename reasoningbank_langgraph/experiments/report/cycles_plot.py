"""The picture of cycles: accuracy, the bank, what is fixed and broken, and how much the solutions still differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reasoningbank_langgraph.experiments.arms import CYCLE
from reasoningbank_langgraph.experiments.report.drawing import Theme, canvas, key, share_axis, title
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.experiments.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def cycles_plot(_: Sequence[ResultRow], summary: Summary, theme: Theme) -> tuple[Figure, str] | None:
    """Return the curves by cycle; None where there is no cycle."""
    cycles = summary.cycles
    if not cycles:
        return None
    figure, (accuracy, changed, bank, variety) = canvas([2.3, 1.7, 1.4, 1.7], theme, share_x=True)
    says = _accuracy(accuracy, summary, theme)
    _changed(changed, summary, theme)
    numbers = [one.cycle for one in cycles]
    title(bank, "Items in the bank", theme)
    bank.plot([0, *numbers], [0, *(one.bank for one in cycles)], "s-", color=theme.memory, clip_on=False)
    title(variety, "Variety of the solutions", theme)
    variety.plot(
        numbers, [one.distinct for one in cycles], "o-", color=theme.ink, clip_on=False, label="distinct, of a problem"
    )
    variety.plot(numbers, [one.repeated for one in cycles], "D--", color=theme.control, clip_on=False,
                 label="share repeated")  # fmt: skip
    for axes in (bank, changed, variety):
        axes.set_ylim(bottom=0)
    variety.set_xticks([0, *numbers])
    variety.set_xlabel("cycle; 0 is the base alone", fontsize=10.5, color=theme.muted)
    for axes in (changed, variety):
        axes.legend(frameon=False, fontsize=9.5, labelcolor=theme.ink)
    key(figure, theme)
    return figure, says


def _accuracy(axes: Axes, summary: Summary, theme: Theme) -> str:
    title(axes, "Accuracy on the test, with 95 % interval", theme)
    found = {int(arm.arm.removeprefix(CYCLE)): arm.accuracy for arm in summary.arms if arm.arm.startswith(CYCLE)}
    places = sorted(found)
    axes.vlines(places, [found[one].low for one in places], [found[one].high for one in places],
                color=theme.both, alpha=0.45, linewidth=2.4)  # fmt: skip
    axes.plot(places, [found[one].value for one in places], "P-", color=theme.both, clip_on=False, label="accuracy")
    accepted = [one.cycle for one in summary.cycles if one.accepted and one.cycle in found]
    axes.plot(accepted, [found[one].value for one in accepted], "P", color=theme.both, markersize=13, alpha=0.4,
              label="an adapter was accepted")  # fmt: skip
    share_axis(axes.yaxis)
    values = "; ".join(f"cycle {one} {found[one].value:.2f}" for one in places)
    return f"Accuracy, changes, bank and variety by cycle: {values}."


def _changed(axes: Axes, summary: Summary, theme: Theme) -> None:
    title(axes, "Fixed and broken since the base", theme)
    since = {int(one.arm.removeprefix(CYCLE)): one for one in summary.comparisons if one.group == "arm"}
    places = sorted(since)
    axes.plot(places, [len(since[one].fixed) for one in places], "^-", color=theme.memory, clip_on=False, label="fixed")
    axes.plot(
        places, [len(since[one].broken) for one in places], "D--", color=theme.control, clip_on=False, label="broken"
    )
