"""One problem, one arm: from what is shown to a graded row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.callbacks import get_usage_metadata_callback
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.chat.models import sampling_seed
from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.memories import ShownMemory
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.judges import ReferenceJudge
from reasoningbank_langgraph.math_answers import final_answer
from reasoningbank_langgraph.math_solver import create_math_solver, solve_prompt, solve_step
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.prompts import prompt_hash
from reasoningbank_langgraph.records import ITEMS_PER_GROUP, Attempt, Provenance, utc_now

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import RunnableConfig

_REFERENCE_JUDGE = ReferenceJudge()
_NAMESPACE = ("experiment", "{problem}")


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


@dataclass
class Usage:
    """What model calls took, and why they failed."""

    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    error: str | None = None


@contextmanager
def measured() -> Iterator[Usage]:
    """Measure the model calls of a block; an exception ends the block and becomes the error of its row."""
    usage, start = Usage(), time.perf_counter()
    with get_usage_metadata_callback() as callback:
        try:
            yield usage
        except Exception as failure:  # noqa: BLE001 - noted in the row, and run again on resume
            usage.error = f"{type(failure).__name__}: {str(failure)[:300]}"
    usage.seconds = round(time.perf_counter() - start, 3)
    for tokens in callback.usage_metadata.values():
        usage.tokens_in += tokens["input_tokens"]
        usage.tokens_out += tokens["output_tokens"]


def solve_once(chat: BaseChatModel, config: ExperimentConfig) -> Solve:
    """Return a solver that makes one attempt, with the bundled prompt."""
    step = solve_step(chat, config.max_tokens)

    def solve(problem: Problem, shown: ShownMemory, seed: int) -> Solution:
        state = {"task": problem.text, "memory_prompt": shown.prompt}
        return Solution(str(step.invoke(state, sampling(config, problem, seed))["answer"]))

    return solve


def solve_several_times(chat: BaseChatModel, config: ExperimentConfig, arm: Arm) -> Solve:
    """Return a solver whose attempts share a memory; one is selected without a look at the reference."""
    store = InMemoryStore()
    whole_memory: dict[str, Any] = {"k": ITEMS_PER_GROUP * config.k, "max_items": config.max_items}
    app = create_math_solver(
        chat, scaling=arm.scaling, learn=False, namespace=_NAMESPACE, max_tokens=config.max_tokens, **whole_memory
    ).compile(store=store)

    def solve(problem: Problem, shown: ShownMemory, seed: int) -> Solution:
        label = f"{seed}-{problem.id}".replace(".", "-")
        bank = MemoryBank(store, ("experiment", label))
        _put_in_order(bank, shown)
        run_config = sampling(config, problem, seed)
        run_config["configurable"]["problem"] = label
        # The reference is for pass@k alone: the majority selects, and nothing is learned.
        state = app.invoke({"task": problem.text, "task_id": problem.id, "reference": problem.answer}, run_config)
        bank.forget(thread_id=label, cascade=False)
        attempts = sum(1 + rollout["checks"] for rollout in state["rollouts"])
        return Solution(str(state["answer"] or ""), attempts, state["selection"]["scores"]["pass_at_k"])

    return solve


def _put_in_order(bank: MemoryBank, shown: ShownMemory) -> None:
    """Put the memory where the graph will find it in this order: without an index the newest items come first."""
    provenance, newest = Provenance(thread_id=bank.namespace[-1]), utc_now()
    for place, memory in enumerate(shown.items):
        name = f"{place:03d}-{memory.item.id}"
        made = newest - timedelta(microseconds=place)
        changes = {"id": name, "experience_id": name, "task_id": name, "provenance": provenance, "created_at": made}
        bank.add([memory.item.model_copy(update=changes)])


def sampling(config: ExperimentConfig, problem: Problem, seed: int) -> RunnableConfig:
    """Return how a solver samples: the same in every arm."""
    return {"configurable": {"temperature": config.temperature, "seed": sampling_seed(seed, problem.text)}}


def solve_and_grade(job: Job, shown: ShownMemory, solve: Solve, bank: int) -> ResultRow:
    """Solve a problem and grade it; a failure of the model is a row as well."""
    solution = Solution("")
    with measured() as usage:
        solution = solve(job.problem, shown, job.seed)
    return graded_row(
        job,
        shown,
        solution.reply,
        usage,
        bank=bank,
        attempts=solution.attempts,
        pass_at_k=solution.pass_at_k,
        prompt_hash=prompt_hash(*(text for _, text in prompt_of(job.problem, shown))),
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
