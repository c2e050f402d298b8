"""Taking over what other memories hold: once, and only to look at it on request."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from reasoningbank_langgraph.bank.access import StoreAccess
from reasoningbank_langgraph.bank.exchange.foreign import Foreign, MemorySource, Skipped, read
from reasoningbank_langgraph.bank.exchange.importing import import_file
from reasoningbank_langgraph.bank.exchange.jsonl import Exported
from reasoningbank_langgraph.bank.item_values import without_secrets
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.records import MemoryItem, Outcome


class Migrated(NamedTuple):
    """What `MemoryBank.import_from` did, or would do."""

    added: Sequence[MemoryItem]
    known: int
    """Lessons that were in the bank already."""
    skipped: Sequence[Skipped]
    """What was left out, by its line, and why."""


class Migrating(StoreAccess):
    """Part of `MemoryBank`: what takes over the lessons of other memories."""

    def import_from(
        self,
        source: MemorySource,
        path: str | os.PathLike[str],
        *,
        outcome: Outcome | None = None,
        dry_run: bool = False,
    ) -> Migrated:
        """Add the lessons of another memory, each once, however often its file is imported.

        Their ids come from what they say. Lines that hold no lesson are left out and named. All lessons of a file name
        it in their provenance: `forget(run_id="import:langmem:FILE")` removes them.

        Args:
            source: whose file it is.
            path: a file with one JSON object a line.
            outcome: what lessons were learned from, where the file does not say so. Without it such lessons are left
                out, as langmem's are, which has no verdicts.
            dry_run: whether to change nothing.

        Raises:
            ValueError: there is no such source or outcome.
            ImportFileError: the file cannot be read.
            PastBankError: this bank came from `as_of()` and is read-only.
        """
        file = Path(path)
        operation = self._import_from(file, read(source, file, outcome), dry_run=dry_run)
        return self._read(operation) if dry_run else self._write(operation)

    def _import_from(self, path: Path, found: Foreign, *, dry_run: bool) -> Ops[Migrated]:
        known = {row.key for row in (yield from rows_where(self.namespace, {}))}
        added = [without_secrets(item) for _, item in found.items if item.id not in known]
        if added and not dry_run:
            yield from import_file(self.namespace, self.match, path, Exported(list(found.items), []))
        return Migrated(added, len(found.items) - len(added), found.skipped)
