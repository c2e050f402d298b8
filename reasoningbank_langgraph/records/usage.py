"""What a step cost in calls, tokens and embedded texts, and adding it up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SOLVE = "solve"
"""The part of the solver; all other steps are memory's own."""
Usage = Mapping[str, Mapping[str, int]]
"""By step: counts, as `BankStats.usage` says."""


def add_counts(totals: dict[str, int], more: Mapping[str, Any]) -> None:
    """Add the counts of one call; values that are not counts, such as details by kind, are ignored."""
    for name, count in more.items():
        if isinstance(count, int):
            totals[name] = totals.get(name, 0) + count


def all_tokens(usage: Usage) -> dict[str, int]:
    """Return the tokens of all steps: `input_tokens, output_tokens, total_tokens`."""
    totals: dict[str, int] = {}
    for counts in usage.values():
        add_counts(totals, {name: count for name, count in counts.items() if name.endswith("_tokens")})
    return totals


def total_usage(*several: Usage | None) -> dict[str, dict[str, int]]:
    """Return the sum of several, by step; steps that used nothing are left out."""
    totals: dict[str, dict[str, int]] = {}
    for usage in several:
        for step, counts in (usage or {}).items():
            add_counts(totals.setdefault(step, {}), counts)
    return {step: counts for step, counts in totals.items() if counts}
