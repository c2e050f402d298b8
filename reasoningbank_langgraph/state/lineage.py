"""Which branch of a thread a lesson belongs to, told by the line of attempts stored with it.

A thread id alone does not tell. Its checkpoints may be gone, other programs may use it with the same bank, several runs
may work on it at once, and it may have been taken back to an old checkpoint. Only in the last case is it certain that
the lessons of one side are not in the past of the other: a fork begins after the run that it leaves has ended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Literal, NamedTuple
from uuid import UUID, uuid4

from typing_extensions import TypedDict

_GREGORIAN = datetime(1582, 10, 15, tzinfo=UTC)
"""The time from which time-based UUIDs count (RFC 9562)."""
LENGTH = 16
"""Number of attempts of a line that are stored with a lesson; the lines of other lessons continue it."""

End = int | str | None
"""How a line left an attempt: when its run had ended (microseconds since 1970), a digest of what it had done if the
line went on before that, or None if the line has not left it."""
Stage = tuple[str, int, End]
"""An attempt on a line: its id, the earliest time at which its first state was read, and how the line left it."""
_MADE = "made "
_LAG = 1_000_000
"""Microseconds that may pass between a run's end and the checkpoint that shows it to others, or between the reading of
a checkpoint and the making of its channels."""
Relation = Literal["other", "beside", "unknown", "unresolved"]
"""What a lesson is to a line that does not know it. `other`: it belongs to another branch; `beside`: to a run beside
the line; `unknown`: this cannot be told; `unresolved`: more rows may tell."""


class LineRecord(TypedDict):
    """A line as JSON data."""

    line: list[list[Any]]
    """Its stages: id, earliest time at which the first state was read (microseconds since 1970), how it was left."""
    origin: str
    """Id of the first attempt of all, "" if it is not known."""
    after: str | None
    """What came before these: nothing (""), the attempt that wrote the lesson with this id, or more than is kept."""


class Line(NamedTuple):
    """The attempts that led to an attempt, and that attempt as the last."""

    stages: tuple[Stage, ...] = ()
    origin: str = ""
    """Id of the first attempt of all, where it is known."""
    after: str | None = None
    """What came before these: nothing (""), the attempt that wrote the lesson with this id, or more than is kept."""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Line:
        """Read the line from an attempt or a provenance."""
        stages = tuple((name, began, end) for name, began, end in record.get("line") or ())
        return cls(stages, record.get("origin") or "", record.get("after"))

    def ended(self, at: datetime) -> Line:
        """Return the line with its last attempt ended: its lessons were made."""
        ends = tuple((name, began, micros(at)) for name, began, _ in self.stages[-1:])
        return self._replace(stages=(*self.stages[:-1], *ends))

    def record(self) -> LineRecord:
        """Return the line as JSON data."""
        return {"line": [list(stage) for stage in self.stages], "origin": self.origin, "after": self.after}


def next_line(
    state: Mapping[str, Any],
    began: datetime,
    answer: Any = None,
    messages: Sequence[Any] = (),
    *,
    newest: bool = False,
) -> Line:
    """Return the line of an attempt that begins on this state.

    A run that reads the newest checkpoint of its thread runs beside those that are still going on. It is not a fork,
    unless the thread was taken back to an older checkpoint before.

    Args:
        state: the state it begins on.
        began: when it begins.
        answer: the state's answer.
        messages: the state's conversation.
        newest: whether the state is that of the newest checkpoint of its thread.
    """
    at = micros(began)
    name, written, before = uuid4().hex[:16], list(state.get("written") or ()), state.get("attempt") or {}
    stages, origin, after = Line.of(before)
    if not stages:
        return Line(((name, at, None),), "" if written else name, written[-1] if written else "")
    last, since, _ = stages[-1]
    over, at = before.get("over"), min(at, before.get("loaded") or at)
    at = max(at - _LAG, before.get("rewritten") or 0) if newest else at
    done = [state.get("verdict"), state.get("lessons"), state.get("extraction"), answer, len(messages)]
    had = hashlib.sha256(repr(done).encode()).hexdigest()[:8]
    left = (f"{_MADE}{had}" if state.get("lessons") else had) if over is None else over
    whole = (*stages[:-1], (last, since, left), (name, at, None))
    return Line(whole[-LENGTH:], origin, after if len(whole) <= LENGTH else None)


def micros(moment: datetime) -> int:
    """Return a time as lines store it: microseconds since 1970."""
    return round(moment.timestamp() * 1_000_000)


def checkpoint_time(checkpoint_id: str) -> datetime:
    """Return when a checkpoint was made, read from LangGraph's id; now if the id is of another kind."""
    try:
        name = UUID(checkpoint_id)
    except ValueError:
        return datetime.now(UTC)
    ticks = name.int >> 80 << 12 | name.int >> 64 & 0xFFF  # of 100 ns, most significant bits first
    return _GREGORIAN + timedelta(microseconds=ticks // 10) if name.version == 6 else datetime.now(UTC)


class _Step(NamedTuple):
    name: str
    end: End


class Lines:
    """The branches of a thread as its rows show them, seen from one line.

    Args:
        mine: the line.
        rows: key and value of each row.
    """

    def __init__(self, mine: Line, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        self._rows = dict(rows)
        self._began: dict[str, int] = {}
        self._before: dict[str, _Step | None] = {}
        self._origin = mine.origin
        for line in (mine, *(_line_of(value) for value in self._rows.values())):
            self._learn(line)
        self._mine = list(self._path(_Step(*mine.stages[-1][::2]))) if mine.stages else []
        self._places = {step.name: place for place, step in enumerate(self._mine)}

    def relation(self, value: Mapping[str, Any]) -> Relation:
        """Return what a row is to the line, which does not know it."""
        line = _line_of(value)
        if not line.stages or not self._mine or _differ(self._origin, line.origin):
            return "unknown"
        path: list[_Step] = []
        for step in self._path(_Step(*line.stages[-1][::2])):
            if step.name in self._places:
                written = step._replace(end=value.get("learned", value.get("since")))
                return self._parted(path, step if path else written, self._places[step.name])
            path.append(step)
        whole = all(steps[-1].name in self._before for steps in (path, self._mine))
        return "unknown" if whole else "unresolved"

    def _learn(self, line: Line) -> None:
        for name, began, _ in line.stages:
            self._began[name] = began
        for (name, _, end), (later, _, _) in pairwise(line.stages):
            self._before[later] = _Step(name, end)
        if line.stages and line.after is not None:
            first, row = line.stages[0][0], self._rows.get(line.after)
            if not line.after:
                self._before[first] = None
            elif row is not None and (earlier := _line_of(row).stages):
                self._before[first] = _Step(*earlier[-1][::2])

    def _path(self, step: _Step | None) -> Iterator[_Step]:
        """Yield the stages from one back to the first, or as far back as is known."""
        seen: set[str] = set()
        while step is not None and step.name not in seen:
            seen.add(step.name)
            yield step
            step = self._before.get(step.name)

    def _parted(self, path: Sequence[_Step], common: _Step, place: int) -> Relation:
        """Return what the row is to the line, given their last common attempt."""
        there, here = common.end, self._mine[place].end
        if place == 0:
            return "beside"  # it goes on from where the line is now
        began = self._began[self._mine[place - 1].name]
        made = any(str(end).startswith(_MADE) for end in (there, here))  # left with its lessons, only not written yet
        if not path:
            return "other" if isinstance(here, int) or (_left(there, began) and not made) else "beside"
        theirs = self._began[path[-1].name]
        if there == here:
            apart = _left(self._end(path), began) or _left(self._end(self._mine[:place]), theirs)
            return "other" if apart else "beside"
        if isinstance(there, int) and isinstance(here, int):
            return "other"
        if isinstance(there, int) or isinstance(here, int):
            apart = _left(there, began - _LAG) or _left(here, theirs - _LAG)
            return "other" if apart and not made else "beside"
        return "unknown"

    @staticmethod
    def _end(side: Sequence[_Step]) -> End:
        """Return when the first stage of a side ended, or else the first known end after it."""
        return next((step.end for step in reversed(side) if isinstance(step.end, int)), None)


def _differ(one: str, other: str) -> bool:
    return bool(one and other) and one != other


def _line_of(value: Mapping[str, Any]) -> Line:
    """Return the line stored in a row; it is empty in rows of older versions."""
    return Line.of(value["provenance"])


def _left(end: End, began: int) -> bool:
    """Say whether `end` is a time and not after `began`."""
    return isinstance(end, int) and end <= began
