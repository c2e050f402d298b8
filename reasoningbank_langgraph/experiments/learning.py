"""Making a bank: the loop works through problems in order, and whatever it learns stays.

Each problem has a thread of its own in a checkpointer beside the bank, so that a run which was killed goes on where it
was, without solving, judging or learning anything twice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.sqlite import SqliteSaver

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.errors import ExperimentError
from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.memories import guard
from reasoningbank_langgraph.experiments.results import ResultRow, Results
from reasoningbank_langgraph.experiments.solving import Job, graded_row, measured, sampling
from reasoningbank_langgraph.graph import create_reasoning_bank
from reasoningbank_langgraph.judges import EnsembleJudge, LLMJudge, ReferenceJudge
from reasoningbank_langgraph.math_solver import check_step, solve_step
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.records import RetrievedMemory
from reasoningbank_langgraph.store import ChromaStore

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable

LEARNED = ("experiment", "learned")
LEARNING = "learning"
"""Name of the arm under which the rows of the train problems stand."""
TIME_LIMIT = 600.0
"""Seconds for one call: a small machine may write three tokens a second."""


class Learner:
    """The loop on a bank of its own.

    Args:
        folder: of the bank and its threads.
        chat: solves.
        critic: judges and distils.
        config: settings of retrieval and of the judge.
        embeddings: the embedder of the bank.
        arm: what its rows are called, and how many attempts it makes.
        seed: of its rows.

    Raises:
        ExperimentError: the folder holds a bank and no threads: it is not one of this run.
    """

    def __init__(
        self,
        folder: Path,
        chat: BaseChatModel,
        critic: BaseChatModel,
        config: ExperimentConfig,
        embeddings: Embeddings | None,
        arm: Arm,
        seed: int,
    ) -> None:
        self.folder, self.config, self.arm, self.seed = folder, config, arm, seed
        self.embeddings = embeddings
        self._problems: dict[str, Problem] = {}
        self._builder = self._loop(chat, critic)

    def _loop(self, chat: BaseChatModel, critic: BaseChatModel) -> Any:
        """The loop of the bundled solver, with the leak guard between the memory and the model."""
        config, scaling = self.config, self.arm.scaling
        llm_judge = LLMJudge(critic, time_limit=TIME_LIMIT)
        if scaling is not None:
            scaling = replace(scaling, refiner=self._guarded(check_step(chat, config.max_tokens)))
        return create_reasoning_bank(
            self._guarded(solve_step(chat, config.max_tokens)),
            model=critic,
            judge=EnsembleJudge([ReferenceJudge(), llm_judge]) if config.judge == "oracle" else llm_judge,
            namespace=LEARNED,
            k=config.k,
            max_items=config.max_items,
            match=config.match,
            min_score=config.min_score,
            time_limit=TIME_LIMIT,
            scaling=scaling,
        )

    def _guarded(self, step: Runnable[Any, Any]) -> RunnableLambda[Any, Any]:
        def guarded(state: Any, config: RunnableConfig) -> Any:
            shown = guard(self._problems[state["task"]], _memories(state))
            return step.invoke({**state, "memory_prompt": shown.prompt}, config)

        return RunnableLambda(guarded, name="solve")

    def work(self, problems: Sequence[Problem], results: Results) -> Iterator[ResultRow]:
        """Solve the problems that have no row yet, in order, and yield their rows."""
        self._problems = {problem.text: problem for problem in problems}
        with self._opened() as (app, bank):
            for position, problem in enumerate(problems):
                if not results.has(self.arm.name, self.seed, problem.id):
                    yield self._row(app, bank, position, problem)

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, MemoryBank]]:
        self.folder.mkdir(parents=True, exist_ok=True)
        threads = self.folder / "threads.sqlite"
        fresh = not threads.exists()
        with (
            closing(sqlite3.connect(threads, check_same_thread=False)) as connection,
            ChromaStore.from_path(self.folder / "bank", embeddings=self.embeddings) as store,
        ):
            bank = MemoryBank(store, LEARNED, match=self.config.match)
            if fresh and bank.items():
                raise ExperimentError(f"{self.folder} holds a bank of another run: an arm begins with an empty one")
            yield self._builder.compile(checkpointer=SqliteSaver(connection), store=store), bank

    def _row(self, app: Any, bank: MemoryBank, position: int, problem: Problem) -> ResultRow:
        thread = sampling(self.config, problem, self.seed)
        thread["configurable"]["thread_id"] = problem.id
        checkpoint, items_before = app.get_state(thread), bank.totals().items
        with measured() as usage:
            if checkpoint.tasks:
                app.invoke(None, thread, durability="sync")
            elif not checkpoint.values:
                app.invoke(self._input(problem), thread, durability="sync")
        state = app.get_state(thread).values
        return graded_row(
            Job(self.arm, self.seed, position, problem),
            guard(problem, _memories(state)),
            str(state.get("answer") or "") if usage.error is None else "",
            usage,
            verdict=(state.get("verdict") or {}).get("status"),
            learned=len(state.get("lessons") or ()) if usage.error is None else 0,
            bank=items_before,
            attempts=self.arm.attempts,
        )

    def _input(self, problem: Problem) -> dict[str, Any]:
        """The reference is there for the oracle alone."""
        reference = {"reference": problem.answer} if self.config.judge == "oracle" else {}
        return {"task": problem.text, "task_id": problem.id, **reference}


def _memories(state: Mapping[str, Any]) -> list[RetrievedMemory]:
    return [RetrievedMemory(**memory) for memory in state.get("memories") or ()]
