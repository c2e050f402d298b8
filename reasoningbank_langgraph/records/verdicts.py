"""What a judge decided about one attempt, and why."""

from __future__ import annotations

from typing import Literal

from reasoningbank_langgraph.messages import Text
from reasoningbank_langgraph.records.base import Record, Score

VerdictStatus = Literal["success", "failure", "indeterminate"]
"""What a judge decided. `success`: the task is solved; `failure`: it is not; `indeterminate`: it could not be
decided, and nothing is learned."""
IndeterminateReason = Literal["unparsed", "conflict", "refused", "truncated", "error", "no_evidence"]
"""Why a verdict is indeterminate. `unparsed`: the judge's reply holds no readable verdict; `conflict`: it says two
different things; `refused`: the model refused to judge; `truncated`: the reply broke off; `error`: the call or the
judge itself failed; `no_evidence`: there is no basis for a decision, such as an answer, a reference or agreement."""

FailureKind = Literal["unreachable", "busy", "timeout", "key", "not_found", "other"]
"""What kind of failure ended a call. `unreachable`: the server could not be reached or failed; `busy`: it takes no more
requests for now; `timeout`: no answer came in time; `key`: the API key was refused; `not_found`: there is no such model
or address; `other`: anything else. Only the first two may pass by themselves."""


class Verdict(Record):
    """What a judge decided about one attempt, and why."""

    status: VerdictStatus
    confidence: Score | None = None
    rationale: Text = ""
    judge: str = ""
    reason: IndeterminateReason | None = None
    """Why the verdict is indeterminate; None otherwise."""
    failure: FailureKind | None = None
    """What kind of failure it was, if the reason is `error`."""
