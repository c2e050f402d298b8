"""An attempt that a client reports, as it waits in the bank. Its ids come from its content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import uuid5

from reasoningbank_langgraph.extraction import IDS, Judged, Origin, Waiting, make_pending
from reasoningbank_langgraph.records import Attempt, MemoryItem, PendingAttempt, Provenance, RetrievedMemory, Verdict

if TYPE_CHECKING:
    from reasoningbank_langgraph.mcp.inputs import RecordInput, ResolveInput

JUDGE = "mcp client"


def verdict_of(given: RecordInput | ResolveInput) -> Verdict:
    """Return the verdict that a client gives, which is indeterminate where it gives none."""
    if given.outcome is None:
        return Verdict(status="indeterminate")
    return Verdict(status=given.outcome, confidence=1.0, rationale=given.because, judge=JUDGE)


def attempt_of(given: RecordInput, shown: Sequence[MemoryItem]) -> PendingAttempt:
    """Return a reported attempt as it waits: with its verdict, only for a model that distils.

    Args:
        given: what the client reports.
        shown: the lessons that the attempt was shown.
    """
    said = [("user", given.task), ("assistant", given.steps or given.answer)]
    memories = [RetrievedMemory(item=item) for item in shown]
    attempt = Attempt(task=given.task, messages=said, answer=given.answer, memories=memories)
    digest = attempt.digest(None)
    source = Provenance(memory_ids_used=attempt.shown, attempt_digest=digest)
    origin = Origin(uuid5(IDS, f"recorded|{digest}"), source)
    waiting = Waiting(origin, model="", waits_for="model" if given.outcome else "verdict")
    return make_pending([Judged(attempt, verdict_of(given))], waiting)
