"""The records that travel through the loop: frozen, JSON in, JSON out.

A record that exists is valid: every cap is checked when it is made, so nothing downstream has to check again.
Invalid values raise `InvalidRecordError` or one of its kinds, never a bare pydantic error.

- `base`: the base of all records: frozen, closed to unknown fields, with named errors; and the types of their fields
- `tasks`: what a task text is known by, and whether a text shows a reader anything
- `lessons`: a lesson, where it comes from, and a lesson as it was retrieved
- `attempts`: one pass at one task
- `verdicts`: what a judge decided about it
- `episodes`: a judged attempt as it is kept beside its lessons: evidence, and material to distil anew
- `usage`: what a step cost in calls, tokens and embedded texts, and adding it up
- `pending`: an attempt that waits in the bank: for a verdict from outside, or for a model that could not be reached
"""

from reasoningbank_langgraph.records.attempts import Attempt
from reasoningbank_langgraph.records.base import Count, Record, Score, UtcDatetime, utc_now
from reasoningbank_langgraph.records.episodes import Episode, RetrievedExample
from reasoningbank_langgraph.records.lessons import (
    CONTENT_CAP,
    DESCRIPTION_CAP,
    ITEMS_PER_ATTEMPT,
    ITEMS_PER_GROUP,
    TASK_CAP,
    TITLE_CAP,
    ItemStatus,
    MemoryItem,
    Outcome,
    Provenance,
    RetrievedMemory,
    Utility,
)
from reasoningbank_langgraph.records.pending import KeptAttempt, PendingAttempt, WaitsFor
from reasoningbank_langgraph.records.tasks import MARKS_IN_A_ROW, has_visible_text, normalise_task, task_key
from reasoningbank_langgraph.records.verdicts import FailureKind, IndeterminateReason, Verdict, VerdictStatus

__all__ = [
    "CONTENT_CAP",
    "DESCRIPTION_CAP",
    "ITEMS_PER_ATTEMPT",
    "ITEMS_PER_GROUP",
    "MARKS_IN_A_ROW",
    "TASK_CAP",
    "TITLE_CAP",
    "Attempt",
    "Count",
    "Episode",
    "FailureKind",
    "IndeterminateReason",
    "ItemStatus",
    "KeptAttempt",
    "MemoryItem",
    "Outcome",
    "PendingAttempt",
    "Provenance",
    "Record",
    "RetrievedExample",
    "RetrievedMemory",
    "Score",
    "UtcDatetime",
    "Utility",
    "Verdict",
    "VerdictStatus",
    "WaitsFor",
    "has_visible_text",
    "normalise_task",
    "task_key",
    "utc_now",
]
