"""What a checkpointer holds of a thread: where its runs ended, on which branch. No value of a state is read here."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from reasoningbank_langgraph.state.lineage import checkpoint_time

_PAGE = 1_000
_TRIES = 100
_NEWEST_FIRST = ("langgraph.checkpoint.sqlite", "langgraph.checkpoint.postgres")
"""Checkpointers that list all threads newest first, and so by pages. One in memory lists thread by thread."""


class _Blank(dict[str, Any]):
    """Stands for a value that was not read."""

    def __missing__(self, key: str) -> dict[str, Any]:
        return {}


class _Blind:
    """Reads no value: a list of checkpoints costs little then, and none that cannot be read ends it."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return "null", b""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return _Blank()


def blind(saver: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """Return the same checkpointer, one that reads no values."""
    other = copy.copy(saver)
    other.serde = _Blind()
    return other


def newest_checkpoints(saver: BaseCheckpointSaver[Any], since: datetime) -> dict[str, str]:
    """Return the id of the newest checkpoint of each thread that has one made after a time, oldest first."""
    newest: dict[str, str] = {}
    for config in _root_configs(blind(saver), since):
        thread_id, name = str(config["thread_id"]), str(config["checkpoint_id"])
        newest[thread_id] = max(name, newest.get(thread_id, ""))
    recent = {thread_id: name for thread_id, name in newest.items() if checkpoint_time(name) > since}
    return dict(sorted(recent.items(), key=lambda entry: entry[::-1]))


def _root_configs(saver: BaseCheckpointSaver[Any], since: datetime) -> Iterator[Mapping[str, Any]]:
    for found in _pages(saver, since):
        config: Mapping[str, Any] = found.config["configurable"]
        if not config.get("checkpoint_ns"):
            yield config


def _pages(saver: BaseCheckpointSaver[Any], since: datetime) -> Iterator[CheckpointTuple]:
    if not any(kind.__module__.startswith(_NEWEST_FIRST) for kind in type(saver).__mro__):
        yield from _whole(lambda: saver.list(None))
        return
    before: RunnableConfig | None = None
    while page := list(saver.list(None, before=before, limit=_PAGE)):
        yield from page
        before = page[-1].config
        if checkpoint_time(before["configurable"]["checkpoint_id"]) <= since:
            return


def _whole(read: Callable[[], Iterable[CheckpointTuple]]) -> list[CheckpointTuple]:
    """Return all that is read; InMemorySaver has no lock, so reading fails while a run writes, and is tried again."""
    for _ in range(_TRIES - 1):
        try:
            return list(read())
        except RuntimeError as error:
            if "changed size during iteration" not in str(error):
                raise
    return list(read())


class End(NamedTuple):
    """A checkpoint at which a run has ended or broken off."""

    config: RunnableConfig
    metadata: Mapping[str, Any]
    is_leaf: bool
    """Whether no checkpoint follows it."""

    @property
    def checkpoint_id(self) -> str:
        """Its id."""
        return str(self.config["configurable"]["checkpoint_id"])

    @property
    def at(self) -> datetime:
        """When it was made."""
        return checkpoint_time(self.checkpoint_id)


class History:
    """The checkpoints of one thread, as a tree.

    Args:
        saver: the checkpointer.
        thread_id: the thread.
    """

    def __init__(self, saver: BaseCheckpointSaver[Any], thread_id: str) -> None:
        root: RunnableConfig = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
        listing = blind(saver)
        found = {_id(one.config): one for one in _whole(lambda: listing.list(root))}
        self._parents = {name: _id(one.parent_config) for name, one in found.items()}
        metadata = {name: one.metadata or _metadata(saver, one.config) for name, one in found.items()}
        # A run goes on by steps of the loop; anything else that follows a checkpoint begins something new there.
        begun = {self._parents[name] for name, one in metadata.items() if one.get("source") != "loop"}
        parents = set(self._parents.values())
        self.ends = [
            End(found[name].config, metadata[name], name not in parents)
            for name in sorted(found)
            if name in begun or name not in parents
        ]

    def before(self, end: End) -> Iterator[End]:
        """Yield the ends that one descends from, nearest first."""
        ends, name = {one.checkpoint_id: one for one in self.ends}, self._parents[end.checkpoint_id]
        seen = {end.checkpoint_id}
        while name in self._parents and name not in seen:
            seen.add(name)
            if name in ends:
                yield ends[name]
            name = self._parents[name]


def _id(config: RunnableConfig | None) -> str:
    return str(config["configurable"].get("checkpoint_id") or "") if config else ""


def _metadata(saver: BaseCheckpointSaver[Any], config: RunnableConfig) -> Mapping[str, Any]:
    """Return the metadata of a checkpoint that a blind checkpointer cannot tell, or nothing if it cannot be read."""
    try:
        found = saver.get_tuple(config)
    except Exception:  # noqa: BLE001 - whatever a serialiser raises; what cannot be read is reported with its state
        return {}
    return dict(found.metadata) if found else {}
