"""One problem, one arm: from what is shown to a graded row."""

from __future__ import annotations

import time
from collections.abc import Callable
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
from reasoningbank_langgraph.records import ITEMS_PER_GROUP, Attempt, Provenance

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import RunnableConfig

_REFERENCE_JUDGE = ReferenceJudge()
_PLACE = ("experiment", "{problem}")


class Solved(NamedTuple):
    """What came of one problem."""

    reply: str
    attempts: int = 1
    pass_at_k: bool | None = None


Solve = Callable[[Problem, ShownMemory, int], Solved]


def solve_once(chat: BaseChatModel, config: ExperimentConfig) -> Solve:
    """One solution by the bundled prompt."""
    step = solve_step(chat, config.max_tokens)

    def solve(problem: Problem, shown: ShownMemory, seed: int) -> Solved:
        state = {"task": problem.text, "memory_prompt": shown.prompt}
        return Solved(str(step.invoke(state, sampling(config, problem, seed))["answer"]))

    return solve


def solve_several_times(chat: BaseChatModel, config: ExperimentConfig, arm: Arm) -> Solve:
    """Several solutions with the same memory, of which one is selected without a look at the reference."""
    store = InMemoryStore()
    everything: dict[str, Any] = {"k": ITEMS_PER_GROUP * config.k, "max_items": config.max_items}
    app = create_math_solver(
        chat, scaling=arm.scaling, learn=False, namespace=_PLACE, max_tokens=config.max_tokens, **everything
    ).compile(store=store)

    def solve(problem: Problem, shown: ShownMemory, seed: int) -> Solved:
        place = f"{seed}-{problem.id}".replace(".", "-")
        bank = MemoryBank(store, ("experiment", place))
        _put_in_order(bank, shown)
        told = sampling(config, problem, seed)
        told["configurable"]["problem"] = place
        # The reference is for pass@k alone: the majority selects, and nothing is learned.
        state = app.invoke({"task": problem.text, "task_id": problem.id, "reference": problem.answer}, told)
        bank.forget(thread_id=place, cascade=False)
        made = sum(1 + rollout["checks"] for rollout in state["rollouts"])
        return Solved(str(state["answer"] or ""), made, state["selection"]["scores"]["pass_at_k"])

    return solve


def _put_in_order(bank: MemoryBank, shown: ShownMemory) -> None:
    """Put the memory where the graph will find it: a store without an index returns items in the order of their ids."""
    provenance = Provenance(thread_id=bank.namespace[-1])
    for place, memory in enumerate(shown.items):
        name = f"{place:03d}-{memory.item.id}"
        changes = {"id": name, "experience_id": name, "task_id": name, "provenance": provenance}
        bank.add([memory.item.model_copy(update=changes)])


def sampling(config: ExperimentConfig, problem: Problem, seed: int) -> RunnableConfig:
    """Return what tells a solver how to sample: the same in every arm."""
    return {"configurable": {"temperature": config.temperature, "seed": sampling_seed(seed, problem.text)}}


def solve_and_grade(
    arm: Arm, problem: Problem, seed: int, position: int, shown: ShownMemory, solve: Solve, bank: int
) -> ResultRow:
    """Solve a problem and grade it; a failure of the model is a row as well."""
    started = time.perf_counter()
    error, solved = None, Solved("")
    with get_usage_metadata_callback() as usage:
        try:
            solved = solve(problem, shown, seed)
        except Exception as failure:  # noqa: BLE001 - noted in the row, and run again on resume
            error = f"{type(failure).__name__}: {str(failure)[:300]}"
    seconds = time.perf_counter() - started
    spent = list(usage.usage_metadata.values())
    return ResultRow(
        arm=arm.name,
        seed=seed,
        id=problem.id,
        position=position,
        problem=problem.text,
        reference=problem.answer or "",
        answer=(final_answer(solved.reply) or "") if solved.reply else "",
        reply=solved.reply,
        right=is_right(problem, solved.reply),
        memory=shown.prompt,
        shown=tuple(memory.item.id for memory in shown.items),
        scores=tuple(memory.score for memory in shown.items if memory.score is not None),
        sources=tuple(memory.item.task_id for memory in shown.items),
        dropped=shown.dropped,
        bank=bank,
        attempts=solved.attempts,
        pass_at_k=solved.pass_at_k,
        tokens_in=sum(used["input_tokens"] for used in spent),
        tokens_out=sum(used["output_tokens"] for used in spent),
        seconds=round(seconds, 3),
        prompt_hash=prompt_hash(*(text for _, text in prompt_of(problem, shown))),
        error=error,
    )


def prompt_of(problem: Problem, shown: ShownMemory) -> list[tuple[str, str]]:
    """Return the messages a solver is sent, as (role, text)."""
    messages = solve_prompt({"task": problem.text, "memory_prompt": shown.prompt})
    return [(message.type, message.text) for message in messages]


def is_right(problem: Problem, reply: str) -> bool:
    """Grade a reply by the reference answer."""
    attempt: Any = Attempt(task=problem.text, answer=reply, reference=problem.answer)
    return _REFERENCE_JUDGE(attempt).status == "success"
