"""Was every attempt learned exactly once? The bank, compared with the lessons that stand in the checkpoints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from work import Place

from reasoningbank_langgraph import MemoryBank, MemoryItem
from reasoningbank_langgraph.math_solver.problems import Problem

Words = tuple[str, str, str]


@dataclass(frozen=True)
class Report:
    """What a fleet did."""

    tasks: int
    finished: int
    killed: int
    resumed: int
    learned: int
    """Attempts of which lessons stand in the checkpoints."""
    lessons: int
    missing: int
    """Lessons of the checkpoints that the bank has not, or has with other words."""
    duplicates: int
    """Items and attempts that the bank has more often than the checkpoints say."""

    @property
    def sound(self) -> bool:
        """Whether all tasks were finished and each attempt was learned exactly once."""
        return self.finished == self.tasks and self.missing == 0 and self.duplicates == 0

    def lines(self) -> list[str]:
        """Return the report for the reader."""
        end = "every attempt was learned exactly once" if self.sound else "NOT every attempt was learned exactly once"
        return [
            f"tasks       {self.tasks}, finished {self.finished}",
            f"workers     {self.killed} killed, {self.resumed} tasks taken over",
            f"attempts    {self.learned} learned, {self.lessons} lessons",
            f"duplicates  {self.duplicates}",
            f"missing     {self.missing}",
            end,
        ]


def make_report(
    app: Any, bank: MemoryBank, place: Place, problems: Sequence[Problem], *, killed: int, resumed: int
) -> Report:
    """Compare the bank with the checkpoints of all tasks."""
    states = [app.get_state(place.thread(problem)) for problem in problems]
    lessons_by_thread = [state.values.get("lessons") or [] for state in states]
    items = bank.items()
    expected = {lesson["id"]: _words(lesson) for lessons in lessons_by_thread for lesson in lessons}
    return Report(
        tasks=len(problems),
        finished=sum(bool(state.values) and not state.tasks for state in states),
        killed=killed,
        resumed=resumed,
        learned=sum(bool(lessons) for lessons in lessons_by_thread),
        lessons=len(expected),
        missing=len(expected.items() - {item.id: _words(item.to_json()) for item in items}.items()),
        duplicates=len({item.id for item in items} - expected.keys()) + _learned_again(items),
    )


def _learned_again(items: Sequence[MemoryItem]) -> int:
    """Count the experiences that another one of the same thread, or of the same attempt, makes superfluous."""
    attempts = {(item.experience_id, item.provenance.thread_id, item.provenance.attempt_digest) for item in items}
    threads = Counter(thread for _, thread, _ in attempts)
    digests = Counter(digest for _, _, digest in attempts)
    return max(threads.total() - len(threads), digests.total() - len(digests))


def _words(lesson: Mapping[str, Any]) -> Words:
    return lesson["title"], lesson["description"], lesson["content"]
