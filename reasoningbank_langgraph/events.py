"""What `stream_mode="custom"` yields: one event for each step, with counts, ids and milliseconds."""

from __future__ import annotations

import time
from typing import Final, Literal, NotRequired

from typing_extensions import TypedDict

from reasoningbank_langgraph.policies import Effect, GuardState, Withheld
from reasoningbank_langgraph.records import IndeterminateReason, VerdictStatus

TYPE: Final = "reasoningbank"
"""The `type` of every event, which sets it apart from events of the graph around the loop."""
ExtractionReason = Literal[
    "indeterminate", "unparsed", "refused", "truncated", "empty", "error", "dropped", "weak_model"
]
"""Why an attempt gave no lesson. `indeterminate`: it has no verdict to learn from; `unparsed`: the model's reply holds
no readable lesson; `refused`: the model refused; `truncated`: the reply ended before a lesson was complete; `empty`:
the model found nothing worth keeping, or said nothing; `error`: the call failed, and `raw` holds the error; `dropped`:
every lesson was left out, and `dropped` says why; `weak_model`: weak models are not asked about failures, very small
ones about nothing."""
DropReason = Literal[
    "over_cap",
    "copied",
    "task_details",
    "invalid",
    "broken_off",
    "masked",
    "mixed_scripts",
    "empty_title",
    "about_prompt",
    "says_nothing",
]
"""Why a lesson of a reply was left out. `over_cap`: the attempt already has as many lessons as are kept; `copied`: it
repeats the attempt, the prompt, a lesson that was shown or another lesson of the reply; `task_details`: it contains
numbers, names, identifiers or addresses of its task; `invalid`: one of its texts is blank or too long; `broken_off`: a
text ends in mid-sentence; `masked`: it uses letters in place of numbers or names; `mixed_scripts`: it contains letters
of another script; `empty_title`: its title would suit any lesson; `about_prompt`: it is about the request and not about
tasks; `says_nothing`: its advice would suit any task."""
SelectedBy = Literal["only", "verifier", "majority", "model", "judge", "first", "function"]
"""What selected a rollout. `only`: all others ended with an error; `verifier`: a verifier accepted it; `majority`: its
answer has the most votes; `model`: a model chose it; `judge`: no answer has the most votes, and the judge considers
this one a success; `first`: nothing else decided; `function`: the function passed as `select` chose it."""


class Comparison(TypedDict):
    """How the rollouts of one task did with lessons and without them.

    With `Scaling(memory="half")` it is fair evidence for or against these lessons. With `on_disagreement` it is not:
    the rollouts without were looked at first, and those that agree are never compared.
    """

    ids: list[str]
    """Ids of the lessons that were shown."""
    right_with: int
    """Rollouts that were shown them and solved the task; one that ended with an error is counted nowhere."""
    wrong_with: int
    right_without: int
    wrong_without: int


class _Event(TypedDict):
    type: Literal["reasoningbank"]
    ms: float
    """Milliseconds the step took."""
    count: int
    """How many lessons, verdicts or rollouts the step dealt with."""
    ids: list[str]
    """Ids of the lessons that the step dealt with."""


class RetrievedEvent(_Event):
    """Lessons were retrieved for a task."""

    event: Literal["retrieved"]
    usage: dict[str, int]
    """What was embedded: `texts` and `characters`. Empty if the store does not tell its embedder."""
    scores: list[float | None]
    """Similarity of each lesson to the task, 0..1; None if the store has no index."""
    namespace: list[str]
    """The bank, labels filled in."""
    dropped: NotRequired[list[str]]
    """Only with `min_score`: ids of lessons that are less similar and so not shown. Of each of the `k` nearest
    experiences it is the nearest lesson."""
    dropped_scores: NotRequired[list[float]]
    """Similarity of each of these."""
    withheld: NotRequired[Withheld | None]
    """Only with a guard: why what was found is not shown, nor counted here; None where it is."""
    examples: NotRequired[list[str]]
    """Ids of the episodes shown as examples, which `count` leaves out; only if examples are asked for."""
    example_scores: NotRequired[list[float | None]]
    """Similarity of the task of each example to the task, 0..1; None if the store has no index."""


class JudgedEvent(_Event):
    """An attempt was judged; with MaTTS, one event covers all rollouts of the task."""

    event: Literal["judged"]
    statuses: NotRequired[dict[VerdictStatus, int]]
    """With MaTTS: how many verdicts have each status."""
    status: NotRequired[VerdictStatus]
    """Only for a single attempt, like `reason`, `judge`, `asked` and `fallbacks`."""
    reason: NotRequired[IndeterminateReason | None]
    """Why the verdict is indeterminate."""
    judge: NotRequired[str]
    asked: NotRequired[str | None]
    """The reply format the model was asked for; None before its first reply, and without a model."""
    fallbacks: NotRequired[dict[str, int]]
    """How often the server refused each reply format or token cap."""
    usage: dict[str, int]
    """What judging used: `calls` of models, and `input_tokens, output_tokens, total_tokens` as their replies say."""


class ExtractedEvent(_Event):
    """Lessons were distilled, not yet written."""

    event: Literal["extracted"]
    reason: ExtractionReason | None
    """Why there are none."""
    dropped: dict[DropReason, int]
    """How many lessons were left out, by reason."""
    asked: str | None
    fallbacks: dict[str, int]
    usage: dict[str, int]
    """What distilling used, as in `JudgedEvent`."""


class ConsolidatedEvent(_Event):
    """Lessons were written. `count` is the number of new ones, `ids` all that the bank now holds of this attempt."""

    event: Literal["consolidated"]
    namespace: list[str]
    usage: dict[str, int]
    """What was embedded, as in `RetrievedEvent`."""
    quarantined: NotRequired[list[str]]
    """Ids of lessons that are now known to do harm, and were taken out of sight."""
    effects: NotRequired[dict[Effect, int]]
    """How many lessons the policy did something else with than adding them."""
    pending: NotRequired[list[str]]
    """Ids of attempts that now wait for a verdict or for a model; `MemoryBank.resolve` takes them."""
    error: NotRequired[str]
    """Why the bank could not be reached. The lessons then wait in `unwritten`."""


class GuardEvent(_Event):
    """The guard switched memory on or off; `count` is the number of pairs that decided."""

    event: Literal["guard"]
    state: GuardState
    model: str
    """The guard's name for the model that solves."""
    fixed: int
    """Pairs in which only the task with memory was solved."""
    broken: int
    """Pairs in which only the task without memory was solved."""
    ties: int
    namespace: list[str]


class RolloutEvent(_Event):
    """One rollout of MaTTS ended; `ids` are those of the lessons it was shown."""

    event: Literal["rollout"]
    number: int
    status: VerdictStatus | None
    """Status of its verdict; None if it was not judged."""
    error: str | None
    checks: int
    usage: dict[str, int]
    """Tokens of all model calls of the rollout: `input_tokens, output_tokens, total_tokens`."""
    steps: dict[str, dict[str, int]]
    """The same by step: `judge` and `check` are memory's own, and `solve` is the solver's."""


class SelectedEvent(_Event):
    """One rollout was selected."""

    event: Literal["selected"]
    number: int
    by: SelectedBy
    oracle: bool
    """Whether the known answer influenced the choice."""
    skipped: int
    """Rollouts that were not needed."""
    estimated_tokens_saved: int
    """What they would have used, estimated: each the mean of those made."""
    comparison: Comparison | None
    """None unless rollouts with lessons and without were judged."""
    usage: dict[str, int]
    """What comparing used, as in `JudgedEvent`."""


Event = RetrievedEvent | JudgedEvent | ExtractedEvent | ConsolidatedEvent | GuardEvent | RolloutEvent | SelectedEvent


def milliseconds_since(started: float) -> float:
    """Return the milliseconds since a time returned by `time.perf_counter`."""
    return round((time.perf_counter() - started) * 1000, 3)
