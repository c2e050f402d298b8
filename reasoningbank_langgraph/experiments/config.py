"""What an experiment is: saved with the run, and enough to repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from reasoningbank_langgraph.bank import EXAMPLE_FLOOR
from reasoningbank_langgraph.errors import InvalidRecordError
from reasoningbank_langgraph.records import Record, Score

Protocol = Literal["phase1", "stream", "scaling", "self-improve", "compound"]
TRAINING: tuple[Protocol, ...] = ("self-improve", "compound")
"""Protocols that make training data of what the model solved."""
Truth = Literal["oracle", "self"]
OutcomeFilter = Literal["both", "success", "failure"]
Positive = Annotated[int, Field(ge=1)]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]

_NAMES = (
    "baseline memory vote vote+memory vote+matts vote+examples vote+recurring half gated gated+examples "
    "gated+recurring guarded guarded+examples guarded+recurring levels long shuffled random filler examples "
    "examples-random recurring recurring-random written adapter adapter+memory adapter-other adapter-wrong"
)
ARMS = tuple(_NAMES.split())
CONTROLS = {
    "shuffled": ("memory",),
    "random": ("memory",),
    "filler": ("memory",),
    "examples-random": ("examples",),
    "recurring-random": ("recurring",),
    "written": ("examples", "recurring"),
    "adapter-other": ("adapter",),
    "adapter-wrong": ("adapter",),
}
"""Arms that show other text in place of a memory, or whose adapter learned other data, and the arms they control."""
TUNED = ("adapter", "adapter+memory", "adapter-other", "adapter-wrong")
"""Arms whose solver is the model with an adapter."""
IMPROVING = ("baseline", "memory", *TUNED)
"""Arms of protocol `self-improve`."""
_LEAST_ATTEMPTS = {"vote": 2, "half": 2, "gated": 3}
FROZEN = {*ARMS} - {"baseline", "memory", "vote", "vote+memory", "vote+matts", "long"}
"""Arms that need a bank, or a model, that does not change."""


def guarded_by(arm: str) -> str:
    """Return the arm whose rows a guard chooses between those and the baseline's, "" where an arm has no guard."""
    kind, _, shown = arm.partition("+")
    return (shown or "memory") if kind == "guarded" else ""


class ExperimentConfig(Record):
    """Settings of one experiment."""

    protocol: Protocol
    test: Path
    """JSONL of the problems the arms are compared on."""
    train: Path | None = None
    """JSONL of the problems the bank is made from; protocol `stream` needs none."""
    bank: Path | None = None
    """Folder of a bank that is shown as it is, in place of one made from train problems; protocol `phase1`."""
    namespace: tuple[str, ...] = ()
    """Labels of that bank."""
    limit: Positive = 100
    """Problems of `test`."""
    train_limit: Positive = 60
    """Problems of `train`."""
    other_train: Path | None = None
    """JSONL of the problems that the adapter of arm `adapter-other` learns from, as many as of `train`."""
    samples: Annotated[int, Field(ge=2)] = 8
    """Attempts at a train problem, whose solutions adapters learn from: the first at the temperature of the solver, the
    others at 0.7, as in all arms of several attempts."""
    validation: Path | None = None
    """Protocol `compound`: JSONL of the problems that say whether an adapter is used."""
    cycles: Positive = 3
    """Protocol `compound`: the most there are."""
    tune: Mapping[str, Any] = {}
    """Settings of the adapters, by their names in `TuneSettings`; those that are not here are its defaults."""
    arms: tuple[str, ...] = ("baseline", "memory")
    """The first one is what the others are compared with."""
    seeds: tuple[int, ...] = (0,)
    """Protocol `stream`: one order of the problems each; else the seed of the model and of the controls."""
    model: str | None = None
    """The solver, named as in `reasoningbank solve`."""
    judge_model: str | None = None
    """Judges and distils in place of the solver."""
    judge: Truth = "oracle"
    """Who says what the bank learns from: the reference answer, or the model itself."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    max_tokens: Positive = 512
    """Cap on one solution."""
    k: Positive = 1
    """Experiences to retrieve."""
    max_items: Positive = 3
    match: Literal["both", "task", "lesson"] = "both"
    min_score: Score | None = None
    """Lowest similarity of what is shown; None for no limit for lessons, and the one of the package for examples."""
    outcome: OutcomeFilter = "both"
    """Which lessons are shown."""
    bank_sizes: tuple[Positive, ...] = ()
    """Protocol `phase1`: further memory arms whose bank is from so many of the train problems only."""
    attempts: tuple[Positive, ...] = (3,)
    """Attempts of the arms that make several, and of the MaTTS that taught `vote+matts`: an arm for each number."""
    modes: tuple[Literal["parallel", "sequential"], ...] = ("parallel",)
    agreement: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Arms `gated`: share of the first attempts, made without memory, that must agree for their answer to stand."""
    fixed_k: bool = False
    """Whether a sequential arm makes all its attempts, also after two checks in a row that changed nothing."""
    concurrency: Positive | None = None
    """Problems worked on at the same time, except where a bank grows on the way (`stream`); None for as many as a
    model on this machine works on at once, and one with any other."""
    leave_out_failed: bool = False
    """Go on without the problems that could not be learned from because a model failed; else they are run again."""
    price_in: Price = 0.0
    """Per million tokens of prompt, in any currency."""
    price_out: Price = 0.0
    """Per million tokens of reply."""

    @field_validator("arms", mode="before")
    @classmethod
    def _names_of_earlier_versions(cls, arms: Any, info: ValidationInfo) -> Any:
        """Files that earlier versions wrote say MaTTS of what was a vote: only in a stream did it learn so."""
        if info.mode != "json":
            return arms
        learned = "vote+matts" if info.data.get("protocol") == "stream" else "vote+memory"
        return [{"matts": "vote", "matts+memory": learned}.get(arm, arm) for arm in arms]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        unknown = [arm for arm in self.arms if arm not in ARMS]
        if unknown:
            raise InvalidRecordError(f"no arm is called {unknown[0]!r}: choose from {', '.join(ARMS)}")
        if not self.arms or not self.seeds:
            raise InvalidRecordError("an experiment needs at least one arm and one seed")
        if len(set(self.arms)) < len(self.arms) or len(set(self.seeds)) < len(self.seeds):
            raise InvalidRecordError("an arm and a seed can be used once only")
        if self.protocol != "stream" and self.bank is None and self.train is None:
            raise InvalidRecordError(f"protocol {self.protocol!r} makes its bank from train problems: give train=...")
        if self.protocol == "stream" and (frozen := [arm for arm in self.arms if arm in FROZEN]):
            raise InvalidRecordError(f"{frozen[0]} needs a bank that does not change: use it in protocol 'phase1'")
        if self.protocol == "stream" and "vote+memory" in self.arms:
            raise InvalidRecordError("in protocol 'stream' an arm learns from all its attempts: use 'vote+matts'")
        if self.outcome != "both" and (self.protocol == "scaling" or "vote+matts" in self.arms):
            raise InvalidRecordError("MaTTS learns from successes and failures side by side: use outcome='both'")
        if self.protocol != "phase1" and (self.bank_sizes or self.outcome != "both"):
            raise InvalidRecordError("bank_sizes and outcome choose from a bank that is learned first: use 'phase1'")
        if any(size >= self.train_limit for size in self.bank_sizes):
            raise InvalidRecordError("bank_sizes are parts of train_limit: make them smaller")
        return self

    @model_validator(mode="after")
    def _uses_a_bank_as_it_is(self) -> Self:
        learns = self.protocol != "phase1" or self.train is not None or self.bank_sizes or "vote+matts" in self.arms
        if self.bank is not None and (learns or not self.namespace or self.outcome != "both"):
            raise InvalidRecordError(
                "a bank that is there is shown as it is: give its namespace, nothing to learn, and outcome='both'"
            )
        return self

    @model_validator(mode="after")
    def _tunes_what_it_compares(self) -> Self:
        tuned = [arm for arm in self.arms if arm in TUNED]
        if self.protocol != "self-improve" and tuned:
            raise InvalidRecordError(f"{tuned[0]} is a model with an adapter: use protocol 'self-improve'")
        if self.protocol == "self-improve" and (missing := {*IMPROVING} - {*self.arms, "adapter-other"}):
            raise InvalidRecordError(f"protocol 'self-improve' needs the arms {', '.join(sorted(missing))} too")
        if self.protocol == "compound" and self.judge != "oracle":
            raise InvalidRecordError("protocol 'compound' trains on what a check called right: use judge='oracle'")
        if (self.protocol == "compound") != (self.validation is not None):
            raise InvalidRecordError("protocol 'compound' needs validation problems, and no other takes some")
        if ("adapter-other" in self.arms) != (self.other_train is not None):
            raise InvalidRecordError("adapter-other and other_train belong together: the problems it learns from")
        return self

    @model_validator(mode="after")
    def _arms_have_what_they_need(self) -> Self:
        if "levels" in self.arms and "memory" not in self.arms:
            raise InvalidRecordError("levels is compared with memory, which costs the same: name this arm too")
        for arm in self.arms:
            if (aided := guarded_by(arm)) and not {"baseline", aided} <= {*self.arms}:
                raise InvalidRecordError(f"{arm} is made from the rows of baseline and {aided}: name these arms too")
            least = _LEAST_ATTEMPTS.get(arm.partition("+")[0], 0)
            if max(self.attempts, default=0) < least:
                raise InvalidRecordError(f"{arm} needs attempts of {least} or more")
        return self

    @property
    def example_floor(self) -> float:
        """Lowest similarity of the task of an example."""
        return EXAMPLE_FLOOR if self.min_score is None else self.min_score

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """Return the price of so many tokens of prompt and reply."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6
