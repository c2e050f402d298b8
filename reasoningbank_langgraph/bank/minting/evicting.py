"""Old lessons that make room in a full bank."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from reasoningbank_langgraph.bank.branches import Branch
from reasoningbank_langgraph.bank.item_values import Namespace, find, to_item
from reasoningbank_langgraph.bank.minting.deciding import Treated
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.bank.rows.crediting import utility_of, visible_credits
from reasoningbank_langgraph.bank.rows.ledger import draft_of_rows
from reasoningbank_langgraph.bank.upkeep.forgetting import rewritten, with_status
from reasoningbank_langgraph.namespaces import CREDIT, beside
from reasoningbank_langgraph.policies import leaving
from reasoningbank_langgraph.records import utc_now

if TYPE_CHECKING:
    from langgraph.store.base import PutOp


def make_room(
    namespace: Namespace, capacity: int | None, coming: int, going: Collection[str]
) -> Ops[tuple[Sequence[PutOp], list[Treated]]]:
    """Return what sets lessons aside so that new ones have room, and which these are. A bank with room is not read.

    Args:
        namespace: the bank.
        capacity: lessons in use at most; None for no limit.
        coming: lessons that are about to be added.
        going: ids of lessons that the same write takes out of use or removes.
    """
    if capacity is None or not coming:
        return (), []
    (beyond,) = yield [find(namespace, {"status": "active"}, None, 1, max(0, capacity - coming))]
    if not beyond:
        return (), []
    rows = yield from rows_where(namespace, {})
    credit = yield from visible_credits(
        namespace, (yield from rows_where(beside(namespace, CREDIT), {})), Branch(), None
    )
    in_use = [to_item(row) for row in rows if row.value["status"] == "active" and row.key not in going]
    known = [
        item.model_copy(update={"utility": utility_of(credit[item.id])}) if item.id in credit else item
        for item in in_use
    ]
    names = dict.fromkeys(item.id for item in leaving(known, capacity, coming))
    moment = utc_now()
    changed = {row.key: with_status(row.value, "quarantined", moment) for row in rows if row.key in names}
    # What goes by the same write is in use no more: it does not keep the vector of a task for the others.
    before = {row.key: {**row.value, "status": "going"} if row.key in going else row.value for row in rows}
    puts = rewritten(namespace, before, changed)
    gone = [row for row in rows if row.key in changed]
    drafts = draft_of_rows(namespace, "evicted", gone, after={"status": "quarantined"}, reason="the bank was full")
    return [*puts, *drafts], [Treated(name, "evicted") for name in names]
