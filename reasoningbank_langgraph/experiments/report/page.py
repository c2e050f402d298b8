"""The page of an experiment: one file, nothing fetched, readable without scripts."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files

from reasoningbank_langgraph.experiments.report.audits import judge_tables, leak_table
from reasoningbank_langgraph.experiments.report.differences import Rows, differences
from reasoningbank_langgraph.experiments.report.html_parts import block, bullets, folded, safe, section
from reasoningbank_langgraph.experiments.report.plots import Picture
from reasoningbank_langgraph.experiments.report.tables import arm_tables, comparison_tables, right_of
from reasoningbank_langgraph.experiments.report.wording import below_headline, headline_claim, main_comparison, points
from reasoningbank_langgraph.experiments.summary import Summary

Prompts = Mapping[str, Sequence[tuple[str, str]]]
"""Messages as (role, text), by arm."""
REPRODUCE = "reasoningbank experiment repeat --config config.json --out again"
_PARTS = {
    "arms": "Arms",
    "comparisons": "Comparisons",
    "differences": "Fixed and broken",
    "leaks": "Leak audit",
    "judge": "Judge",
    "settings": "Settings",
    "notes": "Notes",
}


def page(summary: Summary, rows: Rows, pictures: Mapping[str, Picture], prompts: Prompts) -> str:
    """Return the HTML."""
    style, script = _part("report.css"), _part("report.js")
    policy = f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    sections = [
        section("arms", "Arms", arm_tables(summary)),
        section("comparisons", "Comparisons", comparison_tables(summary.comparisons)),
        section("differences", "Fixed and broken by each arm", differences(summary.comparisons, rows)),
        section("leaks", "Leak audit", leak_table(summary.leaks)),
        section("judge", "Judge", judge_tables(summary)),
        section("settings", "Settings, and how to run it again", _settings(summary, prompts)),
        section("notes", "What to know before believing this", bullets(summary.notes)),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
        f"<title>{safe(headline_claim(summary.comparisons), 200)}</title><style>{style}</style></head><body>"
        f"{_top(summary)}<main>{_pictures(pictures)}{''.join(sections)}</main><script>{script}</script></body></html>\n"
    )


def _top(summary: Summary) -> str:
    origin = f"Experiment · protocol {summary.config.protocol} · {_models(summary)}"
    links = "".join(f'<a href="#{name}">{title}</a>' for name, title in _PARTS.items())
    return (
        f'<header><p class="kicker">{safe(origin)}</p><h1>{safe(headline_claim(summary.comparisons))}</h1>'
        f'<p class="lead">{safe(below_headline(summary.comparisons))}</p>{_tiles(summary)}'
        f"<p>{safe(summary.taught_by)}</p><nav>{links}</nav></header>"
    )


def _models(summary: Summary) -> str:
    if summary.origin is None:
        return f"model {summary.config.model or 'not recorded'}"
    solver, critic = summary.origin.solver, summary.origin.critic
    return f"model {solver}" + (f" · judged and distilled by {critic}" if critic != solver else "")


def _tiles(summary: Summary) -> str:
    main = main_comparison(summary.comparisons)
    if main is None or main.difference is None:
        return ""
    arms = {arm.arm: arm for arm in summary.arms}
    tiles = [
        _tile(name, f"{arms[name].accuracy.value * 100:.1f} %", right_of(arms[name]))
        for name in (main.against, main.arm)
    ]
    interval = f"95 % interval {points(main.difference.low)} to {points(main.difference.high)}"
    tiles += [
        _tile("difference", f"{points(main.difference.value)} points", interval),
        _tile("fixed / broken", f"{len(main.fixed):,} / {len(main.broken):,}", f"of {main.pairs:,} pairs"),
    ]
    return f'<dl class="tiles">{"".join(tiles)}</dl>'


def _tile(name: str, figure: str, below: str) -> str:
    return f"<div><dt>{safe(name)}</dt><dd><b>{safe(figure)}</b><span>{safe(below)}</span></dd></div>"


def _pictures(pictures: Mapping[str, Picture]) -> str:
    shown = [
        f'<figure><picture><source media="(prefers-color-scheme: dark)" srcset="{_inline(picture.dark)}">'
        f'<img src="{_inline(picture.light)}" alt="{safe(picture.says)}"></picture></figure>'
        for picture in pictures.values()
    ]
    return f'<div class="pictures">{"".join(shown)}</div>' if shown else ""


def _settings(summary: Summary, prompts: Prompts) -> str:
    shown = "".join(
        folded(f"A prompt of arm {safe(arm)}, as it was sent", "".join(block(text, role) for role, text in messages))
        for arm, messages in prompts.items()
    )
    settings = json.dumps(summary.config.to_json(), indent=2)
    return (
        f"<p>In the folder of this report:</p>{block(REPRODUCE)}"
        f"{folded('config.json', block(settings), opened=True, css='keep')}{shown}"
    )


def _part(name: str) -> str:
    return files("reasoningbank_langgraph.experiments.report").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _inline(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
