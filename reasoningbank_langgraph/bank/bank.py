"""What can be done with the lessons and episodes of one namespace."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from reasoningbank_langgraph.bank.adding import WeighedResult
from reasoningbank_langgraph.bank.arguments import as_ids, check_store
from reasoningbank_langgraph.bank.branches import checkpointed, latest, orphans
from reasoningbank_langgraph.bank.exchange import importing, jsonl
from reasoningbank_langgraph.bank.exchange.harvesting import Harvesting
from reasoningbank_langgraph.bank.exchange.importing import Imported
from reasoningbank_langgraph.bank.exchange.migrating import Migrating
from reasoningbank_langgraph.bank.item_values import Match, check_match
from reasoningbank_langgraph.bank.lineage.contradictions import Contradicting
from reasoningbank_langgraph.bank.lineage.why import Explaining
from reasoningbank_langgraph.bank.rows import guarding
from reasoningbank_langgraph.bank.snapshots import Past
from reasoningbank_langgraph.bank.upkeep import forgetting
from reasoningbank_langgraph.bank.upkeep.merging import Merging
from reasoningbank_langgraph.bank.upkeep.pruning import Pruning
from reasoningbank_langgraph.bank.upkeep.redistil import Redistilling
from reasoningbank_langgraph.bank.upkeep.resolving import Resolving
from reasoningbank_langgraph.chat.tally import Tally
from reasoningbank_langgraph.namespaces import check_filled
from reasoningbank_langgraph.policies import Evidence, GuardStatus, PolicyLike
from reasoningbank_langgraph.records import ITEMS_PER_GROUP, Episode, ItemStatus, MemoryItem, PendingAttempt

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.store.base import BaseStore
    from langgraph.types import StateSnapshot

    from reasoningbank_langgraph.records.usage import Usage

    Graph = CompiledStateGraph[Any, Any, Any, Any]


class MemoryBank(Harvesting, Redistilling, Pruning, Merging, Resolving, Explaining, Contradicting, Migrating):
    """The lessons of one namespace, and the episodes they were learned from.

    Args:
        store: any LangGraph store. One without an index cannot rank by similarity and returns the newest first.
        namespace: labels of the bank, filled in: a placeholder, as in a graph's template, is refused.
        match: which text a task is matched with, fixed when an item is written: the task it was learned on (as in
            the paper, section 3.2), the lesson (title and description), or both, where the better match counts.
        actor: who the rows of the ledger say made a change through this object.

    Raises:
        InvalidStoreError: the store is not a LangGraph store.
        InvalidNamespaceLabelError: stores refuse this namespace, or it is a template.
    """

    def __init__(
        self, store: BaseStore, namespace: str | Sequence[str], *, match: Match = "both", actor: str = "program"
    ) -> None:
        self.actor, self.tally = actor, Tally()
        self.store, self.namespace, self.match = check_store(store), check_filled(namespace), check_match(match)
        self._past: Past | None = None

    def as_of(self, when: datetime | StateSnapshot) -> Self:
        """Return this bank as it was, read-only: what had been written, was not yet retired and is not forgotten since.

        Episodes have the verdict that they had then.

        Args:
            when: a time with its zone, or a checkpoint as `graph.get_state()` and `get_state_history()` return it.
                From the checkpoint's own thread, only what its branch had written is included.

        Raises:
            InvalidMomentError: `when` is a time without a zone, or neither a time nor a checkpoint.
        """
        past_bank = copy.copy(self)
        past_bank._past = Past.of(when)  # noqa: SLF001 - a copy of this object
        return past_bank

    def add(
        self,
        items: Iterable[MemoryItem],
        *,
        episodes: Iterable[Episode] = (),
        evidence: Evidence | None = None,
        policy: PolicyLike = "append",
        written: Iterable[str] = (),
        pending: PendingAttempt | None = None,
        cap: int = ITEMS_PER_GROUP,
        usage: Usage | None = None,
    ) -> WeighedResult:
        """Write the lessons of one attempt: all together or none, and once, however often this is called.

        Items that are in the bank already keep their counts. Items of the same attempt that an earlier call wrote and
        this call does not contain are removed. An attempt whose digest is in the bank under another experience (a
        replay) adds nothing. Items without a digest are identified by their experience alone.

        Args:
            items: the lessons.
            episodes: the judged attempts they were learned from. An episode whose id is in the bank already stays as
                it is.
            evidence: what it says of the memory it was shown, counted once in the same write.
            policy: what becomes of lessons that the bank has already: `append`, `skip`, `link`, or a `Policy`.
            written: ids this branch of the thread has written; other lessons of the thread are then of other branches,
                as far as that can be told, and take no new one's place.
            pending: the attempt, if it waits for a verdict or its lessons; `resolve` learns from it later. One that
                the bank has learned from does not wait again.
            cap: the most items that are accepted.
            usage: what the attempt used, as in `BankStats.usage`; `stats` counts it once, with the attempt.

        Raises:
            TooManyItemsError: there are more than `cap` items.
            InvalidRecordError: the records belong to several experiences, or one of the items is not an item.
            UnmeasuredEmbedderError: near copies are to be linked, and it is unknown how similar they are.
            PastBankError: this bank came from `as_of()` and is read-only.
        """
        return self._write(self._add(items, episodes, evidence, policy, written, pending, cap, usage))

    async def aadd(
        self,
        items: Iterable[MemoryItem],
        *,
        episodes: Iterable[Episode] = (),
        evidence: Evidence | None = None,
        policy: PolicyLike = "append",
        written: Iterable[str] = (),
        pending: PendingAttempt | None = None,
        cap: int = ITEMS_PER_GROUP,
        usage: Usage | None = None,
    ) -> WeighedResult:
        """Async form of `add`."""
        return await self._awrite(self._add(items, episodes, evidence, policy, written, pending, cap, usage))

    def guard(self, model: str = "") -> GuardStatus:
        """Return what the guard knows of this bank and a model (`Guard.model`): the state of memory, with figures.

        It is what the guard knows today, also of a bank from `as_of()`.
        """
        return self._read(guarding.status_of(self.namespace, model))

    async def aguard(self, model: str = "") -> GuardStatus:
        """Async form of `guard`."""
        return await self._aread(guarding.status_of(self.namespace, model))

    def guards(self) -> list[GuardStatus]:
        """Return what the guard knows of this bank and each model, in the order of their names; it outlives lessons."""
        return self._read(guarding.statuses(self.namespace))

    async def aguards(self) -> list[GuardStatus]:
        """Async form of `guards`."""
        return await self._aread(guarding.statuses(self.namespace))

    def set_status(self, item_ids: Iterable[str], status: ItemStatus, *, reason: str = "") -> list[str]:
        """Take items, by one id or several, out of sight (`superseded`, `quarantined`) or back (`active`).

        Args:
            item_ids: the ids.
            status: the new status.
            reason: why, for the ledger.

        Returns:
            The ids of the items whose status changed.

        Raises:
            ValueError: there is no such status; nothing was written.
        """
        return self._write(forgetting.set_status(self.namespace, as_ids(item_ids), status, reason))

    async def aset_status(self, item_ids: Iterable[str], status: ItemStatus, *, reason: str = "") -> list[str]:
        """Async form of `set_status`."""
        return await self._awrite(forgetting.set_status(self.namespace, as_ids(item_ids), status, reason))

    def forget(
        self,
        id: str | None = None,
        *,
        thread_id: str | None = None,
        run_id: str | None = None,
        experience_id: str | None = None,
        cascade: bool = True,
        reason: str = "",
        dry_run: bool = False,
    ) -> list[str]:
        """Remove lessons and attempts for good, chosen by exactly one of id, thread, run or experience.

        Attempts are episodes and those that wait, of which then nothing is learned any more.

        Their vectors are removed too. `ChromaStore.vacuum()` removes what the store's files keep of deleted rows, and
        `checkpointer.delete_thread()` removes checkpoints, which this leaves alone.

        Args:
            id: one lesson or one attempt. An attempt is also removed with the last of its lessons.
            thread_id: everything that a thread learned.
            run_id: everything that one run learned.
            experience_id: everything learned from one attempt.
            cascade: also remove what was learned from one of these, or in runs that were shown one, and so on.
            reason: why, for the ledger, which keeps the ids and none of the text.
            dry_run: whether to remove nothing and return what would be removed.

        Returns:
            The ids of the lessons that were removed, and `id` if it was that of an attempt.

        Raises:
            ValueError: none or several of the four are given, or an empty one.
        """
        chosen = {"id": id, "thread_id": thread_id, "run_id": run_id, "experience_id": experience_id}
        operation = forgetting.forget(self.namespace, chosen, cascade=cascade, reason=reason, dry_run=dry_run)
        return self._write(operation)

    async def aforget(
        self,
        id: str | None = None,
        *,
        thread_id: str | None = None,
        run_id: str | None = None,
        experience_id: str | None = None,
        cascade: bool = True,
        reason: str = "",
        dry_run: bool = False,
    ) -> list[str]:
        """Async form of `forget`."""
        chosen = {"id": id, "thread_id": thread_id, "run_id": run_id, "experience_id": experience_id}
        operation = forgetting.forget(self.namespace, chosen, cascade=cascade, reason=reason, dry_run=dry_run)
        return await self._awrite(operation)

    def forget_all(self, *, reason: str = "") -> list[str]:
        """Remove every lesson and attempt of this namespace for good, and none of the namespaces below it.

        The ledger stays; it holds ids and no text.

        Returns:
            The ids of the lessons.
        """
        return self._write(forgetting.forget_all(self.namespace, reason))

    async def aforget_all(self, *, reason: str = "") -> list[str]:
        """Async form of `forget_all`."""
        return await self._awrite(forgetting.forget_all(self.namespace, reason))

    def export_jsonl(self, path: str | os.PathLike[str]) -> int:
        """Write every lesson and episode to a file, one a line after a header line; return how many lessons there are.

        The file appears whole or not at all. It holds no vectors: texts are embedded again when it is imported.
        Attempts that wait (`pending()`) stay here: resolve them first to take along what they teach.
        """
        items = self.items()
        jsonl.write(Path(path), items, self.episodes())
        return len(items)

    def import_jsonl(self, path: str | os.PathLike[str]) -> Imported:
        """Add what an exported file holds and this bank lacks: all of it or, if a line is wrong, nothing.

        Every line is checked before anything is written. Items keep their ids and times, but not their `utility`:
        attempts in another bank earned it. Items that are in the bank already are skipped, and so are attempts that are
        there under other ids. Up to 2,400 records appear together. If the process is killed during a longer import,
        whole experiences remain, and the same call completes it.

        Raises:
            ImportFileError: a line is wrong; the error names it and says why.
            PastBankError: this bank came from `as_of()` and is read-only.
        """
        file = Path(path)
        return self._write(importing.import_file(self.namespace, self.match, file, jsonl.read(file)))

    def reconcile(self, thread_id: str, graph: Graph, *, forget: bool = False) -> list[MemoryItem]:
        """Return the items a thread is known to have written on branches its latest checkpoint does not descend from.

        Other threads see such items until they are forgotten here. Lessons of runs that worked side by side on the
        thread are kept.

        Args:
            thread_id: the thread.
            graph: the compiled graph that wrote them, with its checkpointer.
            forget: whether to remove them.

        Raises:
            UnknownBranchError: the graph has no checkpoint of that thread, or its checkpoint does not say what was
                written; or items are to be removed and the branch of some cannot be known (nothing is removed).
        """
        state = checkpointed(graph, thread_id).get_state(latest(thread_id))
        return self._write(orphans(self.namespace, thread_id, state, forget=forget))

    async def areconcile(self, thread_id: str, graph: Graph, *, forget: bool = False) -> list[MemoryItem]:
        """Async form of `reconcile`."""
        state = await checkpointed(graph, thread_id).aget_state(latest(thread_id))
        return await self._awrite(orphans(self.namespace, thread_id, state, forget=forget))
