"""One problem, one arm: from what is shown to a graded row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph.chat.models import sampling_seed
from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.calls import Usage, measured, require_sound
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.memories import ShownMemory
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.graph import create_reasoning_bank
from reasoningbank_langgraph.judges import ReferenceJudge
from reasoningbank_langgraph.math_answers import final_answer
from reasoningbank_langgraph.math_solver import check_step, solve_prompt, solve_step
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.matts.records import rollouts_of
from reasoningbank_langgraph.prompts import prompt_hash
from reasoningbank_langgraph.records import Attempt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable

_REFERENCE_JUDGE = ReferenceJudge()


class Solution(NamedTuple):
    """What a solver made of one problem."""

    reply: str
    attempts: int = 1
    pass_at_k: bool | None = None


Solve = Callable[[Problem, ShownMemory, int], Solution]
"""From a problem, what is shown before it and a seed to its solution."""


class Job(NamedTuple):
    """One row to make."""

    arm: Arm
    seed: int
    position: int
    problem: Problem


def solve_once(chat: BaseChatModel, config: ExperimentConfig) -> Solve:
    """Return a solver that makes one attempt, with the bundled prompt."""
    step = solve_step(chat, config.max_tokens)

    def solve(problem: Problem, shown: ShownMemory, seed: int) -> Solution:
        state = {"task": problem.text, "memory_prompt": shown.prompt}
        return Solution(str(step.invoke(state, sampling(config, problem, seed))["answer"]))

    return solve


def solve_several_times(chat: BaseChatModel, config: ExperimentConfig, arm: Arm) -> Solve:
    """Return a solver whose attempts share a memory. The graph that selects one of them never sees the reference.

    The attempts at one problem are made one after the other: it is problems that are worked on at the same time.
    """
    scaling = arm.scaling(at_once=1)
    assert scaling is not None  # noqa: S101 - an arm of several attempts
    app = create_reasoning_bank(
        _shown(solve_step(chat, config.max_tokens)),
        scaling=replace(scaling, refiner=_shown(check_step(chat, config.max_tokens))),
        learn=False,
    ).compile(store=InMemoryStore())

    def solve(problem: Problem, shown: ShownMemory, seed: int) -> Solution:
        run_config = sampling(config, problem, seed)
        run_config["configurable"]["shown"] = shown.prompt
        state = app.invoke({"task": problem.text, "task_id": problem.id}, run_config)
        require_sound(state)
        rollouts = rollouts_of(state)
        any_right = any(is_right(problem, rollout.answer or "") for rollout in rollouts)
        return Solution(str(state["answer"] or ""), sum(1 + rollout.checks for rollout in rollouts), any_right)

    return solve


def _shown(step: Runnable[Any, Any]) -> RunnableLambda[Any, Any]:
    """The step with the memory of the row, letter by letter as a single attempt is shown it."""

    def solve(state: Any, config: RunnableConfig) -> Any:
        return step.invoke({**state, "memory_prompt": config["configurable"]["shown"]}, config)

    return RunnableLambda(solve, name="solve")


def sampling(config: ExperimentConfig, problem: Problem, seed: int) -> RunnableConfig:
    """Return how a solver samples: the same in every arm."""
    return {"configurable": {"temperature": config.temperature, "seed": sampling_seed(seed, problem.text)}}


def solve_and_grade(job: Job, shown: ShownMemory, solve: Solve, **more: Any) -> ResultRow:
    """Solve a problem and grade it; a failure of the model is a row as well. `more` are further fields of the row."""
    solution, usage = measured(lambda: solve(job.problem, shown, job.seed))
    reply, attempts, pass_at_k = solution or Solution("")
    return graded_row(
        job,
        shown,
        reply,
        usage,
        attempts=attempts,
        pass_at_k=pass_at_k,
        prompt_hash=prompt_hash(*(text for _, text in prompt_of(job.problem, shown))),
        **more,
    )


def graded_row(job: Job, shown: ShownMemory, reply: str, usage: Usage, **more: Any) -> ResultRow:
    """Return the row of a reply.

    Args:
        job: the arm, the seed and the problem.
        shown: the memory that was shown.
        reply: "" where the model failed.
        usage: tokens, seconds and the error.
        more: further fields of the row.
    """
    return ResultRow(
        arm=job.arm.name,
        seed=job.seed,
        id=job.problem.id,
        position=job.position,
        problem=job.problem.text,
        reference=job.problem.answer or "",
        answer=(final_answer(reply) or "") if reply else "",
        reply=reply,
        right=is_right(job.problem, reply),
        memory=shown.prompt,
        shown=tuple(memory.item.id for memory in shown.items),
        scores=tuple(memory.score for memory in shown.items if memory.score is not None),
        sources=tuple(memory.item.task_id for memory in shown.items),
        dropped=shown.dropped,
        **asdict(usage),
        **more,
    )


def prompt_of(problem: Problem, shown: ShownMemory) -> list[tuple[str, str]]:
    """Return the messages a solver is sent, as (role, text)."""
    messages = solve_prompt({"task": problem.text, "memory_prompt": shown.prompt})
    return [(message.type, message.text) for message in messages]


def is_right(problem: Problem, reply: str) -> bool:
    """Grade a reply by the reference answer."""
    attempt: Any = Attempt(task=problem.text, answer=reply, reference=problem.answer)
    return _REFERENCE_JUDGE(attempt).status == "success"
