"""Last node of the loop: write the checkpointed lessons into the bank, exactly once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from reasoningbank_langgraph.bank import Match, MemoryBank, Written, check_match
from reasoningbank_langgraph.namespaces import DEFAULT_NAMESPACE, Filled, check_template
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.nodes._outage import is_outage, told
from reasoningbank_langgraph.records import MemoryItem
from reasoningbank_langgraph.state import Names

Waiting = dict[str, Any]
"""An attempt to write: `namespace`, its lessons as `items`, and the experiences that waited before it as `seen`."""


def create_consolidate(*, namespace: str | Sequence[str] = DEFAULT_NAMESPACE, match: Match = "both") -> MemoryNode:
    """Return a node that writes `lessons` into the bank and their ids into `written`.

    All lessons of an attempt become visible together. Retry, resume and replay of the same attempt add nothing: the
    ids were fixed before, and an attempt with the same thread, task and trajectory is known by its content.

    When the store is out of reach, the run ends with its answer, `memory_error` says why, and the lessons wait in
    `unwritten` for the next run of the thread; a `retry_policy` of the node has nothing to retry.

    Args:
        namespace: labels of the bank; labels in braces come from `config["configurable"]` or the runtime context.
        match: what a later task is matched with: the `task` the lesson was learned on, the `lesson`, or `both`.

    Raises:
        ValueError: `match` is none of the three.
        NamespaceError: the namespace has a label that stores refuse (here), or lacks a value (when run).
        MissingStoreError: when run in a graph without a store.
    """
    template = check_template(namespace)
    check_match(match)

    def begun(state: State, context: Context) -> tuple[list[Waiting], _Done]:
        earlier = state.get("unwritten") or []
        own = {
            "namespace": list(context.namespace(template)),
            "items": state.get("lessons") or [],
            "seen": [entry["items"][0]["experience_id"] for entry in earlier],
        }
        return [*earlier, own], _Done(own["namespace"], alone=not earlier and context.nested)

    def consolidate(state: State, context: Context) -> Update:
        started, (left, done) = time.perf_counter(), begun(state, context)
        while left:
            try:
                done.add(_bank(left[0], match, context).add(_items(left[0])))
            except Exception as error:
                if not is_outage(error):
                    raise
                return done.cut_off(left, error, context, started)
            left.pop(0)
        return done.update(context, started)

    async def aconsolidate(state: State, context: Context) -> Update:
        started, (left, done) = time.perf_counter(), begun(state, context)
        while left:
            try:
                done.add(await _bank(left[0], match, context).aadd(_items(left[0])))
            except Exception as error:
                if not is_outage(error):
                    raise
                return done.cut_off(left, error, context, started)
            left.pop(0)
        return done.update(context, started)

    return MemoryNode("consolidate", consolidate, aconsolidate, Names())


class _Done:
    """What was written so far.

    Args:
        namespace: of the bank this run writes to.
        alone: whether nothing was waiting and this is a loop inside another graph, in which something may wait: that
            graph's channel is then left as it is.
    """

    def __init__(self, namespace: list[str], *, alone: bool) -> None:
        self.namespace, self.ids = namespace, list[str]()
        self.added, self.alone = 0, alone

    def add(self, written: Written) -> None:
        self.ids += written.ids
        self.added += written.added

    def update(self, context: Context, started: float, **more: Any) -> Update:
        context.emit("consolidated", started, count=self.added, ids=self.ids, namespace=self.namespace, **more)
        return {"written": self.ids, **({} if self.alone else {"unwritten": []})}

    def cut_off(self, left: list[Waiting], error: Exception, context: Context, started: float) -> Update:
        problem = told("consolidate", error)
        waiting = [attempt for attempt in left if attempt["items"]]
        return {**self.update(context, started, error=problem), "unwritten": waiting, "memory_error": problem}


def _bank(attempt: Waiting, match: Match, context: Context) -> MemoryBank:
    return MemoryBank(context.store, Filled(attempt["namespace"]), match=match)


def _items(attempt: Waiting) -> list[MemoryItem]:
    return [MemoryItem(**lesson) for lesson in attempt["items"]]
