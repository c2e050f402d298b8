"""What a thread wrote on branches that its present state does not descend from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig

from reasoningbank_langgraph.bank.forgetting import remove
from reasoningbank_langgraph.bank.layout import Namespace, to_item
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.errors import UnknownBranchError

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from reasoningbank_langgraph.records import MemoryItem


def latest(thread_id: str) -> RunnableConfig:
    """Return the config that names the present state of a thread."""
    return {"configurable": {"thread_id": thread_id}}


def orphans(namespace: Namespace, thread_id: str, state: StateSnapshot, *, forget: bool) -> Ops[list[MemoryItem]]:
    """Return the items of a thread that its state does not know, and remove them if asked to.

    Raises:
        UnknownBranchError: the state says nothing of what was written, so every item would look like an orphan.
    """
    known = _known(thread_id, state)
    rows = yield from rows_where(namespace, {"thread_id": thread_id})
    found = [row for row in rows if row.key not in known]
    if forget:
        yield from remove(namespace, {row.key for row in found})
    return [to_item(row) for row in found]


def _known(thread_id: str, state: StateSnapshot) -> set[str]:
    """Return the ids a state stands by: written, and on their way into the bank."""
    if not state.created_at:
        raise UnknownBranchError(thread_id, "the graph's checkpointer has no checkpoint of it")
    values: dict[str, Any] = state.values
    if "written" not in values:
        raise UnknownBranchError(thread_id, "its state has no channel 'written': let it include ReasoningBankState")
    waiting = [item for attempt in values.get("unwritten") or () for item in attempt["items"]]
    return {*values["written"], *(lesson["id"] for lesson in [*(values.get("lessons") or ()), *waiting])}
