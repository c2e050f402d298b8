"""What can be done with the lessons of one namespace.

Every operation is written once, as a generator that yields store operations and is sent their results; `_run` and
`_arun` carry them to a store.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from langgraph.store.base import GetOp

from reasoningbank_langgraph.bank.layout import (
    Match,
    changes,
    delete,
    find,
    matched_text,
    on_branch,
    put,
    rank,
    retrieved,
    to_item,
    usable,
)
from reasoningbank_langgraph.errors import InvalidRecordError, TooManyItemsError
from reasoningbank_langgraph.namespaces import check_template
from reasoningbank_langgraph.records import ITEMS_PER_GROUP, MemoryItem, RetrievedMemory, task_key

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, Op, SearchItem

Result = TypeVar("Result")
Ops = Generator["Sequence[Op]", "list[Any]", Result]

_PAGE = 500


class Written(NamedTuple):
    """What `MemoryBank.add` did."""

    ids: list[str]
    """Ids under which the lessons of this attempt are in the bank."""
    added: int
    """Rows written by this call: 0 when the attempt was in the bank already."""


class Totals(NamedTuple):
    """What a bank holds."""

    items: int
    experiences: int
    success: int
    failure: int
    contrast: int


class MemoryBank:
    """The lessons of one namespace.

    Args:
        store: any LangGraph store. One without an index cannot rank by similarity and returns the newest first.
        namespace: labels of the bank, without braces.
        match: which text a task is matched with, fixed when an item is written: the task it was learned on (as in
            the paper, section 3.2), the lesson (title and description), or both, of which the better counts.

    Raises:
        InvalidNamespaceLabelError: the namespace is one that stores refuse.
    """

    def __init__(self, store: BaseStore, namespace: str | Sequence[str], *, match: Match = "both") -> None:
        if match not in ("both", "task", "lesson"):
            raise ValueError(f"match must be 'both', 'task' or 'lesson', got {match!r}")
        self.store, self.namespace, self.match = store, check_template(namespace), match

    def add(self, items: Iterable[MemoryItem], *, cap: int = ITEMS_PER_GROUP) -> Written:
        """Write the lessons of one attempt: all together or none, and once, however often it is called.

        Rows that are there already keep their counts. Rows that an earlier try at the same attempt left and this one
        does not have are removed. An attempt whose digest is in the bank under another experience (a replay) adds
        nothing. Items without a digest are known by their experience alone.

        Raises:
            TooManyItemsError: more than `cap` items.
            InvalidRecordError: the items belong to several experiences.
        """
        return self._run(self._add(list(items), cap))

    async def aadd(self, items: Iterable[MemoryItem], *, cap: int = ITEMS_PER_GROUP) -> Written:
        """Async form of `add`."""
        return await self._arun(self._add(list(items), cap))

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
    ) -> list[RetrievedMemory]:
        """Return the lessons that fit a task, best first; one embedding call.

        Never returned: lessons of the task itself, items that are not active or past `valid_until`, and, of the
        thread `thread_id`, items that are not in `written` (they belong to a branch this one does not descend from).

        Args:
            task: text of the task at hand.
            task_id: its id; by default a hash of its text.
            k: experiences to return, of which each brings its items (paper section 4.5: one is best).
            max_items: items to return in all.
            min_score: floor of the similarity, 0..1; None for no floor.
            thread_id: the thread that asks; None for no branch filter.
            written: ids this branch of the thread has written.
        """
        return self._run(self._search(task, task_id, k, max_items, min_score, thread_id, frozenset(written or ())))

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
    ) -> list[RetrievedMemory]:
        """Async form of `search`."""
        found = self._search(task, task_id, k, max_items, min_score, thread_id, frozenset(written or ()))
        return await self._arun(found)

    def get(self, item_id: str) -> MemoryItem | None:
        """Return one item, whatever its status, or None."""
        return self._run(self._get(item_id))

    async def aget(self, item_id: str) -> MemoryItem | None:
        """Async form of `get`."""
        return await self._arun(self._get(item_id))

    def items(self) -> list[MemoryItem]:
        """Return every item of the namespace, oldest first."""
        return self._run(self._items({}))

    async def aitems(self) -> list[MemoryItem]:
        """Async form of `items`."""
        return await self._arun(self._items({}))

    def totals(self) -> Totals:
        """Return how many items and experiences the bank holds, and of which outcome."""
        items = self.items()
        outcomes = [item.outcome for item in items]
        experiences = len({item.experience_id for item in items})
        return Totals(len(items), experiences, *(outcomes.count(name) for name in ("success", "failure", "contrast")))

    def _run(self, operation: Ops[Result]) -> Result:
        try:
            ops = next(operation)
            while True:
                ops = operation.send(self.store.batch(ops))
        except StopIteration as stop:
            result: Result = stop.value
            return result

    async def _arun(self, operation: Ops[Result]) -> Result:
        try:
            ops = next(operation)
            while True:
                ops = operation.send(await self.store.abatch(ops))
        except StopIteration as stop:
            result: Result = stop.value
            return result

    def _add(self, items: list[MemoryItem], cap: int) -> Ops[Written]:
        if len(items) > cap:
            raise TooManyItemsError(len(items), cap)
        if not items:
            return Written([], 0)
        if len({item.experience_id for item in items}) != 1:
            raise InvalidRecordError("add() takes the items of one experience: call it once for each")
        experience, digest = items[0].experience_id, items[0].provenance.attempt_digest
        known = {"attempt_digest": digest} if digest else {"experience_id": experience}
        kin = yield from self._items(known)
        there = [item for item in kin if item.experience_id == experience]
        if kin and not there:
            return Written([item.id for item in kin], 0)
        changed = changes(items, {item.id: item for item in there})
        stale = {item.id for item in there} - {item.id for item in items}
        if changed or stale:
            first = items[0].id
            yield [
                *(put(item, self.namespace, self.match, bears_task=item.id == first) for item in changed),
                *(delete(name, self.namespace) for name in stale),
            ]
        return Written([item.id for item in items], len(changed))

    def _search(
        self,
        task: str,
        task_id: str | None,
        k: int,
        max_items: int,
        min_score: float | None,
        thread_id: str | None,
        written: frozenset[str],
    ) -> Ops[list[RetrievedMemory]]:
        if k < 1 or max_items < 1:
            raise ValueError(f"k and max_items must be at least 1, got k={k}, max_items={max_items}")
        where = usable(task, task_id or task_key(task))
        hits = yield from self._hits(matched_text(task), where, k, thread_id, written)
        scored = [hit for hit in hits if hit.score is not None] or hits
        best: dict[str, SearchItem] = {}
        for hit in sorted(scored, key=rank):
            if min_score is None or hit.score is None or hit.score >= min_score:
                best.setdefault(hit.value["experience_id"], hit)
        chosen = list(best)[:k]
        groups = (yield [self._find({"experience_id": name, **where}, None, 50) for name in chosen]) if chosen else []
        own = {hit.key: hit.score for hit in hits}
        memories: list[RetrievedMemory] = []
        for name, group in zip(chosen, groups, strict=True):
            visible = [row for row in group if on_branch(row, thread_id, written)]
            ranked = sorted(visible, key=lambda row: (-(own.get(row.key) or 0.0), row.key))
            memories += [retrieved(row, best[name], own.get(row.key)) for row in ranked]
        return memories[:max_items]

    def _hits(
        self, query: str, where: dict[str, Any], k: int, thread_id: str | None, written: frozenset[str]
    ) -> Ops[list[SearchItem]]:
        """Return enough rows to hold the best of k experiences: none has more than `ITEMS_PER_GROUP` items."""
        limit = ITEMS_PER_GROUP * k
        if thread_id is None:
            (found,) = yield [self._find(where, query, limit)]
            return list(found)
        others = self._find({**where, "thread_id": {"$ne": thread_id}}, query, limit)
        same = {**where, "thread_id": thread_id}
        page = max(limit, _PAGE)
        elsewhere, mine = yield [others, self._find(same, query, page)]
        own = [row for row in mine if on_branch(row, thread_id, written)]
        offset = page
        while len(mine) == page and len(own) < limit:
            (mine,) = yield [self._find(same, query, page, offset)]
            own += [row for row in mine if on_branch(row, thread_id, written)]
            offset += page
        return [*elsewhere, *own]

    def _get(self, item_id: str) -> Ops[MemoryItem | None]:
        (row,) = yield [GetOp(self.namespace, item_id)]
        return None if row is None else to_item(row)

    def _items(self, where: dict[str, Any]) -> Ops[list[MemoryItem]]:
        rows: dict[str, Any] = {}
        page: list[Any] = []
        offset = 0
        while offset == 0 or len(page) == _PAGE:
            (page,) = yield [self._find(where, None, _PAGE, offset)]
            rows.update((row.key, row) for row in page if row.namespace == self.namespace)
            offset += _PAGE
        return sorted((to_item(row) for row in rows.values()), key=lambda item: (item.created_at, item.id))

    def _find(self, where: dict[str, Any], query: str | None, limit: int, offset: int = 0) -> Op:
        return find(self.namespace, where, query, limit, offset)
