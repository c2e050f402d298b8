"""What a person sees while an experiment runs: one line an arm, with what is left and what it cost so far."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.results import Row


class Progress:
    """A table that follows the rows.

    Args:
        console: where it is drawn.
        config: prices of tokens.
        expected: rows to come in all, by arm.
        there: rows of an earlier run.
    """

    def __init__(
        self, console: Console, config: ExperimentConfig, expected: dict[str, int], there: Sequence[Row]
    ) -> None:
        self.config, self.expected, self.rows = config, expected, {row.key: row for row in there}
        self._fresh = 0
        self._started = time.monotonic()
        self._live = Live(console=console, get_renderable=self.table, refresh_per_second=2)

    def note(self, row: Row) -> None:
        """Count a row."""
        self.rows[row.key] = row
        self._fresh += 1

    def table(self) -> Table:
        """Return the table as it stands."""
        table = Table(title=f"{self.config.protocol}: {self._left()}", title_justify="left")
        for heading in ("arm", "done", "right", "accuracy", "tokens", "cost", "s/problem", "failed"):
            table.add_column(heading, justify="left" if heading == "arm" else "right")
        for arm, expected in self.expected.items():
            table.add_row(arm, *_cells([row for row in self.rows.values() if row.arm == arm], expected, self.config))
        return table

    def _left(self) -> str:
        total = sum(self.expected.values())
        left = total - sum(row.error is None for row in self.rows.values())
        if not left:
            return "done"
        if not self._fresh:
            return f"{left} of {total} to go"
        seconds = (time.monotonic() - self._started) / self._fresh * left
        return f"{left} of {total} to go, about {_span(seconds)}"

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()


def _cells(rows: Sequence[Row], expected: int, config: ExperimentConfig) -> list[str]:
    done = [row for row in rows if row.error is None]
    right = sum(row.right for row in done)
    spent_in, spent_out = (sum(getattr(row, name) for row in rows) for name in ("tokens_in", "tokens_out"))
    cost = (spent_in * config.price_in + spent_out * config.price_out) / 1e6
    seconds = sum(row.seconds for row in done)
    return [
        f"{len(done)}/{expected}",
        str(right),
        f"{right / len(done):.3f}" if done else "",
        f"{spent_in + spent_out:,}",
        f"{cost:.2f}" if cost else "",
        f"{seconds / len(done):.1f}" if done else "",
        str(len(rows) - len(done)),
    ]


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{max(minutes, 1)} min"
