"""Merging lessons on request, as methods of a bank."""

from __future__ import annotations

from collections.abc import Iterable

from reasoningbank_langgraph.bank.access import StoreAccess
from reasoningbank_langgraph.bank.arguments import as_id
from reasoningbank_langgraph.bank.operations import Ops
from reasoningbank_langgraph.bank.upkeep import merges
from reasoningbank_langgraph.records import MemoryItem


class Merging(StoreAccess):
    """Part of `MemoryBank`: what puts one lesson in the place of several."""

    def merge(
        self,
        item_ids: Iterable[str],
        *,
        title: str | None = None,
        description: str | None = None,
        content: str | None = None,
    ) -> MemoryItem:
        """Put one new lesson in the place of several that say the same.

        No lesson is changed: the originals stay, `superseded`, and the new one names them in `supersedes`. It is found
        by the task of the first; it is not shown for the task of any of them, nor on a branch that may not see all of
        them. What was known of their worth stays theirs. The same call again changes nothing.

        Args:
            item_ids: two lessons or more, in use and of the same outcome.
            title: title of the new lesson; by default that of the first.
            description: likewise.
            content: likewise.

        Returns:
            The new lesson.

        Raises:
            CannotMergeError: a lesson is not in the bank or not in use, or a success is to be merged with a failure.
            PastBankError: this bank came from `as_of()` and is read-only.
        """
        return self._write(self._merge(item_ids, title, description, content))

    async def amerge(
        self,
        item_ids: Iterable[str],
        *,
        title: str | None = None,
        description: str | None = None,
        content: str | None = None,
    ) -> MemoryItem:
        """Async form of `merge`."""
        return await self._awrite(self._merge(item_ids, title, description, content))

    def undo_merge(self, item_id: str) -> list[str]:
        """Take a merged lesson out of use, and bring back those it stands for.

        Returns:
            The ids of the lessons that are in use again: those that were not forgotten, and that no other lesson in use
            stands for.

        Raises:
            CannotMergeError: the lesson is not a merged one.
        """
        return self._write(merges.undo(self.namespace, as_id(item_id)))

    async def aundo_merge(self, item_id: str) -> list[str]:
        """Async form of `undo_merge`."""
        return await self._awrite(merges.undo(self.namespace, as_id(item_id)))

    def _merge(
        self, item_ids: Iterable[str], title: str | None, description: str | None, content: str | None
    ) -> Ops[MemoryItem]:
        given = {"title": title, "description": description, "content": content}
        text = {name: value for name, value in given.items() if value is not None}
        names = list(dict.fromkeys(as_id(name) for name in ([item_ids] if isinstance(item_ids, str) else item_ids)))
        return merges.merge(self.namespace, self.match, names, text)
