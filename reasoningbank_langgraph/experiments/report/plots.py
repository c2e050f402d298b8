"""Pictures of an experiment: what the arms reached, what more attempts bring, how the bank grows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph.experiments.arms import LEARNING, Arm, arms_of
from reasoningbank_langgraph.experiments.report.cycles_plot import cycles_plot
from reasoningbank_langgraph.experiments.report.drawing import DARK, LIGHT, Theme, canvas, key, png, share_axis, title
from reasoningbank_langgraph.experiments.report.terciles_plot import terciles_plot
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.experiments.stats import Interval
from reasoningbank_langgraph.experiments.summary import ArmSummary, Summary
from reasoningbank_langgraph.experiments.wording import points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACCURACY, SCALING, TOKENS, GROWTH = "accuracy.png", "scaling.png", "tokens.png", "bank_growth.png"
TERCILES, CYCLES = "terciles.png", "cycles.png"
_MARKS = {"plain": "o", "memory": "s", "control": "D", "scaling": "^", "both": "P"}

_LINES = {
    "plain": ("no memory", "none", False, False),
    "memory": ("with memory", "retrieved", False, False),
    "both": ("with a memory of MaTTS", "retrieved", True, False),
    "scaling": ("with an example", "examples", False, True),
}
"""Lines of the picture of scaling: what they are called, and the `memory`, `matts` and `copies` of what they join."""


class Picture(NamedTuple):
    """One picture in both appearances."""

    light: bytes
    dark: bytes
    says: str
    """What a reader who does not see it should know."""


def draw(rows: Sequence[ResultRow], summary: Summary) -> dict[str, Picture]:
    """Return the pictures that this experiment has, by file name, as PNG.

    Raises:
        MissingDependencyError: the extra `experiments` is not installed.
    """
    kinds: dict[str, Callable[[Sequence[ResultRow], Summary, Theme], tuple[Figure, str] | None]] = {
        ACCURACY: _accuracy,
        SCALING: _scaling,
        TOKENS: _tokens,
        TERCILES: terciles_plot,
        CYCLES: cycles_plot,
        GROWTH: _stream if summary.config.protocol == "stream" else _bank_sizes,
    }
    drawn = {name: (kind(rows, summary, LIGHT), kind(rows, summary, DARK)) for name, kind in kinds.items()}
    return {
        name: Picture(png(light[0]), png(dark[0]), light[1])
        for name, (light, dark) in drawn.items()
        if light is not None and dark is not None
    }


def _accuracy(_: Sequence[ResultRow], summary: Summary, theme: Theme) -> tuple[Figure, str] | None:
    """Arms with their intervals above, differences to the first arm below."""
    arms = [arm for arm in summary.arms if arm.compared]
    if not arms:
        return None
    first = [
        comparison for comparison in summary.comparisons if comparison.against == arms[0].arm and comparison.difference
    ]
    height = 0.34 * len(arms) + 0.85
    figure, axes = canvas([height, 0.34 * len(first) + 0.95] if first else [height], theme)
    title(axes[0], "Accuracy, with 95 % interval", theme)
    _forest(axes[0], [(arm.arm, arm.accuracy, f"{arm.accuracy.value:.2f}") for arm in arms], summary, theme)
    share_axis(axes[0].xaxis)
    if first:
        title(axes[1], f"Difference from {arms[0].arm}, in points", theme)
        lines = [(comparison.arm, _hundredfold(comparison.difference)) for comparison in first if comparison.difference]
        _forest(axes[1], [(arm, line, points(line.value / 100)) for arm, line in lines], summary, theme)
        _around_zero(axes[1], [line for _, line in lines], theme)
    values = "; ".join(f"{arm.arm} {arm.accuracy.value:.2f}" for arm in arms)
    return figure, f"Accuracy of each arm with its interval: {values}."


def _forest(axes: Axes, lines: Sequence[tuple[str, Interval, str]], summary: Summary, theme: Theme) -> None:
    kinds = {arm.name: _kind(arm) for arm in arms_of(summary.config)}
    for place, (arm, line, label) in enumerate(lines):
        kind = kinds.get(arm, "plain")
        colour = getattr(theme, kind)
        axes.hlines(place, line.low, line.high, color=colour, linewidth=2.6, alpha=0.55)
        axes.plot(line.value, place, _MARKS[kind], color=colour, markersize=7.5, clip_on=False)
        axes.annotate(
            label,
            (1.035, place),
            xycoords=("axes fraction", "data"),
            va="center_baseline",
            fontsize=10.5,
            color=theme.ink,
        )
    axes.set_yticks(range(len(lines)), [arm for arm, _, _ in lines])
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _around_zero(axes: Axes, lines: Sequence[Interval], theme: Theme) -> None:
    ends = [0.0, *(end for line in lines for end in (line.low, line.high))]
    room = max(2.0, 0.08 * (max(ends) - min(ends)))
    axes.set_xlim(min(ends) - room, max(ends) + room)
    axes.axvline(0, color=theme.ink, linewidth=1.2)


def _scaling(_: Sequence[ResultRow], summary: Summary, theme: Theme) -> tuple[Figure, str] | None:
    """Accuracy and pass@k over the attempts, a panel for each mode."""
    summaries = {arm.arm: arm for arm in summary.arms}
    arms = [arm for arm in _arms_on_lines(summary) if arm.name in summaries]
    modes = list(dict.fromkeys(arm.mode for arm in arms if arm.attempts > 1))
    if not modes:
        return None
    arms.sort(key=lambda arm: arm.attempts)
    figure, axes = canvas([2.5] * (len(modes) - 1) + [2.9], theme)
    for axis, mode in zip(axes, modes, strict=True):
        title(axis, f"{mode.capitalize()} attempts: accuracy and pass@k", theme)
        on_panel = [arm for arm in arms if arm.bank is None and (arm.attempts == 1 or arm.mode == mode)]
        for place, (kind, (name, *_joined)) in enumerate(_LINES.items()):
            alike = [arm for arm in on_panel if _line_of(arm) == kind]
            ordered = [(arm.attempts + (place - 1) * 0.03, summaries[arm.name]) for arm in alike]
            _scaling_lines(axis, ordered, name, kind, theme)
        share_axis(axis.yaxis)
        axis.set_xticks(sorted({arm.attempts for arm in arms}))
        axis.margins(x=0.06)
    axes[-1].set_xlabel(_attempts_label(summary), fontsize=10.5, color=theme.muted)
    key(figure, theme)
    return figure, f"Accuracy and pass@k over the number of attempts, {' and '.join(modes)}; figures in the table."


def _scaling_lines(axes: Axes, arms: Sequence[tuple[float, ArmSummary]], name: str, kind: str, theme: Theme) -> None:
    if not arms:
        return
    colour, k, accuracy = getattr(theme, kind), [place for place, _ in arms], [arm.accuracy for _, arm in arms]
    axes.vlines(k, [one.low for one in accuracy], [one.high for one in accuracy], color=colour, alpha=0.35, linewidth=2)
    style: dict[str, Any] = {"color": colour, "markersize": 6, "clip_on": False}
    axes.plot(k, [one.value for one in accuracy], f"{_MARKS[kind]}-", label=f"accuracy, {name}", **style)
    any_right = [(arm.pass_at_k or arm.accuracy).value for _, arm in arms]
    axes.plot(k, any_right, f"{_MARKS[kind]}--", mfc=theme.surface, label=f"pass@k, {name}", **style)


def _attempts_label(summary: Summary) -> str:
    return "attempts" if summary.config.fixed_k else "attempts at most"


def _tokens(_: Sequence[ResultRow], summary: Summary, theme: Theme) -> tuple[Figure, str] | None:
    """Accuracy over what a problem costs in tokens, a line for each mode and memory."""
    arms = {arm.name: arm for arm in _arms_on_lines(summary)}
    found = [(arms[one.arm], one) for one in summary.arms if one.arm in arms and arms[one.arm].bank is None]
    lines = list(dict.fromkeys((arm.mode, _line_of(arm)) for arm, _ in found if arm.attempts > 1))
    if not lines:
        return None
    figure, (axes,) = canvas([2.9], theme)
    title(axes, "Accuracy over tokens of a problem", theme)
    for mode, kind in lines:
        alike = [point for point in found if _line_of(point[0]) == kind]
        on_line = [point for point in alike if point[0].attempts == 1 or point[0].mode == mode]
        _tokens_line(axes, mode, kind, sorted(on_line, key=lambda point: point[0].attempts), theme)
    share_axis(axes.yaxis)
    axes.set_xlim(left=0)
    axes.set_xlabel(
        f"tokens read and written; beside each point: {_attempts_label(summary)}", fontsize=9.5, color=theme.muted
    )
    key(figure, theme)
    return figure, "Accuracy over the tokens of a problem for each number of attempts; figures in the table."


def _arms_on_lines(summary: Summary) -> list[Arm]:
    """Those that differ in nothing but the attempts and the memory that all of these see."""
    ordinary = [arm for arm in arms_of(summary.config) if arm.use == "all" and not arm.more and not arm.levels]
    return [arm for arm in ordinary if not arm.guards and _line_of(arm)]


def _line_of(arm: Arm) -> str:
    alike = (arm.memory, arm.matts, arm.copies)
    return next((kind for kind, (_, *joined) in _LINES.items() if tuple(joined) == alike), "")


def _tokens_line(axes: Axes, mode: str, kind: str, arms: Sequence[tuple[Arm, ArmSummary]], theme: Theme) -> None:
    colour, mark, name = getattr(theme, kind), _MARKS[kind], f"{mode}, {_LINES[kind][0]}"
    tokens = [one.tokens_in + one.tokens_out for _, one in arms]
    accuracy = [one.accuracy.value for _, one in arms]
    style: dict[str, Any] = {
        "linestyle": "-" if mode == "parallel" else "--",
        "color": colour,
        "markersize": 6,
        "clip_on": False,
    }
    axes.plot(tokens, accuracy, marker=mark, label=name, **style)
    for (arm, _), x, y in zip(arms, tokens, accuracy, strict=True):
        axes.annotate(str(arm.attempts), (x, y), xytext=(4, 4), textcoords="offset points", fontsize=9, color=colour)


def _bank_sizes(rows: Sequence[ResultRow], summary: Summary, theme: Theme) -> tuple[Figure, str] | None:
    """Accuracy over the train problems a bank is made from."""
    summaries = {arm.arm: arm for arm in summary.arms}
    arms = [arm for arm in arms_of(summary.config) if arm.name in summaries and arm.attempts == 1]
    whole = sum(row.arm == LEARNING and row.error is None for row in rows) or summary.config.train_limit
    with_memory = [arm for arm in arms if arm.bank or arm.name == "memory"]
    sizes = [(arm.bank or whole, summaries[arm.name].accuracy) for arm in with_memory]
    if len(sizes) < 2:
        return None
    figure, (axes,) = canvas([2.9], theme)
    title(axes, "Accuracy over the size of the bank", theme)
    sizes.sort(key=lambda point: point[0])
    _with_bars(axes, [size for size, _ in sizes], [accuracy for _, accuracy in sizes], theme)
    for plain in (summaries[arm.name].accuracy for arm in arms if arm.name == "baseline"):
        axes.axhline(plain.value, color=theme.plain, linestyle="--", linewidth=1.6, label="no memory")
        axes.axhspan(plain.low, plain.high, color=theme.plain, alpha=0.12, linewidth=0)
    share_axis(axes.yaxis)
    axes.set_xlim(0, sizes[-1][0] * 1.06)
    axes.set_xlabel("train problems the bank was made from", fontsize=10.5, color=theme.muted)
    key(figure, theme)
    values = "; ".join(f"{size} problems {accuracy.value:.2f}" for size, accuracy in sizes)
    return figure, f"Accuracy with banks made from more and more train problems: {values}."


def _with_bars(axes: Axes, places: Sequence[int], shares: Sequence[Interval], theme: Theme) -> None:
    low, high = [one.low for one in shares], [one.high for one in shares]
    axes.vlines(places, low, high, color=theme.memory, alpha=0.45, linewidth=2.4)
    style: dict[str, Any] = {"color": theme.memory, "markersize": 7, "clip_on": False}
    axes.plot(places, [one.value for one in shares], "s-", label="with memory", **style)


def _stream(rows: Sequence[ResultRow], summary: Summary, theme: Theme) -> tuple[Figure, str] | None:
    """Running accuracy above, the bank below, over the problems in their order."""
    arms = [arm for arm in arms_of(summary.config) if any(row.arm == arm.name for row in rows)]
    if not arms:
        return None
    figure, (above, below) = canvas([2.3, 1.9], theme, share_x=True)
    title(above, "Accuracy so far, in the order of the stream", theme)
    title(below, "Items in the bank", theme)
    for arm in arms:
        of_arm, kind = [row for row in rows if row.arm == arm.name and row.error is None], _kind(arm)
        style = {"color": getattr(theme, kind), "linewidth": 2, "linestyle": "-" if arm.memory != "none" else "--"}
        above.plot(*_over_the_stream(_running(of_arm)), label=arm.name, **style)
        if arm.memory != "none":
            below.plot(*_over_the_stream((row.position, row.bank + row.learned) for row in of_arm), **style)
    share_axis(above.yaxis)
    below.set_ylim(bottom=0)
    below.set_xlabel("problems worked on", fontsize=10.5, color=theme.muted)
    key(figure, theme)
    return figure, "Running accuracy of each arm over the stream, and how the bank grew; final figures in the table."


def _running(rows: Sequence[ResultRow]) -> Iterator[tuple[int, float]]:
    """Yield each position with the share right up to it, seed by seed."""
    for seed in {row.seed for row in rows}:
        ordered = sorted((row for row in rows if row.seed == seed), key=lambda row: row.position)
        for count, (row, right) in enumerate(zip(ordered, accumulate(row.right for row in ordered), strict=True), 1):
            yield row.position, right / count


def _over_the_stream(values: Iterable[tuple[int, float]]) -> tuple[list[int], list[float]]:
    """Return how many problems were worked on, and the mean over the seeds at each."""
    at: dict[int, list[float]] = defaultdict(list)
    for position, value in values:
        at[position + 1].append(value)
    return sorted(at), [fmean(at[count]) for count in sorted(at)]


def _hundredfold(line: Interval | None) -> Interval:
    assert line is not None  # noqa: S101 - left out before
    return line.model_copy(update={name: getattr(line, name) * 100 for name in ("value", "low", "high")})


def _kind(arm: Arm) -> str:
    if arm.attempts > 1:
        return "scaling" if arm.memory == "none" else "both"
    return {"none": "plain", "retrieved": "memory", "examples": "memory"}.get(arm.memory, "control")
