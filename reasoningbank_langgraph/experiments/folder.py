"""The folder of a run: it belongs to one configuration, to its models and to one set of problems."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from reasoningbank_langgraph.errors import ExperimentError, ReasoningBankError, StoreLockedError
from reasoningbank_langgraph.experiments.arms import LEARNING, arms_of
from reasoningbank_langgraph.experiments.config import TRAINING, ExperimentConfig
from reasoningbank_langgraph.experiments.results import CONFIG, GIVEN, ORIGIN, ResultRow
from reasoningbank_langgraph.experiments.summary import Origin
from reasoningbank_langgraph.experiments.tries import TRY_TEXTS
from reasoningbank_langgraph.files import write_whole
from reasoningbank_langgraph.math_solver.problems import Problem, read_problems
from reasoningbank_langgraph.records import normalise_task
from reasoningbank_langgraph.store.folder.lock import LOCK_FILE, BankLock

_ARMS = ("arms", "attempts", "bank_sizes", "modes")
"""Settings that say which arms there are."""
_FREE = (*_ARMS, "concurrency", "cycles", "leave_out_failed", "price_in", "price_out")
"""Settings that may change when a run goes on: they change no row that is there."""
_DEFAULTS: dict[str, Any] = {
    "agreement": 1.0,
    "bank": None,
    "namespace": [],
    "other_train": None,
    "samples": 8,
    "tune": {},
    "validation": None,
    "cycles": 3,
}
"""Settings that earlier versions did not have, as they are without them."""

_IGNORED = f"""\
# Texts of problems, replies and lessons. The other files hold none and can be published;
# `reasoningbank experiment report` writes the summary and the page anew from them.
/texts.jsonl
/{TRY_TEXTS}
/prompts.jsonl
/report.html
/{GIVEN}
/learning*/
/banks/
/training/
/adapters/
/{LOCK_FILE}
/stream/
"""


class ProblemSets(NamedTuple):
    """What is learned from and what is compared on: no problem is in both."""

    train: list[Problem]
    test: list[Problem]
    shared: int
    """Problems left out of the test because they are among the train problems."""
    other: Sequence[Problem] = ()
    """Train problems of which nothing is learned but by an adapter that controls another."""
    validation: Sequence[Problem] = ()
    """What says whether an adapter is used."""

    def digest(self) -> str:
        """Return a short name for exactly these problems."""
        sets = [self.train, self.test, *(list(some) for some in (self.other, self.validation) if some)]
        return hashlib.sha256(repr(tuple(sets)).encode()).hexdigest()[:16]


def claim_folder(out: Path, config: ExperimentConfig, origin: Origin, rows: Iterable[ResultRow]) -> None:
    """Make the folder of a run, or go on in one that was made by the same configuration from the same origin.

    Arms may be added: the configuration has to name those that have rows there.

    Raises:
        ExperimentError: another run made it; what differs is named.
    """
    out.mkdir(parents=True, exist_ok=True)
    named = {arm.name for arm in arms_of(config)}
    left_out = {row.arm for row in rows if not row.arm.startswith(LEARNING)} - named
    if left_out:
        advice = "ask for as many cycles" if config.protocol == "compound" else "name these arms as well"
        raise ExperimentError(f"{out} holds rows of {', '.join(sorted(left_out))}: {advice}, or choose another folder")
    _claim_file(out, CONFIG, config.to_json(), "settings")
    _claim_file(out, ORIGIN, origin.to_json(), "models or problems")
    _ignore_texts(out / ".gitignore")


@contextmanager
def alone_in(out: Path, kind: type[ReasoningBankError] = ExperimentError) -> Iterator[None]:
    """Keep the folder of a run to one run at a time: two would make the same rows.

    Raises:
        ExperimentError: another run is at work there; or an error of the `kind` given.
    """
    try:
        lock = BankLock(out)
    except StoreLockedError as error:
        raise kind(f"{out} is in use by {error.owner}: let that run end, or choose another folder") from None
    try:
        yield
    finally:
        lock.release()


def _ignore_texts(path: Path) -> None:
    """Keep the files with texts out of git, also in a folder that an earlier version made."""
    there = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    missing = [line for line in _IGNORED.splitlines() if line not in there]
    write_whole(path, "\n".join([*there, *missing, ""]))


def _claim_file(out: Path, name: str, content: Mapping[str, Any], what: str) -> None:
    path = out / name
    if path.exists():
        existing = json.loads(path.read_text(encoding="utf-8"))
        there = {**_DEFAULTS, **existing}  # an earlier version did not know every setting
        differing = [key for key in content if key not in _FREE and content[key] != there.get(key)]
        if differing:
            details = ", ".join(f"{key} ({existing.get(key)!r} there, {content[key]!r} here)" for key in differing)
            raise ExperimentError(f"{out} belongs to a run with other {what}: {details}; choose another folder")
    write_whole(path, json.dumps(content, indent=2) + "\n")


def read_problem_sets(config: ExperimentConfig) -> ProblemSets:
    """Read the problems; those of the train set are taken out of the test set, and of the others.

    Raises:
        ProblemFileError: a file cannot be read.
        ExperimentError: a problem has no answer, or nothing is left to test, to train on, or for the control.
    """
    train = (
        [] if config.train is None or config.protocol == "stream" else read_problems(config.train, config.train_limit)
    )
    every = read_problems(config.test)
    test = _without(train, every)
    other = _without([*train, *test], read_problems(config.other_train)) if config.other_train else []
    other = other[: config.train_limit]
    unanswered = [problem.id for problem in (*train, *other, *test[: config.limit]) if problem.answer is None]
    if unanswered:
        raise ExperimentError(f"problem {unanswered[0]!r} has no answer: an experiment grades by known answers")
    if not test:
        raise ExperimentError(f"every problem of {config.test} is among the train problems: nothing is left to test")
    validation = read_problems(config.validation) if config.validation else []
    if config.protocol in TRAINING and not _without([*every, *validation], train):
        raise ExperimentError(f"every train problem is in {config.test} too, or decides on adapters: nothing is left")
    if config.other_train and not other:
        raise ExperimentError(f"every problem of {config.other_train} is among the others by its text or id")
    return ProblemSets(train, test[: config.limit], len(every) - len(test), other, validation)


def _without(known: Sequence[Problem], problems: Sequence[Problem]) -> list[Problem]:
    keys = {problem.id for problem in known} | {normalise_task(problem.text) for problem in known}
    return [problem for problem in problems if not keys & {problem.id, normalise_task(problem.text)}]
