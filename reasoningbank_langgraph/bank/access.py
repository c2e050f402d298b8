"""How the operations of a bank reach its store, and what it reads as it is or as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph.store.base import GetOp

from reasoningbank_langgraph.bank import adding, examples, searching
from reasoningbank_langgraph.bank.arguments import as_id, check_items
from reasoningbank_langgraph.bank.examples import Recalled, Show
from reasoningbank_langgraph.bank.item_values import Match, Namespace, to_episode
from reasoningbank_langgraph.bank.operations import Ops, Result, arun, rows_where, run
from reasoningbank_langgraph.bank.snapshots import Past, items_then, rows_then
from reasoningbank_langgraph.bank.writer_lock import awriting, writing
from reasoningbank_langgraph.errors import PastBankError
from reasoningbank_langgraph.namespaces import EPISODES, beside

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

    from reasoningbank_langgraph.bank.searching import Question
    from reasoningbank_langgraph.policies import Trial
    from reasoningbank_langgraph.records import Episode, MemoryItem, RetrievedExample, RetrievedMemory


class Totals(NamedTuple):
    """What a bank holds."""

    items: int
    experiences: int
    success: int
    failure: int
    contrast: int

    @classmethod
    def of(cls, items: Sequence[MemoryItem]) -> Totals:
        """Count items by outcome."""
        outcomes = [item.outcome for item in items]
        experiences = len({item.experience_id for item in items})
        return cls(len(items), experiences, *(outcomes.count(name) for name in ("success", "failure", "contrast")))


class StoreAccess:
    """The store and the namespace of a bank, and the moment it is read at."""

    store: BaseStore
    namespace: Namespace
    match: Match
    _past: Past | None

    def _add(
        self, items: Iterable[MemoryItem], episodes: Iterable[Episode], trial: Trial | None, cap: int
    ) -> Ops[adding.WriteResult]:
        left = adding.Experience(check_items(items), tuple(episodes), trial)
        return adding.add(self.namespace, self.match, left, cap)

    def _search(self, question: Question) -> Ops[list[RetrievedMemory]]:
        return searching.search(self.namespace, self._on_branch(question), self._past)

    def _search_examples(self, question: Question) -> Ops[list[RetrievedExample]]:
        return examples.search_examples(self.namespace, self._on_branch(question), self._past)

    def _recall(self, question: Question, show: Show, min_example_score: float | None) -> Ops[Recalled]:
        one = question._replace(k=1, max_items=1, min_score=min_example_score)
        if show == "lessons":
            return Recalled((yield from self._search(question)), [])
        if show == "examples":
            return Recalled([], (yield from self._search_examples(one)))
        return Recalled(*(yield from examples.together(self._search(question), self._search_examples(one))))

    def _on_branch(self, question: Question) -> Question:
        """Return the question as asked on the branch of the checkpoint that is looked at, unless it names one."""
        if self._past and question.branch.thread_id is None:
            return question._replace(branch=self._past.branch)
        return question

    def _get(self, item_id: str) -> Ops[MemoryItem | None]:
        rows = [row for row in (yield [GetOp(self.namespace, as_id(item_id))]) if row]
        return next(iter((yield from items_then(self.namespace, self._past, rows))), None)

    def _items(self) -> Ops[list[MemoryItem]]:
        rows = yield from rows_where(self.namespace, {})
        return (yield from items_then(self.namespace, self._past, rows))

    def _episodes(self) -> Ops[list[Episode]]:
        rows: Sequence[Any] = yield from rows_where(beside(self.namespace, EPISODES), {})
        if self._past:
            rows = yield from rows_then(self.namespace, self._past, rows)
        return [to_episode(row) for row in rows]

    def _read(self, operation: Ops[Result]) -> Result:
        return run(operation, self.store)

    async def _aread(self, operation: Ops[Result]) -> Result:
        return await arun(operation, self.store)

    def _write(self, operation: Ops[Result]) -> Result:
        self._require_present()
        with writing(self.store, self.namespace):
            return run(operation, self.store)

    async def _awrite(self, operation: Ops[Result]) -> Result:
        self._require_present()
        async with awriting(self.store, self.namespace):
            return await arun(operation, self.store)

    def _require_present(self) -> None:
        if self._past:
            raise PastBankError("as_of() returns a bank for reading only: write to the bank it was made from")
