"""What `reasoningbank demo` prints: a line for each problem, a progress bar and a summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.solve_report import plural, shorten, what_was_shown
from reasoningbank_langgraph.cli.terminal import console
from reasoningbank_langgraph.experiments.stats import mcnemar_p, mean_difference
from reasoningbank_langgraph.experiments.wording import points_interval
from reasoningbank_langgraph.math_answers import equivalent, extract_answer
from reasoningbank_langgraph.math_solver.problems import Problem

_WIDE = 150
"""Columns where the output is not a terminal."""


class DemoResult(NamedTuple):
    """One problem solved once."""

    problem: Problem
    answer: str
    """The final answer, or the reply where none was found."""
    marked: bool
    """Whether a final answer was found."""
    right: bool
    recalled: str
    """The lesson or the solved problem that was shown, empty where there was none."""
    learned: str
    """The title of the lesson, empty where there is none."""

    @classmethod
    def of(cls, problem: Problem, values: Mapping[str, Any]) -> DemoResult:
        """Read the result from the channels of a graph."""
        found = extract_answer(values["answer"]).text
        right = found is not None and equivalent(problem.answer or "", found)
        recalled = [name for name, *_ in what_was_shown(values)]
        learned = [lesson["title"] for lesson in values.get("lessons") or []]
        marked = found is not None
        return cls(problem, found or values["answer"], marked, right, "".join(recalled[:1]), "".join(learned[:1]))

    def as_text(self) -> Text:
        """Return the answer, with the right one beside a wrong one."""
        wrong = f" (not {self.problem.answer})" if self.marked else r" (no \boxed{} answer)"
        return Text(f"{shorten(self.answer, 12)}{' right' if self.right else wrong}", "green" if self.right else "red")


class DemoReport:
    """Prints results as they come in and keeps them for the summary."""

    def __init__(self, bank: MemoryBank, path: str) -> None:
        self.bank, self.path = bank, path
        self.learned_on: list[DemoResult] = []
        self.pairs: list[tuple[DemoResult, DemoResult]] = []
        self.seconds: list[float] = []
        """How long each pass took."""

    def opening(self, model: str) -> None:
        """Say which model works and what the bank holds already."""
        console.print(Text("model  ", "dim") + Text(model))
        earlier = self.bank.items() or self.bank.episodes()  # older versions kept no episodes
        found = f"{self._contents()} from earlier runs" if earlier else "empty"
        console.print(Text("bank   ", "dim") + Text(f"{self.path}: {found}"))

    def first_pass(self, count: int, results: Iterable[DemoResult]) -> None:
        """Show the problems learned from, and the bank as it grows."""
        console.print(
            Text(f"\nFirst pass: {count} problems, each judged against its known answer and learned from", "bold")
        )
        with self._timed_bar(count) as (bar, task):
            for result in results:
                self.learned_on.append(result)
                right = sum(one.right for one in self.learned_on)
                kept = result.learned or ("its solution" if result.right else "")
                bar.console.print(self._line(result.problem, result.as_text(), "learned", kept))
                bar.update(task, advance=1, description=f"right {right}, in the bank: {self._contents()}")

    def second_pass(self, count: int, pairs: Iterable[tuple[DemoResult, DemoResult]]) -> None:
        """Show new problems, each solved without the bank and with it."""
        console.print(
            Text(f"\nSecond pass: {count} new problems of the same kinds, without the bank and with it", "bold")
        )
        with self._timed_bar(count) as (bar, task):
            for without, with_bank in pairs:
                self.pairs.append((without, with_bank))
                both = Text("without ") + without.as_text() + "  with " + with_bank.as_text()
                bar.console.print(self._line(without.problem, both, "recalled", with_bank.recalled))
                alone, helped = self._right()
                bar.update(task, advance=1, description=f"right {alone} without, {helped} with")

    def closing(self, local: bool) -> None:
        """Say what was learned and recalled and whether it helped, claiming no more than the numbers show."""
        right = sum(result.right for result in self.learned_on)
        console.print(Text("\nSummary", "bold"))
        console.print(f"  solved    {right} of {len(self.learned_on)} in the first pass")
        console.print(f"  bank      {self._contents()}: the next run starts from it")
        for title in self._titles():
            console.print(Text(f"  learned   {shorten(title, 90)}", "magenta"))
        shown = {with_bank.recalled for _, with_bank in self.pairs if with_bank.recalled}
        count = sum(bool(with_bank.recalled) for _, with_bank in self.pairs)
        recalled = f"for {count} of {len(self.pairs)} new problems, {len(shown)} different lessons or solved problems"
        console.print(f"  recalled  {recalled}")
        learning, comparing = self.seconds
        console.print(f"  time      {learning:.0f} s for the first pass, {comparing:.0f} s for the second")
        console.print(Text("  helped?   ") + Text(self.conclusion(), "bold"))
        if local:
            console.print(
                "  next      for a better model: reasoningbank model pull Qwen3-1.7B, then --model Qwen3-1.7B"
            )

    def _contents(self) -> str:
        """Return what the bank holds, in words."""
        solved = sum(episode.outcome == "success" for episode in self.bank.episodes())
        return f"{plural(solved, 'solved problem')}, {plural(self.bank.totals().items, 'lesson')}"

    def _titles(self) -> list[str]:
        """Up to three lessons of this run, the right attempts' first, each once."""
        ordered = sorted(self.learned_on, key=lambda result: not result.right)
        return list(dict.fromkeys(result.learned for result in ordered if result.learned))[:3]

    def conclusion(self) -> str:
        """Return whether the bank helped, as far as the pairs show it."""
        alone, helped = self._right()
        before = [without for without, with_bank in self.pairs if with_bank.right and not without.right]
        fixed, unmarked = len(before), sum(not without.marked for without in before)
        broken = sum(without.right and not with_bank.right for without, with_bank in self.pairs)
        p, count = mcnemar_p(fixed, broken), len(self.pairs)
        found = mean_difference([1.0] * fixed + [-1.0] * broken + [0.0] * (count - fixed - broken))
        figures = f"{alone} of {count} right without the bank, {helped} with it: {fixed} fixed"
        figures += rf" ({unmarked} had had no \boxed{{}} answer)" if unmarked else ""
        if p > 0.05:
            meaning = f"With {count} problems no difference is shown" + (
                f": {points_interval(found)} (95 % interval)." if found else "."
            )
        else:
            meaning = "It helped." if fixed > broken else "It did harm."
            meaning += " This is one run of few problems: run it again."
        return f"{figures}, {broken} broken, exact McNemar p {p:.2f}. {meaning}"

    def _right(self) -> tuple[int, int]:
        return sum(without.right for without, _ in self.pairs), sum(with_bank.right for _, with_bank in self.pairs)

    @contextmanager
    def _timed_bar(self, count: int) -> Iterator[tuple[Progress, TaskID]]:
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        began = perf_counter()
        with Progress(*columns, console=console) as bar:
            yield bar, bar.add_task("working", total=count)
        self.seconds.append(perf_counter() - began)

    def _line(self, problem: Problem, result: Text, name: str, found: str) -> Text:
        width = console.width if console.is_terminal else _WIDE
        room = min(60, max(22, width - 66))
        line = Text("  ") + Text(shorten(problem.text, room).ljust(room + 2)) + result
        line += Text(f"  {name}: {shorten(found, 40)}" if found else f"  nothing {name}", "dim")
        line.truncate(width, overflow="ellipsis")
        return line
