"""What a record comes from and what came of it, placed for a drawing: earlier ones on the left, later ones right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from reasoningbank_langgraph.records import Episode

if TYPE_CHECKING:
    from reasoningbank_langgraph.view.snapshot import Snapshot

_STEPS, _ROWS = 2, 8
WIDTH, HEIGHT = 190, 46
_ACROSS, _DOWN, _EDGE, _BEND = WIDTH + 70, HEIGHT + 14, 30, 35


class Box(NamedTuple):
    """A record in the drawing; its place is that of the upper left corner, in pixels."""

    id: str
    kind: str
    """`lesson`, `attempt` or `gone`."""
    label: str
    said: str
    x: int
    y: int


class Line(NamedTuple):
    """What led from one record to another."""

    x1: int
    y1: int
    c1: int
    """Where the line bends, across, near its start."""
    c2: int
    x2: int
    y2: int
    relation: str


class Drawing(NamedTuple):
    """Boxes and lines, with the size of the whole in pixels."""

    boxes: Sequence[Box]
    lines: Sequence[Line]
    width: int
    height: int
    left_out: int
    """Records that are as near and have no room."""


def lineage(snapshot: Snapshot, name: str) -> Drawing:
    """Place a record, what led to it in two steps, and what it led to in two steps."""
    columns, left_out = _columns(snapshot, name)
    first = min(columns.values())
    rows: dict[int, int] = {}
    boxes: dict[str, Box] = {}
    for one, column in columns.items():
        row = rows[column] = rows.get(column, -1) + 1
        boxes[one] = _box(snapshot, one, _EDGE + (column - first) * _ACROSS, _EDGE + row * _DOWN)
    width = (max(columns.values()) - first) * _ACROSS + WIDTH + 2 * _EDGE
    height = max(rows.values()) * _DOWN + HEIGHT + 2 * _EDGE
    return Drawing(list(boxes.values()), _lines(snapshot, boxes), width, height, left_out)


def _columns(snapshot: Snapshot, name: str) -> tuple[dict[str, int], int]:
    """Return how many steps each record that is drawn is away, and how many are left out."""
    columns, left_out = {name: 0}, 0
    for sign in (-1, 1):
        front = [name]
        for step in range(1, _STEPS + 1):
            near = [other for one in front for other in _beside(snapshot, one, sign) if other not in columns]
            distinct = list(dict.fromkeys(near))
            front = distinct[:_ROWS]
            left_out += len(distinct) - len(front)
            columns |= dict.fromkeys(front, sign * step)
    return columns, left_out


def _beside(snapshot: Snapshot, name: str, sign: int) -> list[str]:
    if sign < 0:
        return [edge.source for edge in snapshot.before.get(name, ())]
    return [edge.target for edge in snapshot.after.get(name, ())]


def _box(snapshot: Snapshot, name: str, x: int, y: int) -> Box:
    record = snapshot.records.get(name)
    if record is None:
        return Box(name, "gone", name, "not in the bank", x, y)
    if isinstance(record, Episode):
        return Box(name, "attempt", record.task, record.outcome, x, y)
    return Box(name, "lesson", record.title, f"{record.outcome}, {record.status}", x, y)


def _lines(snapshot: Snapshot, boxes: Mapping[str, Box]) -> list[Line]:
    edges = (edge for name in boxes for edge in snapshot.after.get(name, ()) if edge.target in boxes)
    return [_line(boxes[edge.source], boxes[edge.target], edge.relation) for edge in edges]


def _line(source: Box, target: Box, relation: str) -> Line:
    """Lead from right to left side; to a record that stands no further right, around the left side of both."""
    start, end = source.y + HEIGHT // 2, target.y + HEIGHT // 2
    if target.x > source.x:
        right = source.x + WIDTH
        return Line(right, start, right + _BEND, target.x - _BEND, target.x, end, relation)
    left = min(source.x, target.x) - _BEND
    return Line(source.x, start, left, left, target.x, end, relation)
