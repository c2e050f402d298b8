"""Making the lessons of a bank anew from its episodes: the model is asked, and each experience is written at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import aclosing, closing
from typing import TYPE_CHECKING, NamedTuple

from langchain_core.runnables.config import ContextThreadPoolExecutor

from reasoningbank_langgraph.bank.access import StoreAccess
from reasoningbank_langgraph.bank.operations import Ops
from reasoningbank_langgraph.bank.upkeep import distillations
from reasoningbank_langgraph.bank.upkeep.distillations import Experience, Plan, Replaced, Undone
from reasoningbank_langgraph.chat.models import ModelLike
from reasoningbank_langgraph.extraction import Extraction, Redistiller

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from reasoningbank_langgraph.chat.tally import Tally

Progress = Callable[[int, int], None]
"""Told after each experience how many are done, and of how many."""
Answered = tuple[Experience, Extraction]


class Redistilled(NamedTuple):
    """What `MemoryBank.redistil` did; in a dry run, what it would do if every reply gave a lesson."""

    run: str
    """Name of this model with these prompts: what `undo_redistil` takes."""
    distilled: int
    """Experiences whose lessons in use are now those of this run."""
    added: int
    """Lessons written."""
    superseded: int
    """Old lessons that went out of use."""
    kept: int
    """Experiences that keep their old lessons."""
    reasons: Mapping[str, int]
    """Why they do, counted: an `ExtractionReason`; `out_of_use`: a lesson of the experience had been taken
    out of use or forgotten; `forgotten`: an episode was removed meanwhile."""
    done: int
    """Experiences that had lessons of this run before; the model was not asked about them."""
    failure: str | None = None
    """What the last call that failed said."""

    @classmethod
    def of(cls, run: str, plan: Plan, outcomes: Sequence[Replaced]) -> Redistilled:
        """Count outcomes."""
        reasons = Counter(outcome.kept for outcome in outcomes if outcome.kept)
        reasons.update({"out_of_use": plan.out_of_use} if plan.out_of_use else {})
        return cls(
            run,
            distilled=sum(outcome.kept is None for outcome in outcomes),
            added=sum(outcome.added for outcome in outcomes),
            superseded=sum(outcome.superseded for outcome in outcomes),
            kept=reasons.total(),
            reasons=dict(reasons),
            done=plan.done,
            failure=next((outcome.failure for outcome in reversed(outcomes) if outcome.failure), None),
        )


class Redistilling(StoreAccess):
    """Part of `MemoryBank`: what makes its lessons anew."""

    def redistil(
        self,
        model: ModelLike,
        *,
        dry_run: bool = False,
        max_concurrency: int = 1,
        time_limit: float = 120.0,
        weak: bool | None = None,
        progress: Progress | None = None,
    ) -> Redistilled:
        """Make lessons anew from the episodes, with another model or newer prompts, in place of the old ones.

        The new lessons of an experience appear in the batch in which its old ones become `superseded`, and name them in
        `supersedes`. No lesson is changed, and `undo_redistil` brings the old ones back. An experience of which nothing
        usable comes keeps its lessons, and so does one of which a lesson was set aside (`set_status`) or forgotten: the
        model could say the same again. The new ones belong to the same thread, branch, run and experience.

        A call with the same model and prompts is the same run again. It asks only about experiences that have no
        lessons of the run yet, so one that was broken off goes on, and lessons that were undone come back unchanged.

        Args:
            model: the chat model that distils.
            dry_run: whether to count only. Nothing is asked and nothing is written.
            max_concurrency: experiences the model is asked about at a time.
            time_limit: seconds one call may take.
            weak: whether the model is weak, as in `create_extract`.
            progress: called after each experience with the number that are done and the number there are.

        Raises:
            ModelUnavailableError: the name stands for no model. A call that fails is no error: see `Redistilled`.
            ValueError: `max_concurrency` is below 1.
            PastBankError: this bank came from `as_of()` and is read-only.
        """
        distiller = self._distiller(model, max_concurrency, time_limit, weak)
        plan, outcomes = self._read(distillations.plan(self.namespace, distiller.run)), list[Replaced]()
        if dry_run:
            return _foreseen(distiller.run, plan)
        with closing(_asked(distiller, plan.todo, max_concurrency, self.tally)) as answers:
            for experience, distilled in answers:
                outcomes.append(self._write(self._replace(distiller, experience, distilled)))
                if progress:
                    progress(len(outcomes), len(plan.todo))
        return Redistilled.of(distiller.run, plan, outcomes)

    async def aredistil(
        self,
        model: ModelLike,
        *,
        dry_run: bool = False,
        max_concurrency: int = 1,
        time_limit: float = 120.0,
        weak: bool | None = None,
        progress: Progress | None = None,
    ) -> Redistilled:
        """Async form of `redistil`."""
        distiller = self._distiller(model, max_concurrency, time_limit, weak)
        plan, outcomes = await self._aread(distillations.plan(self.namespace, distiller.run)), list[Replaced]()
        if dry_run:
            return _foreseen(distiller.run, plan)
        async with aclosing(_aasked(distiller, plan.todo, max_concurrency, self.tally)) as answers:
            async for experience, distilled in answers:
                outcomes.append(await self._awrite(self._replace(distiller, experience, distilled)))
                if progress:
                    progress(len(outcomes), len(plan.todo))
        return Redistilled.of(distiller.run, plan, outcomes)

    def undo_redistil(self, run: str) -> Undone:
        """Take the lessons of a run out of use and bring back those whose place they took.

        Each experience changes in one batch; a call that was broken off can be repeated. An experience whose lessons
        were made anew again since, by another run, stays as it is: undo that run first.

        Args:
            run: `Redistilled.run`, which is also the `redistil_run` of its lessons.
        """
        return self._write(distillations.undo(self.namespace, run))

    async def aundo_redistil(self, run: str) -> Undone:
        """Async form of `undo_redistil`."""
        return await self._awrite(distillations.undo(self.namespace, run))

    def _distiller(self, model: ModelLike, max_concurrency: int, time_limit: float, weak: bool | None) -> Redistiller:
        self._require_present()
        if max_concurrency < 1:
            raise ValueError(f"max_concurrency must be at least 1, got {max_concurrency}")
        return Redistiller(model, time_limit=time_limit, weak=weak)

    def _replace(self, distiller: Redistiller, experience: Experience, distilled: Extraction) -> Ops[Replaced]:
        if distilled.reason:
            return Replaced(kept=distilled.reason, failure=distilled.raw if distilled.reason == "error" else None)
        items = distiller.make_items(experience.episodes, experience.group, distilled) if distilled.items else []
        return (yield from distillations.replace(self.namespace, self.match, distiller.run, experience, items))


def _foreseen(run: str, plan: Plan) -> Redistilled:
    return Redistilled.of(run, plan, [Replaced(superseded=experience.old) for experience in plan.todo])


def _config(tally: Tally, experience: Experience) -> RunnableConfig:
    return tally.config("extract", experience=experience.episodes[0].experience_id)


def _asked(distiller: Redistiller, todo: Sequence[Experience], at_once: int, tally: Tally) -> Generator[Answered]:
    """Yield what the model made of each experience, as it comes; of one whose lessons are there it is asked nothing."""

    def ask(experience: Experience) -> Answered:
        group, config = experience.group, _config(tally, experience)
        return experience, distiller.caller.run(distiller.dialogue(group), config) if group else Extraction([])

    with ContextThreadPoolExecutor(at_once) as pool:
        waiting = [pool.submit(ask, experience) for experience in todo]
        try:
            for answered in as_completed(waiting):
                yield answered.result()
        finally:
            for one in waiting:
                one.cancel()


async def _aasked(
    distiller: Redistiller, todo: Sequence[Experience], at_once: int, tally: Tally
) -> AsyncGenerator[Answered]:
    """Async form of `_asked`."""
    free = asyncio.Semaphore(at_once)

    async def ask(experience: Experience) -> Answered:
        group, config = experience.group, _config(tally, experience)
        async with free:
            said = await distiller.caller.arun(distiller.dialogue(group), config) if group else Extraction([])
            return experience, said

    waiting = [asyncio.ensure_future(ask(experience)) for experience in todo]
    try:
        for answered in asyncio.as_completed(waiting):
            yield await answered
    finally:
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
