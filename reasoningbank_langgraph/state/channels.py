"""Channels that know when a run is over and allow loops to run side by side, unlike LangGraph's own."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

from langgraph.channels import EphemeralValue, LastValue


class Latest(LastValue[Any]):
    """Keeps the last value, even if one step writes several."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        """Take the last of these."""
        return super().update(values[-1:])


class LatestList(Latest):
    """Keeps the last list, and is there from the start, empty."""

    __slots__ = ()

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.value: Any = []


class _Marked(str):
    """A text that says where it is from, as long as it is in memory."""

    __slots__ = ()

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Be pickled as the plain text that other serializers store: no checkpoint needs these classes to be read."""
        return str, (str(self),)


class Found(_Marked):
    """A text of the checkpoint that this call of the graph began from."""

    __slots__ = ()


class Earlier(Found):
    """A text that a run which came to its end left in its channel."""

    __slots__ = ()


class Given(_Marked):
    """A text that is newer than the checkpoint that this call of the graph began from, even if that held the same."""

    __slots__ = ()


class Passing(EphemeralValue[Any]):
    """Keeps a value for one step only, so a text in it is `Given`; None counts as no value."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        """Take the last of these, or none."""
        return super().update([value for value in values[-1:] if value is not None])

    def get(self) -> Any:
        """Return the value; a text keeps what the graph around this one knows of it."""
        value = super().get()
        return Given(value) if type(value) is str else value


class _UntilTheEnd(Latest):
    """Keeps the time at which its run ended beside the value, in the checkpoint.

    LangGraph calls `finish` when only deferred nodes and pending sends are left to do. So a channel takes its value to
    be that of an earlier run only if the channel was made from such a checkpoint. `found` says whether the value is the
    one that a checkpoint held: False, if it has replaced that of a run which had not ended; None, if there was none.
    """

    __slots__ = ("ended", "found", "over")

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.ended: int | None = None
        self.over: int | None = None
        self.found: bool | None = None

    def copy(self) -> Self:
        """Return a copy."""
        copied = super().copy()
        copied.ended, copied.over, copied.found = self.ended, self.over, self.found
        return copied

    def update(self, values: Sequence[Any]) -> bool:
        """Take the last of these as a value of this run."""
        if values:
            self.found = None if self.found is None or self.over else False
            self.ended = self.over = None
        return super().update(values)

    def finish(self) -> bool:
        """Record that the run is over, as far as the channel can tell."""
        if not self.is_available() or self.over is not None:
            return False
        self.ended = time.time_ns() // 1000
        return True

    def checkpoint(self) -> Any:
        """Return what is kept."""
        value = super().checkpoint()
        return value if self.ended is None else {"value": value, "ended": self.ended}

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return the channel a checkpoint describes."""
        ended = isinstance(checkpoint, dict) and checkpoint.keys() == {"value", "ended"}
        kept = super().from_checkpoint(checkpoint["value"] if ended else checkpoint)
        kept.ended = kept.over = checkpoint["ended"] if ended else None
        kept.found = kept.is_available() or None
        return kept


class OfRun(_UntilTheEnd):
    """Belongs to one run. A text says where it is from: `Earlier`, `Found` or `Given`. None counts as no value."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        """Take the last of these, or none."""
        if not values or values[-1] is not None:
            return super().update(values)
        changed, self.value = self.is_available(), type(self)(self.typ).value
        self.ended = self.over = None
        return changed

    def get(self) -> Any:
        """Return the value, or the one that was found, a number that an earlier run left as text too."""
        value = super().get()
        if self.over is not None:
            return Earlier(value) if isinstance(value, (str, int, float)) else value
        if self.found and isinstance(value, str):
            return Found(value)
        return Given(value) if self.found is False and type(value) is str else value


class OfLastRun(_UntilTheEnd):
    """Holds a mapping. Adds when the mapping's run ended (`over`) and when the run that reads it began (`loaded`).

    If `update_state`, or a run that wrote nothing here, has copied the mapping into a later checkpoint, `rewritten`
    says when. All three are microseconds since 1970; `over` is None while the run goes on or if it was interrupted.
    `found` says whether a checkpoint held the mapping, here or in the graph around this one.
    """

    __slots__ = ("again", "loaded", "rewritten")

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.loaded = time.time_ns() // 1000
        self.rewritten: int | None = None
        self.again: int | None = None

    def copy(self) -> Self:
        """Return a copy."""
        copied = super().copy()
        copied.loaded, copied.rewritten, copied.again = self.loaded, self.rewritten, self.again
        return copied

    def update(self, values: Sequence[Any]) -> bool:
        """Take the last of these as a value of this run."""
        if values:
            self.rewritten = self.again = None
        return super().update(values)

    def finish(self) -> bool:
        """Record that the run is over, as far as the channel can tell, even if it only found the mapping here."""
        if self.found:
            self.again = time.time_ns() // 1000
        return super().finish() or bool(self.found)

    def checkpoint(self) -> Any:
        """Return what is kept."""
        if self.again is None:
            return super().checkpoint()
        return {"value": self.value, "ended": self.ended, "rewritten": self.again}

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """Return the channel a checkpoint describes."""
        if not (isinstance(checkpoint, dict) and checkpoint.keys() == {"value", "ended", "rewritten"}):
            return super().from_checkpoint(checkpoint)
        kept = super().from_checkpoint({"value": checkpoint["value"], "ended": checkpoint["ended"]})
        kept.rewritten = kept.again = checkpoint["rewritten"]
        return kept

    def get(self) -> Any:
        """Return the mapping; one that came from the graph around this one keeps the times found there."""
        held = super().get()
        if self.over is None and held.get("over") is not None:
            return held
        found = bool(self.found or held.get("found"))
        return {**held, "found": found, "over": self.over, "loaded": self.loaded, "rewritten": self.rewritten}


def experience_of(waiting: Mapping[str, Any]) -> str:
    """Return the experience of an attempt that waits; one without lessons and episodes is known by its evidence."""
    if records := [*waiting["items"], *waiting.get("episodes", ()), *filter(None, [waiting.get("pending")])]:
        return str(records[0]["experience_id"])
    return json.dumps([waiting["namespace"], waiting.get("trial"), waiting.get("credit")], sort_keys=True)


class Waiting(Latest):
    """Holds attempts whose lessons wait for the bank. An update replaces those that its writer knew of (`seen`)."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        """Take the attempts that the writers of one step left, each attempt once."""
        new = {experience_of(entry): entry for value in values for entry in value}
        seen = {name for entry in new.values() for name in entry.get("seen", ())} | new.keys()
        old = self.get() if new and self.is_available() else []
        kept = [entry for entry in old if experience_of(entry) not in seen]
        return super().update([[*kept, *new.values()]] if values else [])
