"""Carry out an experiment: learn, then compare the arms on the same problems, and report."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from reasoningbank_langgraph.chat.models import model_name_of
from reasoningbank_langgraph.embeddings import default_embeddings
from reasoningbank_langgraph.experiments import memories
from reasoningbank_langgraph.experiments.arms import Arm, arms_of
from reasoningbank_langgraph.experiments.banks import frozen_bank
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.folder import ProblemSets, claim_folder, read_problem_sets
from reasoningbank_langgraph.experiments.leaks import near_duplicates
from reasoningbank_langgraph.experiments.learning import LEARNING, Learner
from reasoningbank_langgraph.experiments.memories import MemorySource
from reasoningbank_langgraph.experiments.progress import Progress
from reasoningbank_langgraph.experiments.prompts_file import PromptFile
from reasoningbank_langgraph.experiments.results import DUPLICATES, ResultRow, Results
from reasoningbank_langgraph.experiments.solving import (
    Job,
    Solve,
    prompt_of,
    solve_and_grade,
    solve_once,
    solve_several_times,
)
from reasoningbank_langgraph.experiments.summary import Origin
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.store import ChromaStore

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel


class Models(NamedTuple):
    """What an experiment works with."""

    solver: BaseChatModel
    critic: BaseChatModel
    """Judges and distils."""
    embeddings: Embeddings
    at_once: int = 1
    """Problems to work on at the same time where the settings do not say."""


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
        claim_folder(out, config, Origin(solver=solver, critic=critic, problems=self.problems.digest()))
        self.results, self.prompts, self.arms = Results(out), PromptFile(out), arms_of(config)
        self.progress = Progress(console, config, self._expected(), self.results.rows)

    def carry_out(self) -> None:
        """Write every row that is missing."""
        self._note_duplicates()
        with self.progress:
            if self.config.protocol == "stream":
                self._stream()
            else:
                self._learn_and_compare()

    def _learn_and_compare(self) -> None:
        """Bank from the train problems, frozen; then every arm on every test problem (`phase1`, `scaling`)."""
        with_bank = any(arm.memory != "none" for arm in self.arms)
        if with_bank:
            self._learn(self.out / LEARNING, Arm(LEARNING, "retrieved"), self.config.seeds[0], self.problems.train)
        with self._banks() as bank_of:
            sources = {arm.name: self._memory_source(arm, bank_of) for arm in self.arms}
            sizes = {arm.name: len(bank_of(arm).items()) if arm.memory != "none" else 0 for arm in self.arms}
            self._compare(sources, sizes)

    def _stream(self) -> None:
        """Every arm works through the test problems in the order of each seed; banks grow on the way (paper 4.1)."""
        for seed in self.config.seeds:
            order = list(self.problems.test)
            random.Random(f"order {seed}").shuffle(order)  # noqa: S311 - no secret
            for arm in self.arms:
                if arm.memory == "none":
                    solve = self._solve(arm)
                    for position, problem in enumerate(order):
                        self._row(Job(arm, seed, position, problem), solve, memories.no_memory, 0)
                else:
                    self._learn(self.out / "stream" / f"{arm.name}-{seed}", arm, seed, order)

    def _learn(self, folder: Path, arm: Arm, seed: int, problems: Sequence[Problem]) -> None:
        models = self.models
        learner = Learner(folder, models.solver, models.critic, self.config, models.embeddings, arm, seed)
        for row in learner.work(problems, self.results):
            self._record(row)

    @contextmanager
    def _banks(self) -> Iterator[Callable[[Arm], Any]]:
        """Yield a function from an arm to its frozen bank."""
        train = self.problems.train
        with ChromaStore.from_path(self.out / LEARNING / "bank", embeddings=self.models.embeddings) as store:
            yield lambda arm: frozen_bank(
                store, self.config, arm.bank, {problem.id for problem in train[: arm.bank or len(train)]}
            )

    def _memory_source(self, arm: Arm, bank_of: Callable[[Arm], Any]) -> MemorySource:
        if arm.memory == "none":
            return memories.no_memory
        bank = bank_of(arm)
        if arm.memory == "random":
            return memories.random_memory(bank, self.config)
        retrieved = memories.retrieved_memory(bank, self.config)
        if arm.memory == "shuffled":
            return memories.shuffled_memory(retrieved, self.problems.test)
        return memories.filler_memory(retrieved) if arm.memory == "filler" else retrieved

    def _compare(self, sources: dict[str, MemorySource], sizes: dict[str, int]) -> None:
        """Problem by problem, all arms of each, so that a run that is stopped leaves pairs."""
        solves = {arm.name: self._solve(arm) for arm in self.arms}
        jobs = [
            Job(arm, seed, position, problem)
            for position, problem in enumerate(self.problems.test)
            for seed in self.config.seeds
            for arm in self.arms
        ]

        def work(job: Job) -> None:
            name = job.arm.name
            self._row(job, solves[name], sources[name], sizes[name])

        with ThreadPoolExecutor(self.config.concurrency or self.models.at_once) as pool:
            try:
                for done in pool.map(work, jobs):
                    assert done is None  # noqa: S101 - raises here what a worker raised
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _solve(self, arm: Arm) -> Solve:
        chat = self.models.solver
        return solve_several_times(chat, self.config, arm) if arm.attempts > 1 else solve_once(chat, self.config)

    def _row(self, job: Job, solve: Solve, memory_for: MemorySource, bank: int) -> None:
        if self.results.has(job.arm.name, job.seed, job.problem.id):
            return
        shown = memory_for(job.problem, job.seed)
        self.prompts.add(prompt_of(job.problem, shown))
        self._record(solve_and_grade(job, shown, solve, bank))

    def _record(self, row: ResultRow) -> None:
        self.results.append(row)
        self.progress.note(row)

    def _expected(self) -> dict[str, int]:
        each = len(self.problems.test) * len(self.config.seeds)
        learning = {LEARNING: len(self.problems.train)} if any(arm.memory != "none" for arm in self.arms) else {}
        return {**(learning if self.problems.train else {}), **{arm.name: each for arm in self.arms}}

    def _note_duplicates(self) -> None:
        path = self.out / DUPLICATES
        if not path.exists():
            solved = self.problems.test
            learned = solved if self.config.protocol == "stream" else self.problems.train
            pairs = near_duplicates(learned, solved, self.models.embeddings)
            path.write_text(json.dumps([pair.to_json() for pair in pairs], indent=1) + "\n", encoding="utf-8")


def run_experiment(config: ExperimentConfig, out: Path, *, console: Console | None = None) -> Path:
    """Carry out an experiment with the models its configuration names, and report; returns the page.

    Args:
        config: what to do.
        out: folder of the run. One that was stopped, even by a kill, goes on there; no finished row is repeated.
        console: where progress is shown; default standard output.

    Raises:
        ExperimentError: the folder belongs to another experiment, or the problems cannot be used.
        ModelError: the model cannot be used.
        MissingDependencyError: the extra `experiments` is not installed.
    """
    from reasoningbank_langgraph.experiments.report import write_report
    from reasoningbank_langgraph.local.model_choice import resolve_model

    console = console or Console()
    with resolve_model(config.model, temperature=config.temperature) as solver:
        console.print(f"model: {solver.description}", highlight=False)
        at_once = solver.server.slots if solver.server else 1
        other = (
            resolve_model(config.judge_model, temperature=0) if config.judge_model is not None else nullcontext(solver)
        )
        with other as critic:
            Run(config, out, Models(solver.chat, critic.chat, default_embeddings(), at_once), console).carry_out()
    write_report(out)
    return out / "report.html"


__all__ = ["Models", "ProblemSets", "Run", "run_experiment"]
