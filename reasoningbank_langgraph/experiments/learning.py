"""Learning: the loop works through problems, and what it learns waits until it is known to be sound.

Each problem has a thread of its own in a checkpointer, so that a run which was killed goes on where it was, without
solving, judging or learning anything twice. The loop stops before it writes. Where a bank is learned to be frozen, its
lessons stay in the threads, no problem sees those of another, and many can be worked on at the same time. Where a bank
grows on the way, each problem is solved with what those before it have left there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.sqlite import SqliteSaver

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.chat.parameters import is_weak
from reasoningbank_langgraph.errors import ExperimentError, FrozenBankError, TooFewAttemptsError
from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.banks import Taught
from reasoningbank_langgraph.experiments.calls import FailedCallError, measured, require_sound
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.memories import ShownMemory, guard
from reasoningbank_langgraph.experiments.results import ResultRow, Results
from reasoningbank_langgraph.experiments.solving import Job, graded_row, sampling
from reasoningbank_langgraph.graph import create_reasoning_bank
from reasoningbank_langgraph.judges import EnsembleJudge, LLMJudge, ReferenceJudge
from reasoningbank_langgraph.math_solver import check_step, solve_step
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.matts.records import rollouts_of
from reasoningbank_langgraph.records import Episode, MemoryItem, RetrievedMemory

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable
    from langgraph.store.base import BaseStore

LEARNED = ("experiment", "learned")
TIME_LIMIT = 600.0
"""Seconds for one call: a small machine may write three tokens a second."""
_WRITES = "consolidate"
"""The node of the loop that writes."""


class Learner:
    """The loop on threads of its own.

    Args:
        folder: of the threads.
        chat: solves.
        critic: judges and distils.
        config: settings of retrieval and of the judge.
        arm: what its rows are called, and how often it tries. One with a memory learns while it solves.
        seed: of its rows.
        problems: what it works on.
        at_once: attempts at one problem that run at the same time; None for all.
    """

    def __init__(
        self,
        folder: Path,
        chat: BaseChatModel,
        critic: BaseChatModel,
        config: ExperimentConfig,
        arm: Arm,
        seed: int,
        problems: Sequence[Problem],
        at_once: int | None = None,
    ) -> None:
        self.folder, self.config, self.arm, self.seed, self.problems = folder, config, arm, seed, problems
        self._weak = is_weak(chat)
        self._by_text = {problem.text: problem for problem in problems}
        self._builder = self._loop(chat, critic, at_once)
        self._app: Any = None

    def _loop(self, chat: BaseChatModel, critic: BaseChatModel, at_once: int | None) -> Any:
        """The loop of the bundled solver, with the leak guard between the memory and the model.

        No model compares attempts: a vote without a majority goes to the first, as in arms that do not learn.
        """
        config, scaling = self.config, self.arm.scaling(at_once)
        llm_judge = LLMJudge(critic, time_limit=TIME_LIMIT)
        if scaling is not None:
            scaling = replace(scaling, refiner=self._guarded(check_step(chat, config.max_tokens)))
        return create_reasoning_bank(
            self._guarded(solve_step(chat, config.max_tokens)),
            judge=EnsembleJudge([ReferenceJudge(), llm_judge]) if config.judge == "oracle" else llm_judge,
            extract_model=critic,
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
            shown = self._shown(self._by_text[state["task"]], state)
            return step.invoke({**state, "memory_prompt": shown.prompt}, config)

        return RunnableLambda(guarded, name="solve")

    def _shown(self, problem: Problem, state: Mapping[str, Any]) -> ShownMemory:
        shown = guard(problem, [RetrievedMemory(**memory) for memory in state.get("memories") or ()])
        return shown.for_weak() if self._weak else shown

    @contextmanager
    def opened(self, store: BaseStore, *, filled: bool = False) -> Iterator[Self]:
        """Open the threads and let the loop work with a store; `filled` allows for a bank that others began.

        Raises:
            ExperimentError: the store holds a bank and there are no threads: it is not one of this run.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        threads = self.folder / "threads.sqlite"
        if not (filled or threads.exists()) and MemoryBank(store, LEARNED).items():
            raise ExperimentError(f"{self.folder} holds a bank of another run: an arm begins with an empty one")
        with closing(sqlite3.connect(threads, check_same_thread=False)) as connection:
            saver = SqliteSaver(connection)
            self._app = self._builder.compile(checkpointer=saver, store=store, interrupt_before=[_WRITES])
            yield self

    def work(self, results: Results, store: BaseStore) -> Iterator[ResultRow]:
        """Solve the problems that have no row yet, in order, learn from each, and yield their rows.

        A row that fails is the last, unless failed ones are left out: those behind it would lack its lessons. One that
        was left out stays so, since it would now see lessons of problems behind it.

        Raises:
            FrozenBankError: the bank lacks lessons that rows were made with, as in a published run.
        """
        bank = MemoryBank(store, LEARNED, match=self.config.match)
        mine = [row for row in results.rows if (row.arm, row.seed) == (self.arm.name, self.seed) and row.error is None]
        begun = max((row.position for row in mine), default=-1)
        least = max((max(row.bank, min(row.learned, 1)) for row in mine), default=0)
        if (held := bank.totals().items) < least:
            raise FrozenBankError(
                self.arm.name, f"holds {held} lessons and its rows say that {least} or more were there"
            )
        for position, problem in enumerate(self.problems):
            if position > begun:
                row = self.row(position, problem, self._held_before(problem, bank))
                yield row
                if row.error is not None and not self.config.leave_out_failed:
                    return

    def _held_before(self, problem: Problem, bank: MemoryBank) -> int:
        """Count the lessons of the problems before: a run that was killed may have left those of this one."""
        own = {lesson["id"] for lesson in self._app.get_state(self._thread(problem)).values.get("lessons") or ()}
        return sum(item.id not in own for item in bank.items()) if own else bank.totals().items

    def row(self, position: int, problem: Problem, bank: int = 0) -> ResultRow:
        """Take a problem through the loop from where it was left, and return its row; `bank` counts what is there."""
        _, usage = measured(lambda: self._go_on(problem))
        state = self._app.get_state(self._thread(problem)).values
        return graded_row(
            Job(self.arm, self.seed, position, problem),
            self._shown(problem, state),
            str(state.get("answer") or "") if usage.error is None else "",
            usage,
            verdict=(state.get("verdict") or {}).get("status"),
            learned=len(state.get("lessons") or ()) if usage.error is None else 0,
            bank=bank,
            attempts=sum(1 + rollout.checks for rollout in rollouts_of(state)) or 1,
        )

    def taught(self, problem: Problem) -> Taught:
        """Return what a problem taught that has a row."""
        state = self._app.get_state(self._thread(problem)).values
        items = [MemoryItem(**lesson) for lesson in state.get("lessons") or ()]
        return Taught(items, [Episode(**episode) for episode in state.get("episodes") or ()])

    def replies(self, problem: Problem) -> list[str]:
        """Return what each of several attempts at a problem said, also what another one said too."""
        state = self._app.get_state(self._thread(problem)).values
        return [rollout.answer or "" for rollout in rollouts_of(state)]

    def _go_on(self, problem: Problem) -> None:
        """What a failed call has spoiled is begun anew: nothing of it was written."""
        app, thread = self._app, self._thread(problem)
        before = app.get_state(thread)
        if before.values and not before.next:
            return
        try:
            if before.next != (_WRITES,):
                app.invoke(None if before.next else self._input(problem), thread, durability="sync")
            require_sound(app.get_state(thread).values)
        except (FailedCallError, TooFewAttemptsError):
            app.checkpointer.delete_thread(problem.id)
            raise
        if self.arm.memory != "none":
            app.invoke(None, thread, durability="sync")

    def _thread(self, problem: Problem) -> RunnableConfig:
        thread = sampling(self.config, problem, self.seed)
        thread["configurable"]["thread_id"] = problem.id
        return thread

    def _input(self, problem: Problem) -> dict[str, Any]:
        """The reference is there for the oracle alone."""
        reference = {"reference": problem.answer} if self.config.judge == "oracle" else {}
        return {"task": problem.text, "task_id": problem.id, **reference}
