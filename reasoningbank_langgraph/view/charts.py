"""Curves over time, as of pairs and solved tasks, placed for a drawing: steps from one known value to the next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from reasoningbank_langgraph.view.snapshot import evenly

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import DatedCredit, DatedTrial

_WIDTH, _HEIGHT = 420, 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 36, _WIDTH - 112, 14, _HEIGHT - 24
_ROWS, _TICKS, _APART = 12, 4, 13


class Curve(NamedTuple):
    """A value that changes at some moments and else stays as it is."""

    name: str
    kind: str
    """Class of the style sheet that gives the colour."""
    points: Sequence[tuple[datetime, float]]
    """Oldest first."""


class Line(NamedTuple):
    """A curve in the drawing, with its name beside its end; places are in pixels."""

    name: str
    kind: str
    path: str
    said: str
    """The last value."""
    name_y: float


class Tick(NamedTuple):
    """A text beside an axis, or a mark above it."""

    place: float
    text: str
    anchor: str = "middle"


class Chart(NamedTuple):
    """Lines, axes, and the same as figures."""

    lines: Sequence[Line]
    across: Sequence[Tick]
    up: Sequence[Tick]
    marks: Sequence[Tick]
    rows: Sequence[tuple[datetime, Sequence[str]]]
    """Values at some moments, one for each line; the first and the last are among them."""
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    """Edges of the field between the axes."""
    right: int = _RIGHT
    top: int = _TOP
    bottom: int = _BOTTOM


class _Axes:
    """Where moments and values stand."""

    def __init__(self, curves: Sequence[Curve], *, share: bool) -> None:
        times = [time for curve in curves for time, _ in curve.points]
        self.share, self.start, self.end = share, min(times), max(times)
        highest = 1.0 if share else max(value for curve in curves for _, value in curve.points)
        self.step = 0.5 if share else _round(max(highest, 1.0) / _TICKS)
        self.top = self.step * math.ceil(max(highest, 1.0) / self.step)

    def x(self, time: datetime) -> int:
        span = (self.end - self.start) or timedelta(days=1)
        return round(_LEFT + (_RIGHT - _LEFT) * ((time - self.start) / span))

    def y(self, value: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * value / self.top, 1)

    def said(self, value: float) -> str:
        return f"{value:.0%}" if self.share else f"{value:.0f}"


def chart(curves: Iterable[Curve], *, share: bool = False, marks: Iterable[tuple[datetime, str]] = ()) -> Chart | None:
    """Place curves in one drawing; None if there is nothing to draw.

    Args:
        curves: each with its points; those without any are left out.
        share: whether values are parts of 1. Else they are counts that began with 0.
        marks: moments at which something happened, with its name.
    """
    known = [curve for curve in curves if curve.points]
    if not known:
        return None
    axes = _Axes(known, share=share)
    values = (step * axes.step for step in range(round(axes.top / axes.step) + 1))
    return Chart(
        lines=_lines(known, axes),
        across=_times(axes),
        up=[Tick(axes.y(value), axes.said(value)) for value in values],
        marks=[Tick(axes.x(time), name) for time, name in marks if axes.start <= time <= axes.end],
        rows=_rows(known, axes),
    )


def _lines(curves: Sequence[Curve], axes: _Axes) -> list[Line]:
    """Place lines, the highest end first, with the names of close ones apart."""
    lines, above = list[Line](), -math.inf
    for curve in sorted(curves, key=lambda one: -one.points[-1][1]):
        last = curve.points[-1][1]
        above = max(axes.y(last), above + _APART)
        lines.append(Line(curve.name, curve.kind, _path(curve, axes), axes.said(last), above))
    return lines


def _path(curve: Curve, axes: _Axes) -> str:
    """Return the steps of a curve, one for each pixel across at most."""
    places = {axes.x(time): axes.y(value) for time, value in curve.points}
    first = axes.x(curve.points[0][0])
    start = f"M{first} {places[first]}" if axes.share else f"M{_LEFT} {axes.y(0)}"
    return start + "".join(f"H{x}V{y}" for x, y in places.items()) + f"H{_RIGHT}"


def _times(axes: _Axes) -> list[Tick]:
    """Return the first moment, the middle one and the last, as exactly as it takes to tell them apart."""
    span = axes.end - axes.start
    if not span:
        return [Tick(_LEFT, f"{axes.start:%Y-%m-%d %H:%M:%S}", "start")]
    form = "%Y-%m-%d" if span > timedelta(days=3) else "%m-%d %H:%M" if span > timedelta(hours=1) else "%H:%M:%S"
    places = ((axes.start, "start"), (axes.start + span / 2, "middle"), (axes.end, "end"))
    return [Tick(axes.x(time), format(time, form), anchor) for time, anchor in places]


def _rows(curves: Sequence[Curve], axes: _Axes) -> list[tuple[datetime, list[str]]]:
    times = sorted({time for curve in curves for time, _ in curve.points})
    ordered = sorted(curves, key=lambda one: -one.points[-1][1])
    return [(time, [_value(curve, time, axes) for curve in ordered]) for time in evenly(times, _ROWS)]


def _value(curve: Curve, time: datetime, axes: _Axes) -> str:
    known = [value for moment, value in curve.points if moment <= time]
    return axes.said(known[-1] if known else 0) if known or not axes.share else ""


def _round(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, 20, 50 and so on that is not below a number."""
    unit = 10.0 ** max(0, math.floor(math.log10(least)))
    return next(unit * one for one in (1, 2, 5, 10) if unit * one >= least)


def pairs(said: Sequence[DatedCredit]) -> list[Curve]:
    """Return how many pairs memory had fixed and had broken by each moment."""
    fixed = accumulate(one.credit.right_with for one in said)
    broken = accumulate(one.credit.right_without for one in said)
    times = [one.time for one in said]
    return [
        Curve("fixed", "success", list(zip(times, fixed, strict=True))),
        Curve("broke", "failure", list(zip(times, broken, strict=True))),
    ]


def solved(trials: Iterable[DatedTrial]) -> list[Curve]:
    """Return the part of the tasks that were solved by each moment, with memory and without."""
    known = list(trials)
    return [
        _solved("with memory", "success", [one for one in known if one.shown]),
        _solved("without", "quiet", [one for one in known if not one.shown]),
    ]


def _solved(name: str, kind: str, trials: Sequence[DatedTrial]) -> Curve:
    rights = accumulate(one.right for one in trials)
    shares = (right / count for count, right in enumerate(rights, 1))
    return Curve(name, kind, list(zip((one.time for one in trials), shares, strict=True)))
