"""How every picture looks: narrow enough for a phone, in light and dark, told apart without colour."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph.errors import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 4.8
"""Inches: at the 360 pixels of a phone a point of type is a pixel."""
_DPI = 220


class Theme(NamedTuple):
    """Colours of one appearance; those of arms keep apart for colour-blind eyes (Okabe and Ito)."""

    ink: str
    muted: str
    grid: str
    surface: str
    plain: str
    memory: str
    control: str
    scaling: str
    both: str


LIGHT = Theme("#1b1f24", "#57606a", "#dfe3e8", "#ffffff", "#57606a", "#0072b2", "#b35f00", "#8a4f7d", "#00795a")
DARK = Theme("#e8eaed", "#a3acb8", "#343b44", "#171b21", "#a3acb8", "#56b4e9", "#e69f00", "#cc9fc4", "#2fc59b")


def canvas(panels: list[float], theme: Theme, *, share_x: bool = False) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels of the given heights in inches, one below the other."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise MissingDependencyError("matplotlib", "experiments") from error
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.12, hspace=0.04)
    figure = Figure(figsize=(WIDTH, sum(panels)), dpi=_DPI, facecolor=theme.surface, layout=layout)
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(panels), 1, squeeze=False, sharex=share_x, height_ratios=panels)
    return figure, [_styled(axis, theme) for axis in axes[:, 0]]


def title(axes: Axes, text: str, theme: Theme) -> None:
    """Put a title at the left edge of the picture."""
    axes.annotate(
        text,
        (0, 1),
        xytext=(0.02, 9),
        xycoords=("figure fraction", "axes fraction"),
        textcoords=("figure fraction", "offset points"),
        fontsize=12,
        fontweight="bold",
        color=theme.ink,
    )


def key(figure: Figure, theme: Theme) -> None:
    """Explain the lines of the first panel below the picture."""
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=2,
        frameon=False,
        fontsize=10,
        labelcolor=theme.ink,
        handlelength=2.4,
        columnspacing=1.4,
    )


def share_axis(axis: Any) -> None:
    """Let an axis run from 0 to 1 in quarters."""
    axis.axes.set(**{f"{axis.axis_name}lim": (0, 1)})
    axis.set_ticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])


def png(figure: Figure) -> bytes:
    """Return the picture; equal figures give equal bytes."""
    target = BytesIO()
    figure.savefig(target, format="png", metadata={"Software": None})
    return target.getvalue()


def _styled(axes: Axes, theme: Theme) -> Axes:
    axes.set_facecolor(theme.surface)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(theme.grid)
    axes.tick_params(length=0, labelsize=10.5, colors=theme.ink)
    axes.grid(color=theme.grid, linewidth=0.8)
    axes.set_axisbelow(True)
    return axes
