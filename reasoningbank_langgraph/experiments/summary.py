"""What an experiment found: the records of `summary.json`."""

from __future__ import annotations

from typing import Literal

from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.stats import ALPHA, Interval
from reasoningbank_langgraph.experiments.training import AdapterSummary, CycleSummary, Retest
from reasoningbank_langgraph.judges.audit import Confusion
from reasoningbank_langgraph.records import Count, Record

Group = Literal["arm", "control", "levels", "both", "cycle", "same attempts", "matts", "bank size", "placebo"]
"""The question a comparison answers; Holm's adjustment is made among those of the same question.

`arm`: is it better than the first arm? `control`: is memory better than other text in its place, or an adapter than one
that learned other data? `levels`: are lessons retrieved by levels better than the nearest ones? `both`: do memory and
adapter add to each other? `cycle`: is a cycle better than the one before? `same attempts`: does memory add to several
attempts? `matts`: is a bank learned by MaTTS better than an ordinary one? `bank size`: is a smaller bank better than
the first arm? `placebo`: is a control?
"""

By = Literal["similarity", "reply length"]
"""What problems are put in order by. `similarity`: of the nearest task that was learned; `reply length`: mean of both
arms."""

NEAR_TEXT, NEAR_MEANING = 0.9, 0.95
"""Above these similarities, of text or of embeddings, two problems (or an item and a problem) are near copies."""


class NearDuplicate(Record):
    """Two problems that are nearly the same."""

    train_id: str
    """The one that may have been learned from; in a stream either may."""
    test_id: str
    text_similarity: float
    """About the share of letters in common, numbers and names set aside."""
    embedding_similarity: float
    """Cosine."""


class RowId(Record):
    """Names one row of an arm."""

    seed: int
    id: str


class ArmSummary(Record):
    """One arm in figures. Means are over the rows that have an answer."""

    arm: str
    compared: bool
    """Whether it answered the test problems; the arm the bank was learned in did not."""
    rows: Count
    problems: Count
    right: Count
    accuracy: Interval
    pass_at_k: Interval | None = None
    attempts: float
    """Solutions a problem."""
    errors: Count
    """Rows that failed: they have no part in the accuracy."""
    tokens_in: float
    """Per problem, as are the following three."""
    tokens_out: float
    seconds: float
    cost: float
    learned: Count
    """Items added to the bank, all rows together."""
    bank: Count
    """Items in the bank at its largest."""
    shown: float
    """Share of the problems before which a memory was shown."""
    similarity: float | None = None
    """Of the nearest lesson or example shown, mean over problems."""

    @property
    def has_bank(self) -> bool:
        """Whether it was shown a memory or learned anything."""
        return bool(self.shown or self.learned or self.bank)


class Comparison(Record):
    """One arm against another on the problems and seeds that both have."""

    arm: str
    against: str
    group: Group
    problems: Count
    pairs: Count
    left_out: Count
    """Problems and seeds that are not complete: a row is missing or failed in either arm."""
    difference: Interval | None
    """Of accuracy, arm minus against; None without a pair."""
    fixed: tuple[RowId, ...]
    """Right in the arm only."""
    broken: tuple[RowId, ...]
    better: Count
    """Problems with more seeds right in the arm; with one seed, as many as were fixed."""
    worse: Count
    p: float
    """Two-sided, McNemar's exact test over problems."""
    p_holm: float
    """Adjusted for the comparisons of the group."""
    tests: Count
    """Comparisons in the group."""
    detectable: float | None
    """Smallest true difference that would have been shown in 4 of 5 such runs; None if no difference would."""
    unflagged: Interval | None
    """The difference without the problems that the leak audit names."""
    unflagged_problems: Count
    says: str
    """What this means, in one sentence."""

    @property
    def is_better(self) -> bool:
        """Whether the arm did better than the other one, by chance or not."""
        return self.difference is not None and self.difference.value > 0

    @property
    def shown(self) -> bool:
        """Whether test and interval both exclude chance."""
        apart = self.difference is not None and not self.difference.low <= 0 <= self.difference.high
        return apart and self.p_holm < ALPHA


class Tercile(Record):
    """An arm against another on a third of the problems, in order of a number that favours neither."""

    arm: str
    against: str
    by: By
    low: float
    """Least of the numbers in this part: a similarity, or the characters of a reply."""
    high: float
    problems: Count
    accuracy: float
    accuracy_against: float
    reply_length: float
    """Mean, in characters."""
    reply_length_against: float
    difference: Interval | None
    """Of accuracy, arm minus against."""


class Leak(Record):
    """A row whose memory may have held the answer."""

    arm: str
    seed: int
    id: str


class LeakAudit(Record):
    """Whether answers reached the solver through the bank."""

    rows: Count
    """Rows with a memory."""
    items: Count
    """Items shown in them."""
    self_retrieved: tuple[Leak, ...]
    """Rows that were shown a lesson from the very problem (same id, or same text)."""
    with_gold: tuple[Leak, ...]
    """Rows with an item that states the reference answer, in whatever form."""
    gold_items: Count
    gold_by_chance: float
    """As many items would contain the answer of some other problem: what short answers make of it."""
    dropped: Count
    """Items the leak guard took out before they were shown."""
    dropped_rows: Count
    near_duplicates: tuple[NearDuplicate, ...]
    """A problem that was solved, and one learned from before."""
    near_rows: Count = 0
    """Rows whose problem has such a near copy, among `learning_rows`."""
    learning_rows: Count = 0
    """Rows of the arms that have a bank."""
    flagged: tuple[str, ...]
    """Ids of test problems with any of this, except drops: what was dropped was not shown."""


class JudgeTable(Record):
    """Verdicts of one arm against the truth; success counts as positive."""

    arm: str
    tp: Count
    fp: Count
    tn: Count
    fn: Count
    undecided_right: Count
    undecided_wrong: Count

    @property
    def confusion(self) -> Confusion:
        """The counts, with the rates that follow from them."""
        return Confusion(**self.model_dump(exclude={"arm"}))


class Origin(Record):
    """What rows come from and the settings do not say: a run that goes on has to come from the same."""

    solver: str
    """The model, as it calls itself."""
    critic: str
    """The model that judges and distils."""
    problems: str
    """Digest of the train and test problems."""


class Summary(Record):
    """All of it."""

    config: ExperimentConfig
    origin: Origin | None = None
    headline: str
    taught_by: str
    """Whose verdicts filled the bank."""
    arms: tuple[ArmSummary, ...]
    comparisons: tuple[Comparison, ...]
    leaks: LeakAudit | None
    """None where the texts it looks through are gone, and it was not made while they were there."""
    judges: tuple[JudgeTable, ...]
    retests: tuple[Retest, ...] = ()
    """Of the arms of a protocol that trains."""
    adapters: tuple[AdapterSummary, ...] = ()
    cycles: tuple[CycleSummary, ...] = ()
    terciles: tuple[Tercile, ...] = ()
    """Three for each arm with the ordinary bank and each order, where there are problems enough."""
    notes: tuple[str, ...]
    """What a reader should know before believing the figures."""
