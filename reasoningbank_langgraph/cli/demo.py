"""`reasoningbank demo`: a bank grows on twenty small problems and is tried on new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from reasoningbank_langgraph.cli.demo_problems import draw_problems
from reasoningbank_langgraph.cli.demo_report import DemoReport, DemoResult
from reasoningbank_langgraph.cli.terminal import console, named_errors
from reasoningbank_langgraph.cli.upkeep.encryption import encryption_key
from reasoningbank_langgraph.math_solver.problems import Problem

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from reasoningbank_langgraph.bank import MemoryBank
    from reasoningbank_langgraph.local.model_choice import ResolvedModel

_Result = TypeVar("_Result")

LEARNING_PROBLEMS, NEW_PROBLEMS = 20, 20

_SYSTEM = ("system", "You solve math problems. Write one short line of work, then the answer in \\boxed{}.")


def demo(
    bank: Annotated[Path, typer.Option(help="Folder of the bank; created if it does not exist.")] = Path("demo-bank"),
    model: Annotated[
        str | None,
        typer.Option(help="PATH.gguf, a pulled model, a folder of `tune`, NAME at OPENAI_BASE_URL, or provider:NAME."),
    ] = None,
) -> None:
    """Learn from twenty small problems, then check on new ones whether what the bank holds helps."""
    with named_errors(), _open_demo(bank, model) as (choice, store, memory):
        report = DemoReport(memory, str(bank))
        report.opening(choice.description)
        solver, before = _solver(choice.chat), memory.totals().experiences
        try:
            _learn(choice, store, solver, report, f"learn-{before}")
            _compare(choice, store, solver, report, f"new-{before}")
        except KeyboardInterrupt:
            console.print("stopped; the bank is intact and the next run starts from it")
            raise typer.Exit(130) from None
        report.closing(choice.server is not None)


@contextmanager
def _open_demo(bank: Path, model: str | None) -> Iterator[tuple[ResolvedModel, Any, MemoryBank]]:
    from reasoningbank_langgraph.bank import MemoryBank
    from reasoningbank_langgraph.embeddings import default_embeddings
    from reasoningbank_langgraph.local.model_choice import resolve_model
    from reasoningbank_langgraph.math_solver import MATH_NAMESPACE
    from reasoningbank_langgraph.store import ChromaStore

    embedder = default_embeddings()
    with ChromaStore.from_path(bank, embeddings=embedder, encryption_key=encryption_key()) as store:
        with console.status("loading the embedder and the model"), ThreadPoolExecutor(1) as pool:
            warm = pool.submit(embedder.embed_query, "warm")
            choice = resolve_model(model, temperature=0)
        with choice:
            warm.result()
            yield choice, store, MemoryBank(store, MATH_NAMESPACE)


def _solver(chat: BaseChatModel) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return the solver that the graph wraps."""
    brief = chat.bind(max_tokens=48)

    def solve(state: dict[str, Any]) -> dict[str, Any]:
        lessons = [("user", state["memory_prompt"])] if state["memory_prompt"] else []
        return {"answer": brief.invoke([_SYSTEM, *state["memory_messages"], *lessons, ("user", state["task"])]).text}

    return solve


def _learn(choice: ResolvedModel, store: Any, solver: Any, report: DemoReport, seed: str) -> None:
    """Solve, judge by the known answer, extract and write: each problem can use what earlier ones taught."""
    graph = _graph(choice.chat, solver, store, learn=True)

    def work(problem: Problem) -> DemoResult:
        return DemoResult.of(problem, graph.invoke(*_graph_input(problem)))

    report.first_pass(LEARNING_PROBLEMS, _work_at_once(work, draw_problems(LEARNING_PROBLEMS, seed), choice))


def _compare(choice: ResolvedModel, store: Any, solver: Any, report: DemoReport, seed: str) -> None:
    """Solve new problems of the same kinds, each without the bank and with it."""
    graph = _graph(choice.chat, solver, store, learn=False)

    def work(problem: Problem) -> tuple[DemoResult, DemoResult]:
        without = DemoResult.of(problem, solver({"task": problem.text, "memory_prompt": "", "memory_messages": []}))
        return without, DemoResult.of(problem, graph.invoke(*_graph_input(problem)))

    report.second_pass(NEW_PROBLEMS, _work_at_once(work, draw_problems(NEW_PROBLEMS, seed), choice))


def _graph(chat: BaseChatModel, solver: Any, store: Any, *, learn: bool) -> Any:
    from langgraph.checkpoint.memory import InMemorySaver

    from reasoningbank_langgraph.graph import create_reasoning_bank
    from reasoningbank_langgraph.judges import ReferenceJudge
    from reasoningbank_langgraph.math_solver import MATH_NAMESPACE

    built = create_reasoning_bank(
        solver,
        judge=ReferenceJudge(),
        extract_model=chat,
        namespace=MATH_NAMESPACE,
        learn=learn,
        max_items=1,
        show="both",
        min_example_score=None,  # a small model takes the form of an answer from any example
    )
    return built.compile(checkpointer=InMemorySaver(), store=store)


def _graph_input(problem: Problem) -> tuple[dict[str, Any], dict[str, Any]]:
    values = {"task": problem.text, "task_id": problem.id, "reference": problem.answer}
    return values, {"configurable": {"thread_id": problem.id}}


def _work_at_once(
    work: Callable[[Problem], _Result], problems: list[Problem], choice: ResolvedModel
) -> Iterator[_Result]:
    """Yield results as they come in; as many problems are worked on at once as the model takes."""
    with ThreadPoolExecutor(choice.at_once) as pool:
        running = [pool.submit(work, problem) for problem in problems]
        try:
            for done in as_completed(running):
                yield done.result()
        finally:
            for one in running:
                one.cancel()
