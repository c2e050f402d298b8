"""What can be read of a bank: lessons and examples for a task, single lessons, all lessons, all episodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.bank.access import StoreAccess, Totals
from reasoningbank_langgraph.bank.arguments import as_ids
from reasoningbank_langgraph.bank.branches import Branch
from reasoningbank_langgraph.bank.examples import EXAMPLE_FLOOR, Recalled, Show
from reasoningbank_langgraph.bank.metadata import Where, check_where
from reasoningbank_langgraph.bank.rows import crediting, guarding
from reasoningbank_langgraph.bank.searching import Question

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank.rows.crediting import DatedCredit
    from reasoningbank_langgraph.bank.rows.guarding import DatedTrial
    from reasoningbank_langgraph.records import Episode, MemoryItem, RetrievedExample, RetrievedMemory
    from reasoningbank_langgraph.store.row_layout import Vector


class BankReader(StoreAccess):
    """Part of `MemoryBank`: what reads."""

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
        where: Where | None = None,
        levels: bool = False,
    ) -> list[RetrievedMemory]:
        """Return the lessons that fit a task, best first; one embedding call.

        Some items are never returned: lessons of the task itself, items that are not active or are past `valid_until`,
        and items that `thread_id` is known to have learned on a branch that this one does not descend from.

        Args:
            task: text of the task at hand.
            task_id: its id; by default a hash of its text.
            k: number of experiences to return, each with its items (one is best: paper section 4.5).
            max_items: largest number of items to return in all.
            min_score: lowest similarity, 0..1; None for no limit.
            thread_id: the thread that asks; None for no branch filter.
            written: ids this branch of the thread has written, oldest first.
            attempt: what `retrieve` recorded of the attempt that asks (`state["attempt"]`); tells branches apart.
            where: only lessons of these `tags`, this `scope`, `difficulty`, `outcome`, as in `{"tags": "algebra"}`.
            levels: where no lesson reaches a similarity of 0.6, those that three tasks or more have led to come first:
                equal lessons, linked near copies and merged ones count together. `why` says so.

        Raises:
            ValueError: a number makes no sense, or `where` names anything else.
        """
        branch = Branch.asking(thread_id, written, attempt)
        question = Question(task, task_id, k, max_items, min_score, branch, check_where(where), levels)
        return self._read(self._search(question)).memories

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
        where: Where | None = None,
        levels: bool = False,
    ) -> list[RetrievedMemory]:
        """Async form of `search`."""
        branch = Branch.asking(thread_id, written, attempt)
        question = Question(task, task_id, k, max_items, min_score, branch, check_where(where), levels)
        return (await self._aread(self._search(question))).memories

    def search_examples(
        self,
        task: str,
        *,
        task_id: str | None = None,
        k: int = 1,
        min_score: float | None = EXAMPLE_FLOOR,
        thread_id: str | None = None,
        written: Iterable[str] | None = None,
        attempt: Mapping[str, Any] | None = None,
    ) -> list[RetrievedExample]:
        """Return successes at the k most similar other tasks, to be shown as worked examples; one embedding call.

        Which judge called it a success is in `why` and in `episode.provenance.judge`: a `reference` proves it, the
        opinion of a model does not. Never returned: the task itself, solutions that were cut or have, with their task,
        more than 6,000 characters, and what `search` leaves out because of its branch.

        Args:
            task: text of the task at hand.
            task_id: its id; by default a hash of its text.
            k: number of examples, each of another experience.
            min_score: lowest similarity of the two tasks, 0..1, which no example of a store without an index reaches;
                None for no limit.
            thread_id: the thread that asks; None for no branch filter.
            written: ids this branch of the thread has written, oldest first.
            attempt: what `retrieve` recorded of the attempt that asks (`state["attempt"]`); tells branches apart.
        """
        branch = Branch.asking(thread_id, written, attempt)
        return self._read(self._search_examples(Question(task, task_id, k, k, min_score, branch)))

    async def asearch_examples(
        self,
        task: str,
        *,
        task_id: str | None = None,
        k: int = 1,
        min_score: float | None = EXAMPLE_FLOOR,
        thread_id: str | None = None,
        written: Iterable[str] | None = None,
        attempt: Mapping[str, Any] | None = None,
    ) -> list[RetrievedExample]:
        """Async form of `search_examples`."""
        branch = Branch.asking(thread_id, written, attempt)
        return await self._aread(self._search_examples(Question(task, task_id, k, k, min_score, branch)))

    def recall(self, show: Show, min_example_score: float | None, **question: Any) -> Recalled:
        """Return what is shown before a task, lessons, an example or both, with one embedding call.

        Args:
            show: which of them.
            min_example_score: lowest similarity of the task of the example; None for no limit.
            question: the arguments of `search`.
        """
        return self._read(self._recall(show, min_example_score, question))

    async def arecall(self, show: Show, min_example_score: float | None, **question: Any) -> Recalled:
        """Async form of `recall`."""
        return await self._aread(self._recall(show, min_example_score, question))

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
        """Return how many items and experiences the bank holds, and how many items of each outcome."""
        return self._read(self._totals())

    def credit_history(self) -> list[DatedCredit]:
        """Return what groups of attempts said of lessons, oldest first; of each lesson the last 300 count.

        The `utility` of a lesson is their sum.
        """
        return self._read(crediting.history(self.namespace, self._past))

    def trial_history(self, model: str = "") -> list[DatedTrial]:
        """Return the tasks that the guard of a model (`Guard.model`) counted, oldest first.

        A task that counted in several tests is there once, as in the last.
        """
        return self._read(guarding.history(self.namespace, model, self._past))

    def vectors(self, ids: Iterable[str]) -> dict[str, Vector]:
        """Return the stored vectors of lessons by id: of title and description or, under `match="task"`, of the task.

        They are numpy arrays of length 1. Nothing is embedded. Lessons without a vector are left out: under
        `match="task"`, all of an experience but the first; of a store that keeps no vectors or does not give them, as
        only `ChromaStore` does, all lessons.
        """
        given = getattr(self.store, "stored_vectors", None)
        found = given(self.namespace, as_ids(ids)) if given else {}
        return {name: vectors[-1] for name, vectors in found.items()}

    def has_attempt(self, digest: str) -> bool:
        """Say whether the bank holds anything of an attempt.

        Args:
            digest: its content identity: `attempt.digest(thread_id)`.
        """
        return self._read(self._has_attempt(digest))

    async def ahas_attempt(self, digest: str) -> bool:
        """Async form of `has_attempt`."""
        return await self._aread(self._has_attempt(digest))

    def episodes(self) -> list[Episode]:
        """Return all judged attempts that the bank holds, oldest first."""
        return self._read(self._episodes())

    async def aepisodes(self) -> list[Episode]:
        """Async form of `episodes`."""
        return await self._aread(self._episodes())
