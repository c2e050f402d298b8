"""One problem, one arm: from what is shown to a graded row."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph.chat.models import sampling_seed
from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.calls import Usage, measured, require_sound
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.memories import ShownMemory
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.experiments.tries import Tries, Try, TryKey, answer_of
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

    from reasoningbank_langgraph.bank import MemoryBank

_REFERENCE_JUDGE = ReferenceJudge()


class Solution(NamedTuple):
    """What a solver made of one problem."""

    reply: str
    attempts: int = 1
    pass_at_k: bool | None = None
    tries: Sequence[Try] = ()
    """Those it was selected from, where they are kept; `selected` is one of them."""
    selected: Try | None = None
    aided: bool = True
    """Whether any attempt saw the memory."""


Solve = Callable[[Problem, ShownMemory, int], Solution]
"""From a problem, what is shown before it and a seed to its solution."""


class Job(NamedTuple):
    """One row to make."""

    arm: Arm
    seed: int
    position: int
    problem: Problem


def solve_once(chat: BaseChatModel, config: ExperimentConfig, arm: Arm) -> Solve:
    """Return a solver that makes one attempt, with the bundled prompt and the further rules of its arm."""
    step = solve_step(chat, config.max_tokens, arm.more)

    def solve(problem: Problem, shown: ShownMemory, seed: int) -> Solution:
        state = {"task": problem.text, **shown.channels}
        return Solution(str(step.invoke(state, sampling(config, problem, seed))["answer"]))

    return solve


def solve_several_times(
    chat: BaseChatModel, config: ExperimentConfig, arm: Arm, tries: Tries | None = None, bank: MemoryBank | None = None
) -> Solve:
    """Return a solver that makes several attempts. The graph that selects one of them never sees the reference.

    The attempts at one problem are made one after the other: it is problems that are worked on at the same time.

    Args:
        chat: the model.
        config: settings of the solver and of the retrieval.
        arm: how many attempts it makes, and which of them see the memory.
        tries: attempts side by side that were made already, by any arm, are taken from there, and new ones kept.
        bank: what an arm retrieves from that decides by itself whether it needs the memory.
    """
    scaling = arm.scaling(at_once=1)
    assert scaling is not None  # noqa: S101 - an arm of several attempts
    step: Runnable[Any, Any] = solve_step(chat, config.max_tokens)
    if tries is not None and arm.mode == "parallel":
        step = _kept(step, tries, config.max_tokens)
    app = create_reasoning_bank(
        _shown(step, arm),
        scaling=replace(scaling, refiner=_shown(check_step(chat, config.max_tokens), arm)),
        learn=False,
        **_retrieval(bank, config, arm),
    ).compile(store=InMemoryStore() if bank is None else bank.store)

    def solve(problem: Problem, shown: ShownMemory, seed: int) -> Solution:
        run_config, asked = sampling(config, problem, seed), _Asked(problem, shown, seed, {})
        run_config["configurable"]["asked"] = asked
        state = app.invoke({"task": problem.text, "task_id": problem.id}, run_config)
        require_sound(state)
        rollouts = rollouts_of(state)
        made = [*asked.tries.values()]
        grades = [one.right for one in made] or [is_right(problem, rollout.answer or "") for rollout in rollouts]
        return Solution(
            str(state["answer"] or ""),
            sum(1 + rollout.checks for rollout in rollouts),
            any(grades),
            made,
            asked.tries.get(state["selection"]["number"]),
            aided=arm.use == "all" or any(rollout.shown for rollout in rollouts),
        )

    return solve


def _retrieval(bank: MemoryBank | None, config: ExperimentConfig, arm: Arm) -> dict[str, Any]:
    if bank is None:
        return {}
    if arm.shows_examples:
        return {"namespace": bank.namespace, "show": "examples", "min_example_score": config.example_floor}
    settings = {"k": config.k, "max_items": config.max_items, "min_score": config.min_score}
    return {"namespace": bank.namespace, **settings}


class _Asked(NamedTuple):
    """What the attempts at a problem are made with, and which they were."""

    problem: Problem
    shown: ShownMemory
    seed: int
    tries: dict[int, Try]
    """By number, where they are kept."""


def _shown(step: Runnable[Any, Any], arm: Arm) -> RunnableLambda[Any, Any]:
    """The step with the memory of the row, letter by letter as a single attempt is shown it, or without any."""

    def solve(state: Any, config: RunnableConfig) -> Any:
        aided = arm.use == "all" or state["memories"] or state.get("memory_messages")
        shown = config["configurable"]["asked"].shown if aided else ShownMemory()
        return step.invoke({**state, **shown.channels}, config)

    return RunnableLambda(solve, name="solve")


def _kept(step: Runnable[Any, Any], tries: Tries, max_tokens: int) -> RunnableLambda[Any, Any]:
    """The step, unless the same was asked before: then what it gave."""

    def solve(state: Any, config: RunnableConfig) -> Any:
        told = config["configurable"]
        asked = told["asked"]
        memory = asked.shown if state["memory_prompt"] or state["memory_messages"] else ShownMemory()
        sampled = f"{told.get('temperature')} {told['seed']} {max_tokens}"
        request = prompt_hash(*(text for _, text in prompt_of(asked.problem, memory)), sampled)
        key = TryKey(asked.problem.id, asked.seed, told["rollout"], request)
        made = tries.take(key, lambda: _try(key, asked.problem, memory.text, lambda: step.invoke(state, config)))
        asked.tries[key.number] = made
        return {"answer": made.text, "messages": [HumanMessage(state["task"]), AIMessage(made.text)]}

    return RunnableLambda(solve, name="solve")


def _try(key: TryKey, problem: Problem, memory: str, attempt: Callable[[], dict[str, Any]]) -> Try:
    started, update = time.perf_counter(), attempt()
    reply = str(update["answer"])
    used = getattr(update["messages"][-1], "usage_metadata", None) or {}
    answer, marked = answer_of(reply)
    return Try(
        **key._asdict(),
        memory=prompt_hash(memory) if memory else "",
        answer=answer,
        marked=marked,
        right=is_right(problem, reply),
        reply=reply,
        reply_length=len(reply),
        tokens_in=used.get("input_tokens", 0),
        tokens_out=used.get("output_tokens", 0),
        seconds=round(time.perf_counter() - started, 3),
    )


def sampling(config: ExperimentConfig, problem: Problem, seed: int) -> RunnableConfig:
    """Return how a solver samples: the same in every arm."""
    return {"configurable": {"temperature": config.temperature, "seed": sampling_seed(seed, problem.text)}}


def solve_and_grade(job: Job, shown: ShownMemory, solve: Solve, **more: Any) -> ResultRow:
    """Solve a problem and grade it; a failure of the model is a row as well. `more` are further fields of the row."""
    solution, usage = measured(lambda: solve(job.problem, shown, job.seed))
    made = solution or Solution("")
    shown = shown if made.aided else ShownMemory()
    row = graded_row(
        job,
        shown,
        made.reply,
        _usage_of(made.tries) if made.tries else usage,
        attempts=made.attempts,
        pass_at_k=made.pass_at_k,
        prompt_hash=prompt_hash(*(text for _, text in prompt_of(job.problem, shown, job.arm.more))),
        **more,
    )
    return row if made.selected is None else row.model_copy(update=_as_kept(made.selected))


def _usage_of(tries: Sequence[Try]) -> Usage:
    """What the attempts took, whichever arm made them: it is what the arm costs."""
    usage = Usage(seconds=round(sum(one.seconds for one in tries), 3))
    usage.tokens_in, usage.tokens_out = (
        sum(getattr(one, name) for one in tries) for name in ("tokens_in", "tokens_out")
    )
    return usage


def _as_kept(selected: Try) -> dict[str, Any]:
    """The grade of an attempt, which stands also where its text is no longer there."""
    fields = {name: getattr(selected, name) for name in ("right", "reply", "reply_length")}
    return fields if selected.reply else {**fields, "answer": selected.answer}


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
        memory=shown.text,
        dropped=shown.dropped,
        **shown.sources,
        **asdict(usage),
        **more,
    )


def prompt_of(problem: Problem, shown: ShownMemory, more: str = "") -> list[tuple[str, str]]:
    """Return the messages a solver is sent, as (role, text), with a memory and `more` rules, "" for none."""
    messages = solve_prompt({"task": problem.text, **shown.channels}, more)
    return [(message.type, message.text) for message in messages]


def is_right(problem: Problem, reply: str) -> bool:
    """Grade a reply by the reference answer."""
    attempt: Any = Attempt(task=problem.text, answer=reply, reference=problem.answer)
    return _REFERENCE_JUDGE(attempt).status == "success"
