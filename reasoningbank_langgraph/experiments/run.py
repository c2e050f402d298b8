"""Carry out an experiment: learn, then compare the arms on the same problems, and report."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph.store.memory import InMemoryStore
from rich.console import Console

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.chat.models import model_name_of
from reasoningbank_langgraph.chat.parameters import is_weak
from reasoningbank_langgraph.embeddings import default_embeddings
from reasoningbank_langgraph.errors import UnlearnedProblemsError
from reasoningbank_langgraph.experiments import memories
from reasoningbank_langgraph.experiments.arms import Arm, arms_of, learners_of, samplers_of, teachers_of
from reasoningbank_langgraph.experiments.banks import (
    Lessons,
    digest_of,
    frozen_bank,
    given_bank,
    require_learned,
    require_same_bank,
    tasks_of,
)
from reasoningbank_langgraph.experiments.calls import Models, Tuned, models_of, side_by_side
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.folder import ProblemSets, alone_in, claim_folder, read_problem_sets
from reasoningbank_langgraph.experiments.guarded import guarded_rows
from reasoningbank_langgraph.experiments.leaks import near_duplicates
from reasoningbank_langgraph.experiments.learning import Learner
from reasoningbank_langgraph.experiments.memories import Shown, ShownMemory
from reasoningbank_langgraph.experiments.progress import Progress
from reasoningbank_langgraph.experiments.results import DUPLICATES, PromptFile, ResultRow, Results
from reasoningbank_langgraph.experiments.solving import (
    Job,
    Solve,
    prompt_of,
    solve_and_grade,
    solve_once,
    solve_several_times,
)
from reasoningbank_langgraph.experiments.summary import Origin
from reasoningbank_langgraph.experiments.tries import Tries
from reasoningbank_langgraph.files import write_whole
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.store import ChromaStore

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class Run:
    """One experiment in its folder.

    Args:
        config: its settings.
        out: its folder; a run that was stopped goes on there.
        models: the models and the embedder.
        console: where progress is shown.

    Raises:
        ExperimentError: the folder belongs to another experiment or other models, or the problems cannot be used.
    """

    def __init__(self, config: ExperimentConfig, out: Path, models: Models, console: Console) -> None:
        self.config, self.out, self.models = config, out, models
        self.problems = read_problem_sets(config)
        solver, critic = model_name_of(models.solver), model_name_of(models.critic)
        self.results, self.prompts, self.tries = Results(out), PromptFile(out), Tries(out)
        origin = Origin(solver=solver, critic=critic, problems=self.problems.digest())
        claim_folder(out, config, origin, self.results.rows)
        self.arms = arms_of(config)
        self.at_once = config.concurrency or models.at_once
        self.progress = Progress(console, config, self._expected(), self.results.rows)

    def carry_out(self) -> None:
        """Write every row that is missing.

        Raises:
            UnlearnedProblemsError: train problems failed, and they are not to be left out.
            FrozenBankError: a bank is no longer the one that rows were made with.
            ExperimentError: another run is at work in the folder.
        """
        with alone_in(self.out), self.progress:
            if self.config.bank is None:
                self.note_duplicates(self.problems.test if self.config.protocol == "stream" else self.problems.train)
            if self.config.protocol == "stream":
                self._stream()
            else:
                self._learn_and_compare()

    def _learn_and_compare(self) -> None:
        """Frozen banks, given or from the train problems; then each arm on each test problem (`phase1`, `scaling`)."""
        lessons = {teacher.name: self._taught(teacher) for teacher in teachers_of(self.config)}
        self._sample()
        with ChromaStore.from_path(self.out / "banks", embeddings=self.models.embeddings) as store:
            given = self._given(store) if self.config.bank else None
            banks = {arm: given or self._frozen(arm, lessons, store) for arm in self.arms if arm.memory != "none"}
            self.compare({arm.name: self.memory(arm, banks.get(arm)) for arm in self.arms if not arm.guards})
        for arm in self.arms:
            if arm.guards:
                self._replay_guard(arm)

    def _taught(self, teacher: Arm) -> Lessons:
        """Return what the train problems taught; once a row was made with it, nothing is added."""
        train, results = self.problems.train, self.results
        learner = self._learner(self.out / teacher.name, teacher, self.config.seeds[0], train, at_once=1)
        taught = [arm.name for arm in self.arms if arm.memory != "none" and arm.teacher == teacher]
        frozen = any(row.arm in taught and row.error is None for row in results.rows)
        missing = [entry for entry in enumerate(train) if not results.has(teacher.name, learner.seed, entry[1].id)]
        with learner.opened(InMemoryStore()):
            if not frozen:
                side_by_side(lambda entry: self.record(learner.row(*entry)), missing, self.at_once)
            sound = self.sound(teacher, train, learner.seed)
            lessons = {problem.id: learner.taught(problem) for problem in sound}
            examples = any(arm.shows_examples and arm.teacher == teacher for arm in self.arms)
            require_learned(teacher.name, lessons, results.rows, episodes=examples)
            return lessons

    def sound(self, arm: Arm, problems: Sequence[Problem], seed: int) -> list[Problem]:
        """Return the problems that an arm has solved: all, unless those that failed may be left out.

        Raises:
            UnlearnedProblemsError: some failed, and they may not be left out.
        """
        sound = self.solved(arm, problems, seed)
        if len(sound) < len(problems) and not self.config.leave_out_failed:
            errors = {row.id: row.error for row in self.results.rows if (row.arm, row.seed) == (arm.name, seed)}
            failed = [problem.id for problem in problems if problem not in sound]
            raise UnlearnedProblemsError(
                arm.name, {name: errors.get(name) or "no row" for name in failed}, len(problems)
            )
        return sound

    def solved(self, arm: Arm, problems: Sequence[Problem], seed: int) -> list[Problem]:
        """Return the problems of which an arm has a row that did not fail."""
        return [problem for problem in problems if self.results.has(arm.name, seed, problem.id)]

    def _sample(self) -> None:
        """Solve each train problem several times; once a row was made with what was learned of it, nothing is added."""
        tuned = {arm.name for arm in self.arms if arm.solver}
        if any(row.arm in tuned and row.error is None for row in self.results.rows):
            return
        for arm, problems in self._sampled():
            solve = self._solve(arm, self.models.solver)
            jobs = [Job(arm, self.config.seeds[0], *entry) for entry in enumerate(problems)]
            side_by_side(partial(self._row, solve=solve, source=Shown(memories.no_memory)), jobs, self.at_once)
            self.sound(arm, problems, self.config.seeds[0])

    def _sampled(self) -> Iterable[tuple[Arm, Sequence[Problem]]]:
        return zip(samplers_of(self.config), (self.problems.train, self.problems.other), strict=False)

    def _stream(self) -> None:
        """Every arm works through the test problems in the order of each seed; banks grow on the way (paper 4.1)."""
        for seed in self.config.seeds:
            order = list(self.problems.test)
            random.Random(f"order {seed}").shuffle(order)  # noqa: S311 - no secret
            for arm in self.arms:
                if arm.memory == "none":
                    solve = self._solve(arm, self.models.solver)
                    for position, problem in enumerate(order):
                        self._row(Job(arm, seed, position, problem), solve, Shown(memories.no_memory))
                else:
                    self._learn_on_the_way(arm, seed, order)

    def _learn_on_the_way(self, arm: Arm, seed: int, order: Sequence[Problem]) -> None:
        folder = self.out / "stream" / f"{arm.name}-{seed}"
        learner = self._learner(folder, arm, seed, order, at_once=self.at_once)
        with ChromaStore.from_path(folder / "bank", embeddings=self.models.embeddings) as store, learner.opened(store):
            for row in learner.work(self.results, store):
                self.record(row)

    def _learner(self, folder: Path, arm: Arm, seed: int, problems: Sequence[Problem], at_once: int) -> Learner:
        models = self.models
        return Learner(folder, models.solver, models.critic, self.config, arm, seed, problems, at_once)

    def _given(self, store: ChromaStore) -> MemoryBank:
        bank = given_bank(store, self.config, self.out)
        self.note_duplicates(tasks_of(bank))
        return bank

    def _frozen(self, arm: Arm, lessons: Mapping[str, Lessons], store: ChromaStore) -> MemoryBank:
        ids = {problem.id for problem in self.problems.train[: arm.bank]}
        learned = {problem: taught for problem, taught in lessons[arm.teacher.name].items() if problem in ids}
        return frozen_bank(store, self.config, arm, learned)

    def memory(self, arm: Arm, bank: MemoryBank | None) -> Shown:
        """What an arm shows; the rows it has must come from the same bank."""
        if bank is None:
            return Shown(memories.no_memory)
        digest = digest_of(bank, examples=arm.shows_examples)
        require_same_bank(arm.name, digest, self.results.rows)
        held = memories.examples_of(bank) if arm.shows_examples else bank.items()
        weak = is_weak(self.models.solver)
        source = memories.memory_source(arm, bank, self.config, self.problems.test, weak=weak)
        return Shown(source, bank, len(held), digest)

    def compare(self, shown: Mapping[str, Shown]) -> None:
        """Problem by problem, all arms of each, so that a run that is stopped leaves pairs.

        Models come one after the other: two at work at once would share the processors.
        """
        jobs = [
            Job(arm, seed, position, problem)
            for position, problem in enumerate(self.problems.test)
            for seed in self.config.seeds
            for arm in self.arms
            if arm.name in shown and not self.results.has(arm.name, seed, problem.id)
        ]
        for solver in dict.fromkeys(arm.solver for arm in self.arms):
            self._solve_with(solver, [job for job in jobs if job.arm.solver == solver], shown)

    def _solve_with(self, solver: str, jobs: Sequence[Job], shown: Mapping[str, Shown]) -> None:
        if not jobs:
            return
        with self.models.tuned(solver) if solver else nullcontext(self.models.solver) as chat:
            solves = {job.arm.name: self._solve(job.arm, chat, shown[job.arm.name].bank) for job in jobs}
            side_by_side(lambda job: self._row(job, solves[job.arm.name], shown[job.arm.name]), jobs, self.at_once)

    def _replay_guard(self, arm: Arm) -> None:
        rows = self.results.rows
        for seed in self.config.seeds:
            for row in guarded_rows(rows, self.problems.test, seed, arm):
                if not self.results.has(arm.name, seed, row.id):
                    self.record(row)

    def _solve(self, arm: Arm, chat: BaseChatModel, bank: MemoryBank | None = None) -> Solve:
        if arm.attempts == 1:
            return solve_once(chat, self.config, arm)
        return solve_several_times(chat, self.config, arm, self.tries, None if arm.use == "all" else bank)

    def _row(self, job: Job, solve: Solve, source: Shown) -> None:
        if self.results.has(job.arm.name, job.seed, job.problem.id):
            return
        shown = source.source(job.problem, job.seed)
        row = solve_and_grade(job, shown, solve, bank=source.items, bank_digest=source.digest)
        sent = shown if row.memory else ShownMemory()
        for memory in [sent] if job.arm.use == "all" else [sent, ShownMemory()]:
            self.prompts.add(prompt_of(job.problem, memory, job.arm.more))
        self.record(row)

    def record(self, row: ResultRow) -> None:
        """Keep a row and show it."""
        self.results.append(row)
        self.progress.note(row)

    def _expected(self) -> dict[str, int]:
        each = len(self.problems.test) * len(self.config.seeds)
        taught = {teacher.name: len(self.problems.train) for teacher in teachers_of(self.config)}
        sampled = {arm.name: len(problems) for arm, problems in self._sampled()}
        sampled |= {arm.name: len(self.problems.train) for arm in learners_of(self.config)}
        return {**taught, **sampled, **{arm.name: each for arm in self.arms}}

    def note_duplicates(self, learned: Sequence[Problem]) -> None:
        """Write down which test problems are nearly one of these, unless that was done."""
        path = self.out / DUPLICATES
        if not path.exists():
            pairs = near_duplicates(learned, self.problems.test, self.models.embeddings)
            write_whole(path, json.dumps([pair.to_json() for pair in pairs], indent=1) + "\n")


def run_experiment(
    config: ExperimentConfig, out: Path, *, console: Console | None = None, tuned: Tuned | None = None
) -> Path:
    """Carry out an experiment with the models its configuration names, and report; returns the page.

    Args:
        config: what to do.
        out: folder of the run. One that was stopped, even by a kill, goes on there; no finished row is repeated.
        console: where progress is shown; default standard output.
        tuned: gives the models of arms with an adapter; protocol `self-improve` alone has such arms.

    Raises:
        ExperimentError: the folder belongs to another experiment, or the problems cannot be used; the bank could not be
            learned as a whole (`UnlearnedProblemsError`) or has changed (`FrozenBankError`).
        ModelError: the model cannot be used.
        MissingDependencyError: the extra `experiments` is not installed.
    """
    from reasoningbank_langgraph.experiments.report import write_report

    console = console or Console()
    with models_of(config, default_embeddings(), console) as models:
        Run(config, out, models if tuned is None else models._replace(tuned=tuned), console).carry_out()
    write_report(out)
    return out / "report.html"


__all__ = ["Models", "ProblemSets", "Run", "run_experiment"]
