"""How much several attempts at a problem bring: accuracy, tokens, seconds and lessons for k = 1, 3, 5 in both modes.

    python examples/matts/compare.py --problems FILE.jsonl --limit 30 --out matts-run

Each arm works through the same problems in the same order, from an empty bank of its own, and learns as it goes. The
answer is selected without a look at the reference, which judges the attempts that are learned from. A run that was
stopped goes on where it was when the same command is given again.

A line of the problem file has `problem` and `answer`. The model is the one named, else that of OPENAI_BASE_URL, else
of OPENAI_API_KEY, else the packaged one. The paired test needs the extra `experiments`.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.callbacks import get_usage_metadata_callback
from langgraph.checkpoint.sqlite import SqliteSaver
from rich.console import Console
from rich.table import Table

from reasoningbank_langgraph import ChromaStore, Scaling
from reasoningbank_langgraph.experiments.stats import ALPHA, Paired, detectable, holm, mcnemar_p, mean_difference, pair
from reasoningbank_langgraph.experiments.wording import points_interval
from reasoningbank_langgraph.local import start_local_model
from reasoningbank_langgraph.local.model_choice import resolve_model
from reasoningbank_langgraph.math_solver import create_math_solver
from reasoningbank_langgraph.math_solver.problems import Problem, read_problems

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

ResultRow = dict[str, Any]


class Arm(NamedTuple):
    """One way to spend attempts."""

    mode: str
    k: int

    @property
    def name(self) -> str:
        """Name of its folder and its rows."""
        return f"{self.mode}-{self.k}"

    @property
    def scaling(self) -> Scaling:
        """Its settings: the majority selects, so that the reference has no say in the answer."""
        return Scaling(k=self.k, mode="sequential" if self.mode == "sequential" else "parallel", select="majority")


def arms(ks: list[int]) -> list[Arm]:
    """Return the arms, cheapest first; with one attempt there is no difference between the modes."""
    return [Arm(mode, k) for k in sorted(set(ks)) for mode in (("parallel", "sequential") if k > 1 else ("parallel",))]


def run_arm(arm: Arm, chat: BaseChatModel, problems: list[Problem], out: Path, max_tokens: int) -> Iterator[ResultRow]:
    """Solve the problems that have no row yet; yield one row each."""
    folder = out / arm.name
    folder.mkdir(parents=True, exist_ok=True)
    done = {row["id"] for row in read_rows(out) if row["arm"] == arm.name}
    builder = create_math_solver(chat, scaling=arm.scaling, max_tokens=max_tokens)
    threads = sqlite3.connect(folder / "threads.sqlite", check_same_thread=False)
    with closing(threads), ChromaStore.from_path(folder / "bank") as store:
        app = builder.compile(checkpointer=SqliteSaver(threads), store=store)
        for problem in problems:
            if problem.id not in done:
                yield {"arm": arm.name, **arm._asdict(), "id": problem.id, **solve(app, problem)}


def solve(app: Any, problem: Problem) -> ResultRow:
    """Solve one problem, or go on with it where an earlier run was stopped."""
    thread = {"configurable": {"thread_id": problem.id}}
    started = bool(app.get_state(thread).tasks)  # `next` is empty when a step is done and not yet in a checkpoint
    task = {"task": problem.text, "task_id": problem.id, "reference": problem.answer}
    start = time.perf_counter()
    with get_usage_metadata_callback() as usage:
        state = app.invoke(None if started else task, thread, durability="sync")
    seconds = time.perf_counter() - start
    selection, scores = state["selection"], state["selection"]["scores"]
    return {
        "right": scores["best_of_k"],
        **{name: scores[name] for name in ("pass_at_1", "pass_at_k", "majority_at_k")},
        "by": selection["by"],
        "tokens": sum(used["total_tokens"] for used in usage.usage_metadata.values()),
        "seconds": round(seconds, 2),
        "lessons": len(state["lessons"]),
        "shown": len(state["memories"]),
        "failed": selection["rollouts"]["failed"],
        "checks": sum(rollout["checks"] for rollout in state["rollouts"]),
        "resumed": started,
    }


def read_rows(out: Path) -> list[ResultRow]:
    """Return the rows of all arms so far."""
    path = out / "results.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def by_arm(rows: list[ResultRow]) -> dict[str, list[ResultRow]]:
    """Return the rows of each arm, in the order the arms ran."""
    return {name: [row for row in rows if row["arm"] == name] for name in dict.fromkeys(row["arm"] for row in rows)}


def cost(of_arm: list[ResultRow]) -> list[str]:
    """Return what an arm got right and what it took, as cells."""
    shares = [sum(row[key] for row in of_arm) / len(of_arm) for key in _SHARES]
    totals = [sum(row[key] for row in of_arm) for key in ("tokens", "seconds", "lessons")]
    right = f"{sum(row['right'] for row in of_arm)}/{len(of_arm)}"
    return [right, *(f"{share:.3f}" for share in shares), *(f"{total:,.0f}" for total in totals)]


def against_one(arms: dict[str, list[ResultRow]]) -> dict[str, list[str]]:
    """Return how each arm differs from one attempt on the same problems, as cells.

    Problems only the arm solved, problems only one attempt solved, the difference in points with its 95 % interval
    (Agresti and Min), the exact McNemar p, adjusted for the number of arms (Holm), and the smallest true difference, in
    points, that these problems would have shown in 4 of 5 such runs.
    """
    outcomes = {name: {(0, row["id"]): row["right"] for row in of_arm} for name, of_arm in arms.items()}
    one = outcomes.pop(_ONE, {})
    pairs = {name: pair(one, outcome) for name, outcome in outcomes.items() if one.keys() & outcome.keys()}
    adjusted = holm([mcnemar_p(paired.better, paired.worse) for paired in pairs.values()])
    return {
        name: [str(paired.better), str(paired.worse), _points(paired), f"{p:.3f}", _least(paired, len(pairs))]
        for (name, paired), p in zip(pairs.items(), adjusted, strict=True)
    }


def _points(paired: Paired) -> str:
    difference = mean_difference(list(paired.differences.values()))
    return points_interval(difference).replace(" points", "") if difference else ""


def _least(paired: Paired, tests: int) -> str:
    least = detectable(list(paired.differences.values()), ALPHA / tests)
    return "none" if least is None else f"{ceil(least * 100)}"


def table(title: str, headings: tuple[str, ...], lines: dict[str, list[str]]) -> Table:
    """Return a table with one line an arm."""
    grid = Table(title=title)
    for heading in ("arm", *headings):
        grid.add_column(heading, justify="left" if heading == "arm" else "right")
    for name, cells in lines.items():
        grid.add_row(name, *cells)
    return grid


_ONE = "parallel-1"
_COST = ("solved", "accuracy", "pass@1", "pass@k", "majority@k", "tokens", "seconds", "lessons")
_DIFFERENCE = ("fixed", "broken", "points [95 %]", "p", "could show")
_SHARES = ("right", "pass_at_1", "pass_at_k", "majority_at_k")


@contextmanager
def the_model(name: str | None, threads: int | None) -> Iterator[BaseChatModel]:
    """Yield the chat model; with `threads`, a GGUF file or the packaged model on that many CPU threads."""
    if threads:
        with start_local_model(name, threads=threads) as server:
            yield server.chat_model(temperature=0)
    else:
        with resolve_model(name, temperature=0) as resolved:
            print(resolved.description)
            yield resolved.chat


def main() -> None:
    """Run the arms and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--problems", type=Path, default=Path("examples/math_solver/problems.jsonl"))
    parser.add_argument("--limit", type=int, default=30, help="problems to solve")
    parser.add_argument("--k", type=int, nargs="+", default=[1, 3, 5], help="attempts")
    parser.add_argument("--model", help="a GGUF file, a pulled model, NAME on the server at OPENAI_BASE_URL, ...")
    parser.add_argument("--threads", type=int, help="CPU threads of a model on this machine")
    parser.add_argument("--max-tokens", type=int, default=300, help="cap on one solution")
    parser.add_argument("--out", type=Path, default=Path("matts-run"), help="folder of rows, threads and banks")
    options = parser.parse_args()
    problems = read_problems(options.problems, options.limit)
    options.out.mkdir(parents=True, exist_ok=True)
    with the_model(options.model, options.threads) as chat, (options.out / "results.jsonl").open("a") as results:
        for arm in arms(options.k):
            for row in run_arm(arm, chat, problems, options.out, options.max_tokens):
                results.write(json.dumps(row) + "\n")
                results.flush()
                print(json.dumps(row))
    solved, console = by_arm(read_rows(options.out)), Console(width=100)
    console.print(table("accuracy and cost by attempts", _COST, {name: cost(rows) for name, rows in solved.items()}))
    console.print(table("against one attempt", _DIFFERENCE, against_one(solved)))


if __name__ == "__main__":
    main()
