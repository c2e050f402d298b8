"""The problems on which two arms differ, to be read one by one: what was asked, shown and answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reasoningbank_langgraph.experiments.report.html_parts import block, folded, safe
from reasoningbank_langgraph.experiments.report.wording import main_comparison
from reasoningbank_langgraph.experiments.results import Row
from reasoningbank_langgraph.experiments.summary import Comparison, RowId

MOST, FEW = 120, 12
"""Entries of the main comparison, and of each other one: the page stays small however long the run was."""
Rows = Mapping[tuple[str, int, str], Row]
"""By arm, seed and problem."""
_FILTER = """<nav class="filter" aria-label="Filter" hidden>
<a href="#all">all differences</a><a href="#fixed">fixed</a><a href="#broken">broken</a>
<output></output></nav>"""


def differences(comparisons: Sequence[Comparison], rows: Rows) -> str:
    """Return the browser: comparisons that can be opened, the main one open, each with its differences."""
    main = main_comparison(comparisons)
    others = [found for found in comparisons if found is not main]
    found = [_comparison(main, rows, MOST, opened=True)] if main else []
    return _FILTER + "".join([*found, *(_comparison(other, rows, FEW, opened=False) for other in others)])


def _comparison(found: Comparison, rows: Rows, most: int, *, opened: bool) -> str:
    broken = found.broken[: max(most // 2, most - len(found.fixed))]
    fixed = found.fixed[: most - len(broken)]
    entries = [_entry(found, name, rows, "broken") for name in broken]
    entries += [_entry(found, name, rows, "fixed") for name in fixed]
    every = len(found.fixed) + len(found.broken)
    label = (
        f"<b>{safe(found.arm)}</b> against <b>{safe(found.against)}</b>: "
        f"{len(found.fixed):,} fixed, {len(found.broken):,} broken"
    )
    rest = f"<p class='hint'>{len(entries):,} of {every:,} differences are shown; results.jsonl has all.</p>"
    inside = "".join(entries) or "<p class='hint'>No difference.</p>"
    return folded(label, (rest if len(entries) < every else "") + inside, opened=opened, css="comparison")


def _entry(found: Comparison, name: RowId, rows: Rows, kind: str) -> str:
    before, after = rows[found.against, name.seed, name.id], rows[found.arm, name.seed, name.id]
    seed = f" <small>seed {name.seed}</small>" if name.seed else ""
    label = (
        f'<span class="badge">{kind}</span> <b>{safe(name.id, 80)}</b>{seed} '
        f'<span class="start" dir="auto">{safe(after.problem[:140])}</span>'
        f'<span class="change"><bdi>{_brief(before)}</bdi> → <bdi>{_brief(after)}</bdi></span>'
    )
    inside = (
        block(after.problem, "Problem")
        + f"<p>Right answer: <code>{safe(after.reference, 300)}</code></p>"
        + f'<div class="two">{_side(before)}{_side(after)}</div>'
    )
    return folded(label, inside, css=f"entry {kind}")


def _brief(row: Row) -> str:
    return safe(row.answer[:24] or ("error" if row.error else "none"))


def _side(row: Row) -> str:
    verdict = "right" if row.right else "wrong"
    told = f"<p>Answer: <code>{safe(row.answer or 'none', 300)}</code></p>"
    failed = block(row.error, "Error") if row.error else ""
    title = f'<h4>{safe(row.arm)} <span class="{verdict}">{verdict}</span></h4>'
    return f'<div class="side">{title}{told}{failed}{block(row.reply, "Reply")}{_memory(row)}</div>'


def _memory(row: Row) -> str:
    if not row.memory:
        return '<p class="hint">No memory was shown.</p>'
    scores = ", ".join(f"{score:.2f}" for score in row.scores)
    origin = f"<p class='hint'>Learned on {safe(', '.join(dict.fromkeys(row.sources)), 300)}"
    origin += f"; similarity {scores}</p>" if scores else "</p>"
    return folded("Memory that was shown", (origin if row.sources else "") + block(row.memory), css="memory")
