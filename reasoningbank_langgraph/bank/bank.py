"""What can be done with the lessons and episodes of one namespace."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from reasoningbank_langgraph.bank import adding, forgetting, importing, jsonl
from reasoningbank_langgraph.bank.access import StoreAccess, Totals
from reasoningbank_langgraph.bank.adding import WriteResult
from reasoningbank_langgraph.bank.arguments import as_ids, check_items, check_store
from reasoningbank_langgraph.bank.branches import Branch, checkpointed, latest, orphans
from reasoningbank_langgraph.bank.importing import Imported
from reasoningbank_langgraph.bank.item_values import Match, check_match
from reasoningbank_langgraph.bank.searching import Question
from reasoningbank_langgraph.bank.snapshots import Past
from reasoningbank_langgraph.namespaces import check_filled
from reasoningbank_langgraph.records import ITEMS_PER_GROUP, Episode, ItemStatus, MemoryItem, RetrievedMemory

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.store.base import BaseStore
    from langgraph.types import StateSnapshot

    Graph = CompiledStateGraph[Any, Any, Any, Any]


class MemoryBank(StoreAccess):
    """The lessons of one namespace, and the episodes they were learned from.

    Args:
        store: any LangGraph store. One without an index cannot rank by similarity and returns the newest first.
        namespace: labels of the bank, filled: one that is still a placeholder, as in a graph's template, is refused.
        match: which text a task is matched with, fixed when an item is written: the task it was learned on (as in
            the paper, section 3.2), the lesson (title and description), or both, of which the better counts.

    Raises:
        InvalidStoreError: the store is not a LangGraph store.
        InvalidNamespaceLabelError: the namespace is one that stores refuse, or a template.
    """

    def __init__(self, store: BaseStore, namespace: str | Sequence[str], *, match: Match = "both") -> None:
        self.store, self.namespace, self.match = check_store(store), check_filled(namespace), check_match(match)
        self._past: Past | None = None

    def as_of(self, when: datetime | StateSnapshot) -> Self:
        """Return this bank as it was, for reading: what was written by then, not yet retired and not forgotten since.

        Args:
            when: a time with its zone, or a checkpoint as `graph.get_state()` and `get_state_history()` return it. Of
                the checkpoint's own thread, only what its branch had written counts.

        Raises:
            InvalidMomentError: a time without a zone, or no checkpoint.
        """
        past_bank = copy.copy(self)
        past_bank._past = Past.of(when)  # noqa: SLF001 - a copy of this object
        return past_bank

    def add(
        self, items: Iterable[MemoryItem], *, episode: Episode | None = None, cap: int = ITEMS_PER_GROUP
    ) -> WriteResult:
        """Write the lessons of one attempt: all together or none, and once, however often it is called.

        The episode, if any, is written with them, unless the bank has one with its id.

        Rows that are there already keep their counts. Rows that an earlier call left of the same attempt and that
        this one does not have are removed. An attempt whose digest is in the bank under another experience (a replay)
        adds nothing. Items without a digest are known by their experience alone.

        Raises:
            TooManyItemsError: more than `cap` items.
            InvalidRecordError: the items belong to several experiences, or are none.
            PastBankError: this is a bank as it was.
        """
        return self._write(adding.add(self.namespace, self.match, check_items(items), episode, cap))

    async def aadd(
        self, items: Iterable[MemoryItem], *, episode: Episode | None = None, cap: int = ITEMS_PER_GROUP
    ) -> WriteResult:
        """Async form of `add`."""
        return await self._awrite(adding.add(self.namespace, self.match, check_items(items), episode, cap))

    def search(
        self,
        task: str,
        *,
        task_id: str | None = None,
        k: int = 1,
        max_items: int = 3,
        min_score: float | None = None,
        thread_id: str | None = None,
        written: Iterable[str] | None = None,
        attempt: Mapping[str, Any] | None = None,
    ) -> list[RetrievedMemory]:
        """Return the lessons that fit a task, best first; one embedding call.

        Never returned: lessons of the task itself, items that are not active or past `valid_until`, and items that the
        thread `thread_id` is known to have learned on another branch, one that this branch does not descend from.

        Args:
            task: text of the task at hand.
            task_id: its id; by default a hash of its text.
            k: experiences to return, of which each brings its items (paper section 4.5: one is best).
            max_items: items to return in all.
            min_score: floor of the similarity, 0..1; None for no floor.
            thread_id: the thread that asks; None for no branch filter.
            written: ids this branch of the thread has written, oldest first.
            attempt: what `retrieve` notes of the attempt that asks (`state["attempt"]`), which tells branches apart.
        """
        branch = Branch.asking(thread_id, written, attempt)
        return self._read(self._search(Question(task, task_id, k, max_items, min_score, branch)))

    async def asearch(
        self,
        task: str,
        *,
        task_id: str | None = None,
        k: int = 1,
        max_items: int = 3,
        min_score: float | None = None,
        thread_id: str | None = None,
        written: Iterable[str] | None = None,
        attempt: Mapping[str, Any] | None = None,
    ) -> list[RetrievedMemory]:
        """Async form of `search`."""
        branch = Branch.asking(thread_id, written, attempt)
        return await self._aread(self._search(Question(task, task_id, k, max_items, min_score, branch)))

    def get(self, item_id: str) -> MemoryItem | None:
        """Return one item, whatever its status, or None."""
        return self._read(self._get(item_id))

    async def aget(self, item_id: str) -> MemoryItem | None:
        """Async form of `get`."""
        return await self._aread(self._get(item_id))

    def items(self) -> list[MemoryItem]:
        """Return every item of the namespace, oldest first."""
        return self._read(self._items())

    async def aitems(self) -> list[MemoryItem]:
        """Async form of `items`."""
        return await self._aread(self._items())

    def totals(self) -> Totals:
        """Return how many items and experiences the bank holds, and of which outcome."""
        return Totals.of(self.items())

    def episodes(self) -> list[Episode]:
        """Return every judged attempt that is kept in the namespace, oldest first."""
        return self._read(self._episodes())

    async def aepisodes(self) -> list[Episode]:
        """Async form of `episodes`."""
        return await self._aread(self._episodes())

    def set_status(self, item_ids: Iterable[str], status: ItemStatus) -> list[str]:
        """Take items, by one id or several, out of sight (`superseded`, `quarantined`) or back (`active`).

        Returns:
            The ids of those whose status changed.

        Raises:
            ValueError: there is no such status; nothing was written.
        """
        return self._write(forgetting.set_status(self.namespace, as_ids(item_ids), status))

    async def aset_status(self, item_ids: Iterable[str], status: ItemStatus) -> list[str]:
        """Async form of `set_status`."""
        return await self._awrite(forgetting.set_status(self.namespace, as_ids(item_ids), status))

    def forget(
        self,
        id: str | None = None,
        *,
        thread_id: str | None = None,
        run_id: str | None = None,
        experience_id: str | None = None,
        cascade: bool = True,
    ) -> list[str]:
        """Remove lessons and episodes for good, by exactly one of their id, thread, run or experience.

        Their vectors go with them. What a store's files keep of deleted rows goes with `ChromaStore.vacuum()`.
        Checkpoints are not touched: `checkpointer.delete_thread()` removes those.

        Args:
            id: a lesson or an episode. An episode also goes with the last of its lessons.
            thread_id: all that a thread learned.
            run_id: all that one run learned.
            experience_id: all that one attempt taught.
            cascade: remove too what was learned from one of them or in runs that were shown one, and so on.

        Returns:
            The ids of the lessons that were removed, and `id` if it was an episode's.

        Raises:
            ValueError: none or several of the four, or an empty one.
        """
        chosen = {"id": id, "thread_id": thread_id, "run_id": run_id, "experience_id": experience_id}
        return self._write(forgetting.forget(self.namespace, chosen, cascade=cascade))

    async def aforget(
        self,
        id: str | None = None,
        *,
        thread_id: str | None = None,
        run_id: str | None = None,
        experience_id: str | None = None,
        cascade: bool = True,
    ) -> list[str]:
        """Async form of `forget`."""
        chosen = {"id": id, "thread_id": thread_id, "run_id": run_id, "experience_id": experience_id}
        return await self._awrite(forgetting.forget(self.namespace, chosen, cascade=cascade))

    def forget_all(self) -> list[str]:
        """Remove every lesson and episode of this namespace for good, and none of the namespaces below it.

        Returns:
            The ids of the lessons.
        """
        return self._write(forgetting.forget_all(self.namespace))

    async def aforget_all(self) -> list[str]:
        """Async form of `forget_all`."""
        return await self._awrite(forgetting.forget_all(self.namespace))

    def export_jsonl(self, path: str | os.PathLike[str]) -> int:
        """Write every lesson and episode to a file, one a line, after a line that says what it is.

        The file appears whole or not at all, and holds no vectors: whoever imports it embeds anew.

        Returns:
            How many lessons it holds.
        """
        items = self.items()
        jsonl.write(Path(path), items, self.episodes())
        return len(items)

    def import_jsonl(self, path: str | os.PathLike[str]) -> Imported:
        """Take over what an exported file has and this bank lacks: all of it or, if a line is wrong, nothing.

        Every line is checked before anything is written. Items keep their ids and times; those that are here already,
        and attempts that are here under other ids, are skipped. Up to 2,400 records appear together; a kill in the
        middle of a longer import leaves whole experiences, and the same call finishes it.

        Raises:
            ImportFileError: with the line that is wrong, and why.
            PastBankError: this is a bank as it was.
        """
        file = Path(path)
        return self._write(importing.import_file(self.namespace, self.match, file, jsonl.read(file)))

    def reconcile(self, thread_id: str, graph: Graph, *, forget: bool = False) -> list[MemoryItem]:
        """Return the items a thread is known to have written on branches its latest checkpoint does not descend from.

        Other threads see such items until they are forgotten here. What runs side by side on one thread learned stays.

        Args:
            thread_id: the thread.
            graph: the compiled graph that wrote them, with its checkpointer.
            forget: remove them.

        Raises:
            UnknownBranchError: the graph has no checkpoint of that thread, or one that says nothing of what was
                written; or items are to be removed, and of some it cannot be known on which branch they are (nothing
                is removed).
        """
        state = checkpointed(graph, thread_id).get_state(latest(thread_id))
        return self._write(orphans(self.namespace, thread_id, state, forget=forget))

    async def areconcile(self, thread_id: str, graph: Graph, *, forget: bool = False) -> list[MemoryItem]:
        """Async form of `reconcile`."""
        state = await checkpointed(graph, thread_id).aget_state(latest(thread_id))
        return await self._awrite(orphans(self.namespace, thread_id, state, forget=forget))
