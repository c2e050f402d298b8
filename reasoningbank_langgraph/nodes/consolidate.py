"""Last node of the loop: write the checkpointed lessons into the bank, exactly once."""

from __future__ import annotations

import time
from collections.abc import Sequence

from reasoningbank_langgraph.bank import Match, MemoryBank, Written
from reasoningbank_langgraph.namespaces import DEFAULT_NAMESPACE, check_template, resolve
from reasoningbank_langgraph.nodes.base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.records import MemoryItem
from reasoningbank_langgraph.state import Names


def create_consolidate(*, namespace: str | Sequence[str] = DEFAULT_NAMESPACE, match: Match = "both") -> MemoryNode:
    """Return a node that writes `lessons` into the bank and their ids into `written`.

    All lessons of an attempt become visible together. Retry, resume and replay of the same attempt add nothing: the
    ids were fixed before, and an attempt with the same thread, task and trajectory is known by its content.

    Args:
        namespace: labels of the bank; labels in braces come from `config["configurable"]`.
        match: what a later task is matched with: the `task` the lesson was learned on, the `lesson`, or `both`.

    Raises:
        NamespaceError: the namespace has a label that stores refuse (here), or lacks a value (when run).
        MissingStoreError: when run in a graph without a store.
    """
    template = check_template(namespace)

    def bank_and_items(state: State, context: Context) -> tuple[MemoryBank, list[MemoryItem]]:
        bank = MemoryBank(context.store, resolve(template, context.configurable), match=match)
        return bank, [MemoryItem(**lesson) for lesson in state.get("lessons") or []]

    def consolidate(state: State, context: Context) -> Update:
        started = time.perf_counter()
        bank, items = bank_and_items(state, context)
        return _told(bank.add(items), context, started)

    async def aconsolidate(state: State, context: Context) -> Update:
        started = time.perf_counter()
        bank, items = bank_and_items(state, context)
        return _told(await bank.aadd(items), context, started)

    return MemoryNode("consolidate", consolidate, aconsolidate, Names())


def _told(written: Written, context: Context, started: float) -> Update:
    context.emit("consolidated", started, count=written.added, ids=written.ids)
    return {"written": written.ids}
