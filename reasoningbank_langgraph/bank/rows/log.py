"""Reading the ledger of a bank, and checking that it is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reasoningbank_langgraph.bank.access import StoreAccess, Totals
from reasoningbank_langgraph.bank.item_values import micros
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.errors import InvalidRecordError, StoreCorruptedError
from reasoningbank_langgraph.namespaces import HEADS, LEDGER, beside
from reasoningbank_langgraph.policies.ledger import Change, LogReport, check
from reasoningbank_langgraph.records.usage import SOLVE, Usage, all_tokens, total_usage

if TYPE_CHECKING:
    from langgraph.store.base import Item


class BankStats(NamedTuple):
    """What a bank holds, and what memory used for it."""

    totals: Totals
    usage: Usage
    """By step, since the bank has a ledger: `judge`, `extract`, `check`, `select` and `contradictions` hold the `calls`
    of models and their tokens, `embed` the `texts` and `characters` that were embedded, `solve` what the solver used.
    """

    @property
    def memory_tokens(self) -> int:
        """Tokens of memory's own calls of models, as the replies say."""
        own = {step: counts for step, counts in self.usage.items() if step != SOLVE}
        return all_tokens(own).get("total_tokens", 0)

    @property
    def solver_tokens(self) -> int:
        """Tokens of the solver, as far as the messages of attempts say."""
        return self.usage.get(SOLVE, {}).get("total_tokens", 0)


class Logged(StoreAccess):
    """Part of `MemoryBank`: what tells of its changes."""

    def log(self) -> list[Change]:
        """Return every change of this bank since it has a ledger, oldest first: when, who, why, before and after.

        A row is written in the batch that makes its change, so that there is neither without the other. It names
        lessons and episodes by their ids and holds none of their text, so it stays when they are forgotten. Evidence
        that changes nothing yet has no row.
        """
        return self._read(self._log())

    async def alog(self) -> list[Change]:
        """Async form of `log`."""
        return await self._aread(self._log())

    def stats(self) -> BankStats:
        """Return what the bank holds, and what memory has used for it.

        An attempt is counted once, when it first leaves something here: one whose verdict was indeterminate leaves
        nothing. What was used stays counted when lessons are forgotten.
        """
        return self._read(self._stats())

    async def astats(self) -> BankStats:
        """Async form of `stats`."""
        return await self._aread(self._stats())

    def verify_log(self) -> LogReport:
        """Check that every row of the ledger is there as it was written; see `LogReport` for what cannot be known."""
        return self._read(self._verify_log())

    async def averify_log(self) -> LogReport:
        """Async form of `verify_log`."""
        return await self._aread(self._verify_log())

    def _log(self) -> Ops[list[Change]]:
        rows = yield from rows_where(beside(self.namespace, LEDGER), {})
        told: dict[str, Change] = {}
        for change in sorted(map(_change, rows), key=lambda change: (change.time, change.hash)):
            told.setdefault(change.id, change)
        return [change for change in told.values() if self._past is None or micros(change.time) <= self._past.at]

    def _stats(self) -> Ops[BankStats]:
        totals, changes = (yield from self._totals()), (yield from self._log())
        return BankStats(totals, total_usage(*(change.usage for change in changes)))

    def _verify_log(self) -> Ops[LogReport]:
        rows = yield from rows_where(beside(self.namespace, LEDGER), {})
        heads = yield from rows_where(beside(self.namespace, HEADS), {})
        return check({row.key: row.value for row in rows}, {head.key for head in heads})


def _change(row: Item) -> Change:
    try:
        fields = {field: row.value[field] for field in Change.model_fields if field != "usage"}
        return Change(**fields, usage=row.value.get("usage", {}))
    except (KeyError, TypeError, InvalidRecordError) as error:
        raise StoreCorruptedError(
            f"row {row.key!r} of namespace {row.namespace!r} is no row of a ledger: {error!r:.200}; "
            "verify_log() names all that were altered"
        ) from error
