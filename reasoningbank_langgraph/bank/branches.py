"""Which of a thread's lessons a branch of it may see, and which are known to belong to another branch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from langchain_core.runnables import RunnableConfig

from reasoningbank_langgraph.bank.arguments import as_id
from reasoningbank_langgraph.bank.item_values import NEVER, Namespace, to_item
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.bank.upkeep.forgetting import attempts_where, remove
from reasoningbank_langgraph.errors import UnknownBranchError
from reasoningbank_langgraph.records import utc_now
from reasoningbank_langgraph.state.lineage import Line, Lines, micros, next_line

if TYPE_CHECKING:
    from langgraph.store.base import Item
    from langgraph.types import StateSnapshot

    from reasoningbank_langgraph.records import MemoryItem

Graph = TypeVar("Graph")
IsVisible = Callable[["Item"], bool]


class Branch(NamedTuple):
    """The branch of a thread that asks. Without a thread, it may see everything."""

    thread_id: str | None = None
    known_ids: frozenset[str] = frozenset()
    """Ids of its items: written, and on their way into the bank."""
    line: Line = Line()
    began: int = NEVER
    """When the attempt that asks began (microseconds since 1970)."""

    @classmethod
    def of(cls, thread_id: str | None, state: Mapping[str, Any], when: datetime) -> Branch:
        """Return the branch that a state of the thread is on, as an attempt that begins at `when` would find it."""
        line = next_line(state, when, state.get("answer"), state.get("messages") or ())
        return cls(thread_id, frozenset(ids_of_branch(state)), line, micros(when))

    @classmethod
    def asking(cls, thread_id: str | None, written: Iterable[str] | None, attempt: Mapping[str, Any] | None) -> Branch:
        """Return the branch of a caller that knows which ids it has written and perhaps its attempt (`retrieve`)."""
        ids = [written] if isinstance(written, str) else list(written or ())
        line = next_line({"written": ids}, utc_now()) if attempt is None else Line.of(attempt)
        began = line.stages[-1][1] if line.stages else NEVER
        name = None if thread_id is None else as_id(thread_id)
        return cls(name, frozenset(ids), line, (attempt or {}).get("began", began))

    def unknown_rows(self, rows: Iterable[Item]) -> list[Item]:
        """Return the rows of the thread that the branch does not know, by their id or by others of their experience."""
        return [
            row
            for row in rows
            if row.value["thread_id"] == self.thread_id
            and self.known_ids.isdisjoint((row.key, *row.value.get("known_as", ())))
        ]


def ids_of_branch(state: Mapping[str, Any]) -> list[str]:
    """Return the ids of the records of a state: written, the lessons last, and on their way into the bank."""
    entries = [state, *(state.get("unwritten") or ())]
    episodes = [episode["id"] for entry in entries for episode in entry.get("episodes") or ()]
    pending = [entry["pending"]["id"] for entry in entries if entry.get("pending")]
    waiting = [item for entry in state.get("unwritten") or () for item in entry["items"]]
    lessons = (lesson["id"] for lesson in [*(state.get("lessons") or ()), *waiting])
    return [*(state.get("kept") or ()), *episodes, *pending, *(state.get("written") or ()), *lessons]


def visibility(namespace: Namespace, branch: Branch, rows: Sequence[Item]) -> Ops[IsVisible]:
    """Return a function that says whether the branch may see a row: one of these, or one learned with one of these.

    Only two kinds of rows are hidden: those known to belong to another branch, and those written after the attempt that
    asks began. So an attempt that is tried again sees the same rows each time.
    """
    lines, unknown_rows = _lines(branch, rows), branch.unknown_rows(rows)
    if any(lines.relation(row.value) == "unresolved" for row in unknown_rows):
        lines = _lines(branch, [*rows, *(yield from rows_where(namespace, {"thread_id": branch.thread_id}))])

    def is_visible(row: Item) -> bool:
        if not branch.unknown_rows([row]):
            return True
        return row.value["since"] <= branch.began and lines.relation(row.value) != "other"

    return is_visible


def _lines(branch: Branch, rows: Iterable[Item]) -> Lines:
    return Lines(branch.line, ((row.key, row.value) for row in rows if row.value["thread_id"] == branch.thread_id))


def latest(thread_id: str) -> RunnableConfig:
    """Return the config of a thread's latest state."""
    return {"configurable": {"thread_id": thread_id}}


def checkpointed(graph: Graph, thread_id: str) -> Graph:
    """Return the graph. Raises `UnknownBranchError` if it has no checkpoints."""
    if not hasattr(graph, "get_state") or getattr(graph, "checkpointer", True) is None:
        problem = f"this {type(graph).__name__} has no checkpoints: give what compile(checkpointer=...) returns"
        raise UnknownBranchError(thread_id, problem)
    return graph


def orphans(namespace: Namespace, thread_id: str, state: StateSnapshot, *, forget: bool) -> Ops[list[MemoryItem]]:
    """Return the items of a thread that belong to a branch other than that of its state; remove them if asked to.

    The episodes of that branch, and its attempts that wait, are removed with them.

    Raises:
        UnknownBranchError: the state does not say what was written; or items are to be removed and the branch of some
            cannot be known.
    """
    thread_id = as_id(thread_id)
    branch = _branch(thread_id, state)
    rows = yield from rows_where(namespace, {"thread_id": thread_id})
    lines = _lines(branch, rows)
    relations = {row.key: lines.relation(row.value) for row in branch.unknown_rows(rows)}
    unsure = [key for key, relation in relations.items() if relation in ("unknown", "unresolved")]
    if forget and unsure:
        raise UnknownBranchError(
            thread_id,
            f"{len(unsure)} of its {len(rows)} items, {unsure[0]!r} for one, may be of this branch or of another: they "
            "come from other checkpoints than the present ones, or name none; nothing was removed. reconcile() "
            "without forget lists what is known to be of another branch, and forget(id) removes an item",
        )
    found = [row for row in rows if relations.get(row.key) == "other"]
    if forget:
        attempts = yield from attempts_where(namespace, {"thread_id": thread_id})
        lines = _lines(branch, [*rows, *attempts])
        orphaned = [row for row in branch.unknown_rows(attempts) if lines.relation(row.value) == "other"]
        keys, reason = {row.key for row in [*found, *orphaned]}, "of a branch that its thread went back on"
        yield from remove(namespace, keys, reason)
    return [to_item(row) for row in found]


def _branch(thread_id: str, state: StateSnapshot) -> Branch:
    if not state.created_at:
        raise UnknownBranchError(thread_id, "the graph's checkpointer has no checkpoint of it")
    values: dict[str, Any] = state.values
    if "written" not in values:
        raise UnknownBranchError(
            thread_id, "its state has no channel 'written': the state has to include ReasoningBankState"
        )
    return Branch.of(thread_id, values, datetime.fromisoformat(state.created_at))
