"""The page of an experiment: one file, nothing fetched, readable without scripts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files

from reasoningbank_langgraph.experiments.report.differences import Rows, listed_comparisons
from reasoningbank_langgraph.experiments.report.plots import Picture
from reasoningbank_langgraph.experiments.report.rendering import environment
from reasoningbank_langgraph.experiments.summary import Summary
from reasoningbank_langgraph.experiments.wording import NEAR_COPY, QUESTIONS, below_heading, heading, main_comparison

SentPrompts = Mapping[str, Sequence[tuple[str, str]]]
"""Messages as (role, text), by arm."""
REPRODUCE = "reasoningbank experiment repeat --config config.json --out again"


def page(summary: Summary, rows: Rows, pictures: Mapping[str, Picture], prompts: SentPrompts) -> str:
    """Return the HTML."""
    return (
        environment()
        .get_template("page.html")
        .render(
            summary=summary,
            arms={arm.arm: arm for arm in summary.arms},
            main=main_comparison(summary.comparisons),
            heading=heading(summary.comparisons),
            below_heading=below_heading(summary.comparisons),
            models=_models(summary),
            questions=QUESTIONS,
            has_texts=all(row.has_texts for row in rows.values()),
            listed_comparisons=list(listed_comparisons(summary.comparisons, rows)),
            near_copy=NEAR_COPY,
            nearest=sorted(
                summary.leaks.near_duplicates if summary.leaks else (),
                key=lambda pair: -max(pair.text_similarity, pair.embedding_similarity),
            ),
            pictures=pictures,
            prompts=prompts,
            settings=json.dumps(summary.config.to_json(), indent=2),
            reproduce=REPRODUCE,
            style=_part("report.css"),
            script=_part("report.js"),
        )
    )


def _models(summary: Summary) -> str:
    if summary.origin is None:
        return f"model {summary.config.model or 'not recorded'}"
    solver, critic = summary.origin.solver, summary.origin.critic
    return f"model {solver}" + (f" · judged and distilled by {critic}" if critic != solver else "")


def _part(name: str) -> str:
    return files("reasoningbank_langgraph.experiments.report").joinpath("templates", name).read_text(encoding="utf-8")
