"""What `reasoningbank solve` prints: a paragraph for each problem and a table at the end."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rich.table import Table
from rich.text import Text

from reasoningbank_langgraph.bank import MemoryBank, Totals
from reasoningbank_langgraph.cli.terminal import console
from reasoningbank_langgraph.math_answers import extract_answer
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.text import clean_line

DONE_BEFORE = "already done"
PARTS = ("retrieve", "solve", "judge", "extract", "write")
_EVENTS = {"retrieved": "retrieve", "judged": "judge", "extracted": "extract", "consolidated": "write"}
_STYLES = {"success": "green", "failure": "red", "indeterminate": "yellow"}


class PartSeconds:
    """The seconds that a problem took, by part; the time between retrieval and judging is the solver's."""

    def __init__(self, parts: dict[str, float]) -> None:
        self.parts = parts
        self._last = time.perf_counter()

    def note(self, event: dict[str, Any], at: float) -> None:
        """Take in one event of the graph, which arrived at this time."""
        part, took = _EVENTS[event["event"]], event["ms"] / 1000
        if part == "judge":
            self.parts["solve"] = max(0.0, at - self._last - took)
        self.parts[part] = took
        self._last = at


class SolveOutcome(NamedTuple):
    """How one problem went."""

    values: dict[str, Any]
    """The graph's channels at the end."""
    seconds: PartSeconds
    resumed: str = ""
    error: str = ""

    @property
    def verdict(self) -> dict[str, Any]:
        """The fields of the verdict; empty where there is none."""
        return self.values.get("verdict") or {}


@dataclass
class SolveReport:
    """Prints problems as they are done, and keeps count."""

    bank: MemoryBank
    thread: str
    path: str
    known: int
    outcomes: list[tuple[Problem, SolveOutcome]] = field(default_factory=list)
    stopped: bool = False

    @property
    def exit_code(self) -> int:
        """0 when all problems were worked on, 1 when one failed with an error, 130 after Ctrl-C."""
        if self.stopped:
            return 130
        return 1 if any(outcome.error for _, outcome in self.outcomes) else 0

    def opening(self, model: str) -> None:
        """Say which model works and what the bank holds already."""
        self._line("model", model)
        holds = self._holds()
        self._line("bank", f"{self.path}: {holds} from earlier runs" if holds else f"{self.path}: empty")
        self._line("run", f"{self.thread} (resume it with --thread {self.thread})")
        console.print()

    def add(self, number: int, problem: Problem, outcome: SolveOutcome) -> None:
        """Show one problem: what was recalled and why, the answer, the verdict and why, what was learned."""
        self.outcomes.append((problem, outcome))
        note = f" ({outcome.resumed})" if outcome.resumed else ""
        console.print(Text(f"[{number}/{self.known}] {problem.id}{note}  ", "bold") + Text(shorten(problem.text, 90)))
        self._recalled(outcome)
        self._answered(problem, outcome)
        self._judged(outcome)
        self._learned(outcome)
        if outcome.seconds.parts:
            took = outcome.seconds.parts
            self._line("seconds", "  ".join(f"{part} {took[part]:.2f}" for part in PARTS if part in took), "dim")
        if outcome.error:
            self._line("error", outcome.error, "red")
        console.print()

    def interrupted(self, command: list[str]) -> None:
        """Say that the bank is intact and how to resume."""
        self.stopped = True
        again = shlex.join(command if "--thread" in command else [*command, "--thread", self.thread])
        console.print(Text("stopped; the bank is intact, resume with", "yellow"))
        console.print(Text(f"  {again.replace(command[0], 'reasoningbank', 1)}", "yellow"))

    def closing(self) -> None:
        """Show the totals of the run and of the bank."""
        table = Table(title=f"{len(self.outcomes)} of {self.known} problems", title_justify="left", show_header=False)
        for name, value in self._totals():
            table.add_row(name, value)
        console.print(table)

    def _totals(self) -> list[tuple[str, str]]:
        outcomes = [outcome for _, outcome in self.outcomes]
        verdicts = Counter(str(outcome.verdict.get("status") or "none") for outcome in outcomes)
        checked = [outcome for outcome in outcomes if outcome.verdict.get("judge") == "reference"]
        right = sum(outcome.verdict["status"] == "success" for outcome in checked)
        recalled = sum(bool(what_was_shown(outcome.values)) for outcome in outcomes)
        own = sum(
            any(source["task_id"] == problem.id for _, source, _ in what_was_shown(outcome.values))
            for problem, outcome in self.outcomes
        )
        return [
            ("right answers", f"{right} of {len(checked)} with a reference" if checked else "no reference given"),
            ("verdicts", ", ".join(f"{count} {status}" for status, count in verdicts.items()) + _by_a_model(outcomes)),
            (
                "unreadable replies",
                f"judge {_unreadable(outcomes, 'verdict')}, extractor {_unreadable(outcomes, 'extraction')}",
            ),
            *_reply_format(outcomes),
            ("recalled", f"for {plural(recalled, 'problem')}; of the problem itself: {own}"),
            ("seconds per problem", self._mean_seconds(outcomes)),
            ("bank now", self._holds() or "empty"),
        ]

    def _holds(self) -> str:
        """Return what the bank holds: its lessons, where there are none its attempts, and "" for nothing."""
        totals = self.bank.totals()
        if totals.items:
            return describe_totals(totals)
        episodes = self.bank.episodes()
        solved = sum(episode.outcome == "success" for episode in episodes)
        return f"{plural(solved, 'solved problem')} of {plural(len(episodes), 'attempt')}" if episodes else ""

    def _mean_seconds(self, outcomes: list[SolveOutcome]) -> str:
        timed = [outcome.seconds.parts for outcome in outcomes if outcome.seconds.parts]
        means = ((part, [parts[part] for parts in timed if part in parts]) for part in PARTS)
        return ", ".join(f"{part} {sum(values) / len(values):.2f}" for part, values in means if values) or "none"

    def _recalled(self, outcome: SolveOutcome) -> None:
        shown = what_was_shown(outcome.values)
        for name, source, why in shown:
            self._line("recalled", f"{shorten(name, 70)} (from a {source['outcome']}; {why})", "cyan")
        if not shown:
            self._line("recalled", "nothing", "dim")

    def _answered(self, problem: Problem, outcome: SolveOutcome) -> None:
        reply = outcome.values.get("answer")
        if reply is None:
            return
        found = extract_answer(reply)
        shown = shorten(reply, 60) + f" ({found.reason})" if found.text is None else shorten(found.text, 60)
        expected = "" if problem.answer is None else f" (expected {shorten(problem.answer, 60)})"
        self._line("answer", shown + expected)

    def _judged(self, outcome: SolveOutcome) -> None:
        verdict = outcome.verdict
        if verdict:
            status, why = verdict["status"], shorten(verdict["rationale"] or verdict["reason"] or "", 140)
            self._line("verdict", f"{status} ({verdict['judge']}): {why}", _STYLES[status])

    def _learned(self, outcome: SolveOutcome) -> None:
        lessons = outcome.values.get("lessons") or []
        for lesson in lessons:
            self._line("learned", f"{shorten(lesson['title'], 70)}: {shorten(lesson['content'], 140)}", "magenta")
        report = outcome.values.get("extraction") or {}
        if not lessons and report.get("reason"):
            self._line("learned", f"nothing ({_why_nothing(report)})", "dim")

    def _line(self, name: str, value: str, style: str = "") -> None:
        console.print(Text(f"  {name:<9} ", "dim") + Text(value, style))


def shorten(text: str, length: int) -> str:
    """Return one clean line of at most this length: text of models and files must not control the terminal."""
    line = " ".join(clean_line(text).split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _why_nothing(report: dict[str, Any]) -> str:
    if report["reason"] == "error":
        return shorten(report["raw"] or "", 140)
    left_out = ", ".join(f"{count} {why.replace('_', ' ')}" for why, count in report["dropped"].items())
    return f"{report['reason']}: {left_out}" if left_out else str(report["reason"])


def describe_totals(totals: Totals) -> str:
    """Return what a bank holds, in words."""
    split = ", ".join(f"{count} from {name}" for name, count in totals._asdict().items() if name in _STYLES and count)
    lessons, attempts = plural(totals.items, "lesson"), plural(totals.experiences, "attempt")
    return f"{lessons} of {attempts}" + (f" ({split})" if split else "")


def plural(number: int, name: str) -> str:
    """Return a number with its noun, as in `1 lesson` and `2 lessons`."""
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def _reply_format(outcomes: list[SolveOutcome]) -> list[tuple[str, str]]:
    """Return a row with the reply format asked of the extracting model and those refused, if it was called."""
    reports = [outcome.values.get("extraction") or {} for outcome in outcomes if outcome.resumed != DONE_BEFORE]
    prompted = [report for report in reports if report.get("asked")]
    if not prompted:
        return []
    refused = ", ".join(prompted[-1]["fallbacks"])
    return [("reply format", prompted[-1]["asked"] + (f" (refused: {refused})" if refused else ""))]


def what_was_shown(values: Mapping[str, Any]) -> list[tuple[str, dict[str, Any], str]]:
    """Return name, record and reason of each lesson and example in the channels of a graph."""
    lessons, examples = (values.get(name) or [] for name in ("memories", "memory_examples"))
    return [
        *((lesson["item"]["title"], lesson["item"], lesson["why"]) for lesson in lessons),
        *((example["episode"]["task"], example["episode"], example["why"]) for example in examples),
    ]


def _by_a_model(outcomes: list[SolveOutcome]) -> str:
    """Return a remark on the verdicts that are a model's opinion, "" where there are none."""
    count = sum(outcome.verdict.get("judge") == "llm" for outcome in outcomes)
    return f" ({count} by the model: it may be wrong, a file with answers is better)" if count else ""


def _unreadable(outcomes: list[SolveOutcome], channel: str) -> int:
    reasons = [(outcome.values.get(channel) or {}).get("reason") for outcome in outcomes]
    return sum(reason in ("unparsed", "truncated", "empty") for reason in reasons)
