"""What a person sees while an experiment runs: one line an arm, with what is left and what it cost so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.results import ResultRow


@dataclass
class Tally:
    """What the rows of one arm add up to."""

    done: int = 0
    right: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    def count(self, row: ResultRow, times: int = 1) -> None:
        """Add a row, or with -1 take it away."""
        self.done += times * (row.error is None)
        self.right += times * row.right
        self.failed += times * (row.error is not None)
        self.tokens_in += times * row.tokens_in
        self.tokens_out += times * row.tokens_out
        self.seconds += times * row.seconds


class Progress:
    """A table that follows the rows. Rows may be noted from several threads.

    Args:
        console: where it is drawn.
        config: prices of tokens.
        expected: rows to come in all, by arm.
        earlier_rows: rows of an earlier run.
    """

    def __init__(
        self, console: Console, config: ExperimentConfig, expected: dict[str, int], earlier_rows: Sequence[ResultRow]
    ) -> None:
        self.config, self.expected = config, expected
        self.arms = {arm: Tally() for arm in expected}
        self._failed: dict[tuple[str, int, str], ResultRow] = {}
        self._new_rows, self._lock = 0, threading.Lock()
        for row in earlier_rows:
            self.note(row)
        self._new_rows, self._started = 0, time.monotonic()
        self._live = Live(console=console, get_renderable=self.table, refresh_per_second=2)

    def note(self, row: ResultRow) -> None:
        """Count a row, in place of one that had failed."""
        with self._lock:
            self._new_rows += 1
            tally = self.arms.setdefault(row.arm, Tally())
            if (before := self._failed.pop(row.key, None)) is not None:
                tally.count(before, -1)
            if row.error is not None:
                self._failed[row.key] = row
            tally.count(row)

    def table(self) -> Table:
        """Return the table as it stands."""
        table = Table(title=f"{self.config.protocol}: {self._remaining()}", title_justify="left")
        for heading in ("arm", "done", "right", "accuracy", "tokens", "cost", "s/problem", "failed"):
            table.add_column(heading, justify="left" if heading == "arm" else "right")
        for arm, expected in self.expected.items():
            table.add_row(arm, *_cells(self.arms[arm], expected, self.config))
        return table

    def _remaining(self) -> str:
        total = sum(self.expected.values())
        remaining = total - sum(self.arms[arm].done for arm in self.expected)
        if not remaining:
            return "done"
        if not self._new_rows:
            return f"{remaining} of {total} to go"
        seconds = (time.monotonic() - self._started) / self._new_rows * remaining
        return f"{remaining} of {total} to go, about {_span(seconds)}"

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()
        if not self._live.console.is_terminal:  # rich ends the line on a terminal only
            self._live.console.line()


def _cells(tally: Tally, expected: int, config: ExperimentConfig) -> list[str]:
    cost = config.cost(tally.tokens_in, tally.tokens_out)
    return [
        f"{tally.done}/{expected}",
        str(tally.right),
        f"{tally.right / tally.done:.3f}" if tally.done else "",
        f"{tally.tokens_in + tally.tokens_out:,}",
        f"{cost:.2f}" if cost else "",
        f"{tally.seconds / tally.done:.1f}" if tally.done else "",
        str(tally.failed),
    ]


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{max(minutes, 1)} min"
