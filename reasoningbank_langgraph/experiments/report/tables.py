"""The figures of the page: arms, and comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from reasoningbank_langgraph.experiments.report.html_parts import safe, table
from reasoningbank_langgraph.experiments.report.wording import p_value, points, verdict
from reasoningbank_langgraph.experiments.stats import Interval
from reasoningbank_langgraph.experiments.summary import ArmSummary, Comparison, Group, Summary

_QUESTIONS: dict[Group, str] = {
    "arm": "Is an arm better than the first one?",
    "control": "Is memory better than other text in its place?",
    "same attempts": "Does memory add to several attempts?",
    "bank size": "Is a smaller bank better than the first arm?",
    "placebo": "Does other text in place of memory change anything?",
}
_COMPARISON_HINT = """<p class="hint">Differences are in percentage points. Fixed: right in this arm only; broken: right
in the other only. p is that of McNemar's exact test over problems; p (Holm) is adjusted for the comparisons under the
same question. “Without flagged” leaves out the problems that the leak audit names.</p>"""


def arm_tables(summary: Summary) -> str:
    """Return what each arm reached, what it cost, and what it was shown and learned."""
    scaled = any(arm.pass_at_k for arm in summary.arms)
    reached = table(
        ["arm", "right", "accuracy [95 %]", *(["pass@k [95 %]"] if scaled else []), "failed"],
        [
            [
                _name(arm),
                right_of(arm),
                _share(arm.accuracy),
                *([_share(arm.pass_at_k)] if scaled else []),
                f"{arm.errors:,}",
            ]
            for arm in summary.arms
        ],
    )
    cost = table(["arm", "tokens in", "tokens out", "seconds", "cost"], map(_cost, summary.arms))
    with_bank = [arm for arm in summary.arms if arm.shown or arm.learned or arm.bank]
    memory = table(["arm", "shown to", "similarity", "learned", "bank"], map(_memory, with_bank))
    hint = (
        '<p class="hint">“Shown to” is the share of problems that came with a memory, similarity that of the nearest '
        "lesson shown. Learned and bank count items. An arm in grey is where the bank was learned; it is not compared."
        "</p>"
    )
    parts = {"Result": reached, "Cost of a problem": cost, **({"Memory": memory} if with_bank else {})}
    inside = "".join(f"<div><h3>{name}</h3>{part}</div>" for name, part in parts.items())
    return f'<div class="tables{" scaled" if scaled else ""}">{inside}</div>{hint}'


def _cost(arm: ArmSummary) -> list[str]:
    figures = [f"{arm.tokens_in:,.0f}", f"{arm.tokens_out:,.0f}", f"{arm.seconds:.1f}"]
    return [_name(arm), *figures, f"{arm.cost:.4f}" if arm.cost else "–"]


def _memory(arm: ArmSummary) -> list[str]:
    similarity = "–" if arm.similarity is None else f"{arm.similarity:.2f}"
    return [_name(arm), f"{arm.shown * 100:.0f} %", similarity, f"{arm.learned:,}", f"{arm.bank:,}"]


def _name(arm: ArmSummary) -> str:
    return safe(arm.arm) if arm.compared else f'<span class="aside">{safe(arm.arm)}</span>'


def right_of(arm: ArmSummary) -> str:
    """Return a count as people say it."""
    return f"{arm.right:,} of {arm.rows:,}"


def _share(share: Interval | None) -> str:
    if share is None:
        return "–"
    return f'{share.value:.3f} <span class="interval">[{share.low:.3f}, {share.high:.3f}]</span>'


def comparison_tables(comparisons: Sequence[Comparison]) -> str:
    """Return a table for each question that the comparisons answer."""
    parts: list[str] = []
    headings = ["comparison", "difference [95 %]", "fixed", "broken", "p", "p (Holm)", "without flagged"]
    for group, question in _QUESTIONS.items():
        found = [one for one in comparisons if one.group == group]
        if found:
            rows, words = map(_comparison, found), [verdict(one) for one in found]
            parts.append(f"<h3>{safe(question)}</h3>{table(headings, rows, words)}")
    return "".join(parts) + _COMPARISON_HINT if parts else "<p>There is nothing to compare yet.</p>"


def _comparison(found: Comparison) -> list[str]:
    kind = "" if not found.shown or not found.difference else "right" if found.difference.value > 0 else "wrong"
    return [
        f"{safe(found.arm)} <small>against</small> {safe(found.against)}",
        f'<b class="{kind}">{_difference(found.difference)}</b>',
        f"{len(found.fixed):,}",
        f"{len(found.broken):,}",
        safe(p_value(found.p).removeprefix("p ").removeprefix("= ")),
        safe(p_value(found.p_holm).removeprefix("p ").removeprefix("= ")),
        _unflagged(found),
    ]


def _unflagged(found: Comparison) -> str:
    if found.unflagged is None and found.unflagged_problems < found.problems:
        return "no problem left"
    return _difference(found.unflagged)


def _difference(difference: Interval | None) -> str:
    if difference is None:
        return "–"
    low, high = points(difference.low), points(difference.high)
    return f'{points(difference.value)} <span class="interval">[{low}, {high}]</span>'
