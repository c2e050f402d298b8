"""How the operations of a bank reach its store, and what it reads as it is or as it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph.store.base import GetOp, PutOp

from reasoningbank_langgraph.bank import adding, examples, searching
from reasoningbank_langgraph.bank.arguments import as_id, as_ids, check_items
from reasoningbank_langgraph.bank.branches import Branch
from reasoningbank_langgraph.bank.examples import Recalled, Show
from reasoningbank_langgraph.bank.item_values import Match, Namespace, source_of
from reasoningbank_langgraph.bank.minting.choice import check_policy, for_embedder
from reasoningbank_langgraph.bank.operations import Ops, Result, arun, embedded_texts, in_any_order, run
from reasoningbank_langgraph.bank.rows.crediting import utility_of, visible_credits
from reasoningbank_langgraph.bank.rows.ledger import completed
from reasoningbank_langgraph.bank.searching import Question, Searched
from reasoningbank_langgraph.bank.snapshots import Past, episodes_then, items_then, rows_then
from reasoningbank_langgraph.bank.writer_lock import awriting, to_its_end, writing
from reasoningbank_langgraph.driver import adrive, drive
from reasoningbank_langgraph.errors import PastBankError
from reasoningbank_langgraph.namespaces import CREDIT, EPISODES, LEFT_OUT, beside

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, Item, Op

    from reasoningbank_langgraph.chat.tally import Tally
    from reasoningbank_langgraph.policies import Evidence, PolicyLike
    from reasoningbank_langgraph.records import Episode, MemoryItem, PendingAttempt, RetrievedExample
    from reasoningbank_langgraph.records.usage import Usage


class Totals(NamedTuple):
    """What a bank holds."""

    items: int
    experiences: int
    """What was attempted, once for the attempts of a group, whether or not a lesson came of it."""
    success: int
    failure: int
    contrast: int

    @classmethod
    def of(cls, items: Iterable[tuple[str, str]], episodes: Iterable[tuple[str, str]] = ()) -> Totals:
        """Count items, and episodes beside them, by the experience and the outcome of each."""
        each = list(items)
        outcomes = Counter(outcome for _, outcome in each)
        experiences = len({experience for experience, _ in chain(each, episodes)})
        return cls(len(each), experiences, *(outcomes[name] for name in ("success", "failure", "contrast")))


class StoreAccess:
    """The store and the namespace of a bank, and the moment it is read at."""

    store: BaseStore
    actor: str
    tally: Tally
    """What was used through this object: a row of the ledger says how much of it was new."""
    namespace: Namespace
    match: Match
    _past: Past | None

    def _add(
        self,
        items: Iterable[MemoryItem],
        episodes: Iterable[Episode],
        evidence: Evidence | None,
        policy: PolicyLike,
        written: Iterable[str],
        pending: PendingAttempt | None,
        cap: int,
        usage: Usage | None,
    ) -> Ops[adding.WeighedResult]:
        trial, credit = evidence or (None, None)
        chosen = for_embedder(check_policy(policy, self.match), self.store)
        left = adding.Experience(check_items(items), tuple(episodes), trial, credit, chosen, as_ids(written), pending)
        return adding.add(self.namespace, self.match, left._replace(usage=usage or {}), cap)

    def _search(self, question: Question) -> Ops[Searched]:
        return searching.search(self.namespace, self._on_branch(question), self._past)

    def _search_examples(self, question: Question) -> Ops[list[RetrievedExample]]:
        return examples.search_examples(self.namespace, self._on_branch(question), self._past)

    def _recall(self, show: Show, min_example_score: float | None, asked: Mapping[str, Any]) -> Ops[Recalled]:
        question = Question.asked(**asked)
        if show == "lessons":
            found = yield from self._search(question)
            return Recalled(found.memories, (), found.dropped)
        shown = self._search_examples(question._replace(k=1, max_items=1, min_score=min_example_score))
        if show == "examples":
            return Recalled((), (yield from shown))
        found, example = yield from examples.together(self._search(question), shown)
        return Recalled(found.memories, example, found.dropped)

    def _on_branch(self, question: Question) -> Question:
        """Return the question as asked on the branch of the checkpoint that is looked at, unless it names one."""
        if self._past and question.branch.thread_id is None:
            return question._replace(branch=self._past.branch)
        return question

    def _get(self, item_id: str) -> Ops[MemoryItem | None]:
        place, name = beside(self.namespace, CREDIT), as_id(item_id)
        row, credit = yield [GetOp(self.namespace, name), GetOp(place, name)]
        found = yield from items_then(self.namespace, self._past, [row] if row else [])
        return next(iter((yield from self._with_utility(found, [credit] if credit else []))), None)

    def _items(self) -> Ops[list[MemoryItem]]:
        rows = yield from in_any_order(self.namespace, {})
        found = yield from items_then(self.namespace, self._past, rows)
        credit = yield from in_any_order(beside(self.namespace, CREDIT), {})
        return (yield from self._with_utility(found, credit))

    def _totals(self) -> Ops[Totals]:
        """Count the rows: no record is made of them, and no credit is read."""
        items = yield from self._rows(self.namespace)
        episodes = yield from self._rows(beside(self.namespace, EPISODES))
        return Totals.of(map(source_of, items), map(source_of, episodes))

    def _with_utility(self, items: Sequence[MemoryItem], credit: Sequence[Item]) -> Ops[list[MemoryItem]]:
        branch = self._past.branch if self._past else Branch()
        known = yield from visible_credits(self.namespace, credit, branch, self._past)
        return [
            item.model_copy(update={"utility": utility_of(known[item.id])}) if item.id in known else item
            for item in items
        ]

    def _has_attempt(self, digest: str) -> Ops[bool]:
        for namespace in (beside(self.namespace, EPISODES), self.namespace, beside(self.namespace, LEFT_OUT)):
            if (yield from self._rows(namespace, {"attempt_digest": digest})):
                return True
        return False

    def _episodes(self) -> Ops[list[Episode]]:
        rows = yield from self._rows(beside(self.namespace, EPISODES))
        return (yield from episodes_then(self.namespace, self._past, rows))

    def _rows(self, namespace: Namespace, where: Mapping[str, Any] | None = None) -> Ops[Sequence[Any]]:
        """Return the rows that meet a filter, as they are now or were then, in the order of the store."""
        rows: Sequence[Any] = yield from in_any_order(namespace, where or {})
        return (yield from rows_then(namespace, self._past, rows)) if self._past else rows

    def _read(self, operation: Ops[Result]) -> Result:
        return drive(operation, lambda batch: run(self._completed(batch), self.store))

    async def _aread(self, operation: Ops[Result]) -> Result:
        return await adrive(operation, lambda batch: arun(self._completed(batch), self.store))

    def _write(self, operation: Ops[Result]) -> Result:
        self._require_present()
        with writing(self.store, self.namespace):
            return self._read(operation)

    async def _awrite(self, operation: Ops[Result]) -> Result:
        self._require_present()
        async with awriting(self.store, self.namespace):
            return await adrive(operation, self._acarry_out)

    async def _acarry_out(self, batch: Sequence[Op]) -> list[Any]:
        done = arun(self._completed(batch), self.store)
        return await (to_its_end(done) if any(isinstance(op, PutOp) for op in batch) else done)

    def _completed(self, batch: Sequence[Op]) -> Ops[list[Any]]:
        if texts := embedded_texts(batch, self.store):
            self.tally.count({"embed": {"texts": len(texts), "characters": sum(map(len, texts))}})
        return completed(self.namespace, self.actor, batch, self.tally)

    def _require_present(self) -> None:
        if self._past:
            raise PastBankError("as_of() returns a bank for reading only: write to the bank it was made from")
