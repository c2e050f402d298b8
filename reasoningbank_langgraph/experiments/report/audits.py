"""The parts of the page that check the experiment itself: leaks, and the judge."""

from __future__ import annotations

from reasoningbank_langgraph.experiments.report.html_parts import bullets, folded, safe, table
from reasoningbank_langgraph.experiments.summary import JudgeTable, LeakAudit, Summary
from reasoningbank_langgraph.judges.audit import Confusion

_MOST = 40


def leak_table(leaks: LeakAudit) -> str:
    """Return the leak audit: what was looked for, how often it was there, and where."""
    if not leaks.rows:
        return "<p>No row was shown a memory, so nothing could leak through one.</p>" + _near(leaks)
    found = [
        ("a lesson from the same problem was shown", f"{len(leaks.self_retrieved):,} of {leaks.rows:,} rows"),
        ("an item holds the right answer as a word of its own", f"{leaks.gold_items:,} of {leaks.items:,} items"),
        ("the same for answers of other problems (chance)", f"about {leaks.gold_by_chance:,.1f} items"),
        ("pairs of a train and a test problem that are nearly the same", f"{len(leaks.near_duplicates):,}"),
        ("items the leak guard held back", f"{leaks.dropped:,} in {leaks.dropped_rows:,} rows"),
        ("problems flagged by any of this, except what was held back", f"{len(leaks.flagged):,}"),
    ]
    rows = [[safe(what), safe(count)] for what, count in found]
    return table(["looked for", "found"], rows) + _where(leaks) + _near(leaks)


def _where(leaks: LeakAudit) -> str:
    named = {"shown a lesson from the same problem": leaks.self_retrieved, "shown the right answer": leaks.with_gold}
    return "".join(
        folded(f"Rows {what}", bullets([f"{leak.arm}, seed {leak.seed}, {leak.id}" for leak in rows[:_MOST]]))
        for what, rows in named.items()
        if rows
    )


def _near(leaks: LeakAudit) -> str:
    if not leaks.near_duplicates:
        return ""
    nearest = sorted(leaks.near_duplicates, key=lambda pair: -max(pair.text_similarity, pair.embedding_similarity))
    rows = [
        [safe(pair.test_id), safe(pair.train_id), f"{pair.text_similarity:.2f}", f"{pair.embedding_similarity:.2f}"]
        for pair in nearest[:_MOST]
    ]
    headings = ["test problem", "train problem", "alike in text", "alike in meaning"]
    return folded(f"Nearest pairs ({len(rows)} of {len(nearest):,})", table(headings, rows))


def judge_tables(summary: Summary) -> str:
    """Return who judged, and how its verdicts meet the truth."""
    told = f"<p>{safe(summary.taught_by)}</p>"
    if not summary.judges:
        return told + "<p>No row was judged: the arms that are compared do not learn.</p>"
    return told + "".join(map(_judge, summary.judges))


def _judge(met: JudgeTable) -> str:
    counts = Confusion(met.tp, met.fp, met.tn, met.fn, met.undecided_right, met.undecided_wrong)
    rows = [
        ["right", f"{met.tp:,}", f"{met.fn:,}", f"{met.undecided_right:,}"],
        ["wrong", f"{met.fp:,}", f"{met.tn:,}", f"{met.undecided_wrong:,}"],
    ]
    rates = [
        f"Verdicts that are right: {counts.accuracy}",
        f"Wrong attempts taken for a success: {counts.false_success}",
        f"Right attempts taken for a failure: {counts.missed_success}",
    ]
    headings = ["attempt", "said success", "said failure", "undecided"]
    return f"<h3>{safe(met.arm)}</h3>{table(headings, rows)}{bullets(rates)}"
