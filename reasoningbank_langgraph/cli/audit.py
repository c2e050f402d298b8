"""`reasoningbank judge-audit`: how often a judge is right on attempts with known answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.progress import track
from rich.table import Table

from reasoningbank_langgraph.cli.model import TIME_LIMIT, loaded_model
from reasoningbank_langgraph.cli.terminal import console, named_errors
from reasoningbank_langgraph.errors import ModelCallError, ProblemFileError
from reasoningbank_langgraph.math_solver.problems import Problem, read_problems

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from reasoningbank_langgraph.judges.audit import Confusion
    from reasoningbank_langgraph.records import Attempt


def judge_audit(
    file: Annotated[Path, typer.Option(help="JSONL file with `problem`, `answer` and, if there is one, `attempt`.")],
    judge: Annotated[
        Literal["llm", "consistency"],
        typer.Option(help="Ask once (llm), or compare several answers to the task (consistency)."),
    ] = "llm",
    model: Annotated[str | None, typer.Option(help="Model that judges, named as in `solve`.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Use only this many problems, from the start of the file.")
    ] = None,
    tail: Annotated[
        bool, typer.Option("--tail", help="Also judge each attempt with a claim of success added at its end.")
    ] = False,
) -> None:
    """Measure how often a judge is right on attempts with known answers; missing attempts are made first."""
    from reasoningbank_langgraph.judges import LLMJudge, SelfConsistencyJudge
    from reasoningbank_langgraph.judges.audit import Confusion, audit, with_claim

    with named_errors():
        problems = _read_answered_problems(file, limit)
        with loaded_model(model) as resolved:
            attempts = [_attempt(problem, resolved.chat) for problem in track(problems, "attempts", console=console)]
            judge_attempt = (LLMJudge if judge == "llm" else SelfConsistencyJudge)(resolved.chat, time_limit=TIME_LIMIT)
            plain = list(track(audit(judge_attempt, attempts), "judging", len(attempts), console=console))
            _print_confusion(f"{judge} judge", Confusion.of(plain))
            if tail:
                claiming = audit(judge_attempt, [with_claim(entry.attempt) for entry in plain])
                claimed = list(track(claiming, "judging with the claim", len(plain), console=console))
                _print_confusion(f"{judge} judge, attempts that claim success", Confusion.of(claimed))


def _read_answered_problems(file: Path, limit: int | None) -> list[Problem]:
    problems = read_problems(file, limit)
    for number, problem in enumerate(problems, 1):
        if problem.answer is None:
            raise ProblemFileError(file, number, "needs an 'answer': judges are audited against known answers")
    return problems


def _attempt(problem: Problem, chat: BaseChatModel) -> Attempt:
    """Return the attempt of the file, or make one with the model."""
    from reasoningbank_langgraph.math_solver import solve_step
    from reasoningbank_langgraph.records import Attempt

    reply = problem.attempt
    if reply is None:
        try:
            solved: dict[str, Any] = solve_step(chat, 700).invoke({"task": problem.text})
        except Exception as error:
            raise ModelCallError(f"attempt at {problem.id}", error) from error
        reply = str(solved["answer"])
    messages = [("user", problem.text), ("assistant", reply)]
    return Attempt(task=problem.text, task_id=problem.id, messages=messages, answer=reply, reference=problem.answer)


def _print_confusion(title: str, confusion: Confusion) -> None:
    table = Table(title=title, title_justify="left")
    for heading in ("attempt", "said success", "said failure", "undecided"):
        table.add_column(heading, justify="left" if heading == "attempt" else "right")
    table.add_row("right", f"{confusion.tp} (TP)", f"{confusion.fn} (FN)", str(confusion.undecided_right))
    table.add_row("wrong", f"{confusion.fp} (FP)", f"{confusion.tn} (TN)", str(confusion.undecided_wrong))
    console.print(table)
    console.print(f"right verdicts   {confusion.accuracy}")
    console.print(f"false successes  {confusion.false_success}")
    console.print(f"missed successes {confusion.missed_success}")
