"""Solutions that were graded, from the episodes of a bank and from the rows of experiments."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from reasoningbank_langgraph.errors import HarvestError
from reasoningbank_langgraph.experiments.arms import LEARNING
from reasoningbank_langgraph.experiments.results import CONFIG, ResultRow, Results
from reasoningbank_langgraph.experiments.tries import Tries, Try
from reasoningbank_langgraph.extraction.cleaning import clean_text_of
from reasoningbank_langgraph.math_answers import extract_answer
from reasoningbank_langgraph.records import Episode, Record, normalise_task, task_key
from reasoningbank_langgraph.text import redact_secrets

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank.reading import BankReader

CHECKS = ("reference", "oracle", "tool")
"""Judges that check: with the known answer, or by the result of a tool (`tool:run_tests`)."""
_GRADED_BY = "reference"
"""What grades the rows of an experiment."""


class Source(Record):
    """Where a solution comes from."""

    kind: Literal["episode", "row", "try"]
    id: str
    """Of the episode and its attempt, or of the problem of a row or a try."""
    outcome: Literal["success", "failure"]
    judge: str
    experience_id: str
    attempt_digest: str = ""
    namespace: tuple[str, ...] = ()
    """Labels of the bank; none for a row or a try."""
    run: str = ""
    """Name of the experiment, arm and seed of a row, seed and number of a try."""
    shown: tuple[str, ...] = ()
    """Ids of the lessons and episodes that the attempt was shown."""


class Solution(NamedTuple):
    """One solution of one task."""

    task: str
    text: str
    """Without secrets."""
    source: Source
    aided: bool
    """Whether it was made with a memory."""
    cut: bool = False
    """Whether it was longer than its text, or broke off before its answer."""
    called: bool = False
    """Whether tools were called on the way, which the text does not show."""

    @property
    def key(self) -> str:
        """What its task is known by."""
        return task_key(self.task)

    @property
    def said(self) -> tuple[str, str]:
        """Its task and text, whatever their case and spacing."""
        return self.key, normalise_task(self.text)

    @property
    def right(self) -> bool:
        """Whether it solves the task."""
        return self.source.outcome == "success"


def of_bank(bank: BankReader) -> list[Solution]:
    """Return the solutions of a bank's episodes, oldest first."""
    return [_of_episode(bank.namespace, episode) for episode in bank.episodes()]


def _of_episode(namespace: tuple[str, ...], episode: Episode) -> Solution:
    source = Source(
        kind="episode",
        id=episode.id,
        outcome=episode.outcome,
        judge=episode.provenance.judge,
        experience_id=episode.experience_id,
        attempt_digest=episode.provenance.attempt_digest,
        namespace=tuple(namespace),
        shown=episode.shown,
    )
    aided = bool(episode.shown)
    return Solution(episode.task, episode.solution, source, aided, episode.cut, called=bool(episode.steps))


def is_checked(source: Source, judges: Collection[str]) -> bool:
    """Say whether one of these judges decided; `tool` stands for the judges of all tools."""
    return source.judge in judges or source.judge.partition(":")[0] in judges


def named_runs(folders: Iterable[Path]) -> dict[str, Path]:
    """Return the folders of experiments, each once, by the ends of their paths: as long as names would be equal."""
    paths = list(dict.fromkeys(folder.resolve() for folder in folders))
    size = next(size for size in count(1) if len({path.parts[-size:] for path in paths}) == len(paths))
    return {"/".join(path.parts[-size:]): path for path in paths}


def of_run(run: str, folder: Path, arms: Sequence[str]) -> list[Solution]:
    """Return the solutions of the rows of an experiment, in order, and of the tries behind them.

    Args:
        run: its name.
        folder: of the run.
        arms: whose rows; none for those that learned from the train problems.

    Raises:
        HarvestError: an arm has no rows.
        ExperimentError: the rows cannot be read.
    """
    every = Results(folder).rows
    rows = [row for row in every if (row.arm in arms if arms else row.arm.startswith(LEARNING))]
    if lacking := set(arms) - {row.arm for row in rows} or (set() if rows else {f"{LEARNING}*"}):
        there = ", ".join(sorted({row.arm for row in every})) or "none at all"
        raise HarvestError(f"{folder} has no rows of {', '.join(sorted(lacking))}, but of these arms: {there}")
    answered = [row for row in rows if row.error is None]
    return [*(_of_row(run, row) for row in answered), *_of_tries(run, folder, answered)]


def tenant_of(folder: Path) -> tuple[str, ...]:
    """Return the namespace of the bank that a run showed, to whose tenant its replies belong; () for one of its own.

    Raises:
        HarvestError: the settings of the run cannot be read.
    """
    config = folder / CONFIG
    try:
        return tuple(json.loads(config.read_bytes()).get("namespace") or ()) if config.exists() else ()
    except (ValueError, AttributeError) as error:
        raise HarvestError(f"{config} cannot be read: whose bank the run showed is not known ({error})") from error


def _of_row(run: str, row: ResultRow) -> Solution:
    source = Source(
        kind="row",
        id=row.id,
        outcome="success" if row.right else "failure",
        judge=_GRADED_BY,
        experience_id=f"{run}/{row.arm}/{row.seed}/{row.id}",
        run=f"{run}/{row.arm}/{row.seed}",
        shown=row.shown,
    )
    return _solution(row.problem, row.reply, source, aided=bool(row.memory_length))


def _of_tries(run: str, folder: Path, rows: Iterable[ResultRow]) -> Iterator[Solution]:
    """Yield the tries behind the rows of arms that make several: those at one problem are one group.

    Arms share tries. One without memory has none that saw some, and one of three has the first three.
    """
    several = defaultdict[tuple[str, int], list[ResultRow]](list)
    for row in rows:
        if row.attempts > 1:
            several[row.id, row.seed].append(row)
    for one in Tries(folder).made:
        arms = several[one.id, one.seed]
        if any(one.number < row.attempts and (row.memory_length or not one.memory) for row in arms):
            yield _solution(arms[0].problem, one.reply, _source_of(run, one), aided=bool(one.memory))


def _source_of(run: str, one: Try) -> Source:
    return Source(
        kind="try",
        id=one.id,
        outcome="success" if one.right else "failure",
        judge=_GRADED_BY,
        experience_id=f"{run}/tries/{one.seed}/{one.id}",
        run=f"{run}/{one.seed}/{one.number}",
    )


def _solution(task: str, reply: str, source: Source, *, aided: bool) -> Solution:
    """Texts of rows are cleaned like those of episodes. One without an answer broke off, as at a limit of tokens."""
    cut = source.outcome == "failure" and extract_answer(reply).text is None
    return Solution(redact_secrets(task).text, clean_text_of(reply), source, aided, cut)
