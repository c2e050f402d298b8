"""`reasoningbank solve`: the math solver with a bank on disk, problem by problem."""

from __future__ import annotations

import secrets
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from reasoningbank_langgraph.cli.identifiers import WhereOption, parse_where
from reasoningbank_langgraph.cli.model import TIME_LIMIT
from reasoningbank_langgraph.cli.solve_report import DONE_BEFORE, PartSeconds, SolveOutcome, SolveReport
from reasoningbank_langgraph.cli.terminal import console, named_errors, progress_bar
from reasoningbank_langgraph.cli.upkeep.encryption import checkpoint_serializer, encryption_key
from reasoningbank_langgraph.math_solver.problems import Problem, one_problem, read_problems

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    from reasoningbank_langgraph.local.model_choice import ResolvedModel

CHECKPOINTS = "checkpoints.sqlite"


def solve(
    problem: Annotated[str | None, typer.Argument(help="A math problem; for several, use --file.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="JSONL file with `problem` and, where known, `id` and `answer`.")
    ] = None,
    bank: Annotated[Path, typer.Option(help="Folder of the bank; created if it does not exist.")] = Path("bank"),
    limit: Annotated[
        int | None, typer.Option(min=1, help="Use only this many problems, from the start of the file.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="PATH.gguf, a pulled model, a folder of `tune`, NAME at OPENAI_BASE_URL, or provider:NAME."),
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option(help="Model that judges and extracts lessons; by default the one that solves.")
    ] = None,
    thread: Annotated[
        str | None, typer.Option(help="Name of this run; use it again to resume a run that stopped.")
    ] = None,
    learn: Annotated[
        bool, typer.Option("--learn/--no-learn", help="Write lessons to the bank, or only read it.")
    ] = True,
    k: Annotated[int, typer.Option(min=1, help="Number of earlier experiences to retrieve.")] = 1,
    max_items: Annotated[int, typer.Option(min=1, help="Largest number of lessons to show the model.")] = 3,
    policy: Annotated[
        Literal["append", "skip", "link"],
        typer.Option(help="Lessons the bank has already: append them, skip equal ones, or link near copies as well."),
    ] = "append",
    where: WhereOption = None,
) -> None:
    """Solve math problems with a memory and show what was recalled, judged and learned."""
    if (problem is None) == (file is None):
        raise typer.BadParameter("give either a problem or --file")
    with named_errors():
        problems = [one_problem(problem)] if file is None else read_problems(file, limit)  # type: ignore[arg-type]
        options = {"k": k, "max_items": max_items, "policy": policy, "where": parse_where(where)}
        report = _run(problems, bank, model, judge_model, thread or _new_run_name(), learn, **options)
    raise typer.Exit(report.exit_code)


def _run(
    problems: list[Problem],
    bank: Path,
    model: str | None,
    judge_model: str | None,
    thread: str,
    learn: bool,
    **options: Any,
) -> SolveReport:
    from reasoningbank_langgraph.bank import MemoryBank
    from reasoningbank_langgraph.embeddings import default_embeddings
    from reasoningbank_langgraph.math_solver import MATH_NAMESPACE
    from reasoningbank_langgraph.store import ChromaStore

    embedder, key = default_embeddings(), encryption_key()
    with (
        ChromaStore.from_path(bank, embeddings=embedder, encryption_key=key) as store,
        _models(model, judge_model) as (solver, critic),
    ):
        with console.status("loading the embedder"):
            embedder.embed_query("warm")
        memory = MemoryBank(store, MATH_NAMESPACE)
        report = SolveReport(memory, thread, str(bank), known=len(problems))
        report.opening(solver.description)
        with _compiled(solver, critic, store, bank, learn, options) as graph:
            try:
                _solve_all(graph, problems, thread, report)
            except KeyboardInterrupt:
                report.interrupted(sys.argv)
        report.closing()
        return report


@contextmanager
def _models(model: str | None, judge_model: str | None) -> Iterator[tuple[ResolvedModel, ResolvedModel]]:
    from reasoningbank_langgraph.local.model_choice import resolve_model

    with console.status("loading the model"):
        solver = resolve_model(model, temperature=0)
    with solver:
        if judge_model is None:
            yield solver, solver
        else:
            with resolve_model(judge_model, temperature=0) as critic:
                yield solver, critic


@contextmanager
def _compiled(
    solver: ResolvedModel, critic: ResolvedModel, store: Any, bank: Path, learn: bool, options: dict[str, Any]
) -> Iterator[CompiledStateGraph[Any, Any, Any, Any]]:
    from langgraph.checkpoint.sqlite import SqliteSaver

    from reasoningbank_langgraph.math_solver import create_math_solver

    built = create_math_solver(solver.chat, judge_model=critic.chat, learn=learn, time_limit=TIME_LIMIT, **options)
    with closing(sqlite3.connect(bank / CHECKPOINTS, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection, serde=checkpoint_serializer())
        yield built.compile(checkpointer=saver, store=store, name="math_solver")


def _solve_all(graph: Any, problems: list[Problem], thread: str, report: SolveReport) -> None:
    with progress_bar() as bar:
        task = bar.add_task("solving", total=len(problems))
        for number, problem in enumerate(problems, 1):
            bar.update(task, description=f"solving {problem.id}")
            report.add(number, problem, _solve_one(graph, problem, thread))
            bar.advance(task)


def _solve_one(graph: Any, problem: Problem, thread: str) -> SolveOutcome:
    """Run one problem in a thread of its own: from its start, from where it stopped, or not at all when it is done."""
    config = {"configurable": {"thread_id": f"{thread}/{problem.id}"}}
    before = graph.get_state(config)
    if other := _difference(before.values, problem):
        return SolveOutcome(
            {},
            PartSeconds({}),
            error=f"run {thread} already has problem {problem.id} with {other}: choose a new --thread",
        )
    # Not `next`: that is empty already when a step was done and its checkpoint not yet written.
    if before.values and not before.tasks:
        return SolveOutcome(before.values, PartSeconds({}), resumed=DONE_BEFORE)
    fresh = {"task": problem.text, "task_id": problem.id, "reference": problem.answer}
    clock = PartSeconds({})
    try:
        for event in graph.stream(None if before.tasks else fresh, config, stream_mode="custom", durability="sync"):
            clock.note(event, time.perf_counter())
    except Exception as error:  # noqa: BLE001 - one problem that fails must not end the run; it is shown and counted
        return SolveOutcome(graph.get_state(config).values, clock, error=f"{type(error).__name__}: {error}")
    return SolveOutcome(graph.get_state(config).values, clock, resumed="resumed" if before.tasks else "")


def _difference(known: Mapping[str, Any], problem: Problem) -> str | None:
    """Say what differs where the thread holds another problem under this id, as happens with another file."""
    attempt = known.get("attempt")
    if attempt is None or (attempt["task"], attempt["reference"]) == (problem.text, problem.answer):
        return None
    return "another text" if attempt["task"] != problem.text else "another answer"


def _new_run_name() -> str:
    return time.strftime("run-%Y%m%d-%H%M%S-") + secrets.token_hex(2)
