"""Reads the folder of a run and writes its report there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from reasoningbank_langgraph.errors import ExperimentError
from reasoningbank_langgraph.experiments.arms import present_name
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.report.page import SentPrompts, page
from reasoningbank_langgraph.experiments.report.plots import draw
from reasoningbank_langgraph.experiments.results import (
    ADAPTERS,
    CONFIG,
    CYCLES,
    DUPLICATES,
    LEAKS,
    ORIGIN,
    PROMPTS,
    SUMMARY,
    ResultRow,
    Results,
)
from reasoningbank_langgraph.experiments.summarise import summarise
from reasoningbank_langgraph.experiments.summary import LeakAudit, NearDuplicate, Origin, Summary
from reasoningbank_langgraph.experiments.training import AdapterSummary, CycleSummary
from reasoningbank_langgraph.files import whole_lines, write_whole
from reasoningbank_langgraph.records import Record

REPORT = "report.html"
Kept = TypeVar("Kept", bound=Record)


def write_report(out: Path) -> Summary:
    """Write `summary.json`, the pictures and `report.html` into the folder of a run, finished or not.

    The summary and the pictures follow from the rows alone. The texts are for reading: where they are not there, the
    page names the problems and shows no text, and the leak audit is the one that was made while they were.

    Args:
        out: holds `config.json` and `results.jsonl`; `origin.json`, `duplicates.json`, `leaks.json`, `adapters.json`,
            `cycles.jsonl`, `texts.jsonl` and `prompts.jsonl` are used if there.

    Returns:
        What `summary.json` holds.

    Raises:
        ExperimentError: a file is missing, or is not what a run writes.
        MissingDependencyError: the extra `experiments` is not installed.
    """
    config = _config(out)
    rows = [row.model_copy(update={"arm": present_name(row.arm, config.protocol)}) for row in Results(out).rows]
    if not rows:
        raise ExperimentError(f"{out} holds no results yet: let the experiment run first")
    duplicates, adapters = _each(NearDuplicate, out / DUPLICATES), _each(AdapterSummary, out / ADAPTERS)
    origin, leaks = _one(Origin, out / ORIGIN), _one(LeakAudit, out / LEAKS)
    summary = summarise(rows, config, duplicates, origin, leaks, adapters, read_cycles(out))
    pictures = draw(rows, summary)
    for name, picture in pictures.items():
        (out / name).write_bytes(picture.light)
    _write(out / SUMMARY, summary)
    if summary.leaks is not None:
        _write(out / LEAKS, summary.leaks)
    html = page(summary, {row.key: row for row in rows}, pictures, _prompts(out, rows, summary))
    (out / REPORT).write_text(html, encoding="utf-8")
    return summary


def _config(out: Path) -> ExperimentConfig:
    path = out / CONFIG
    if not path.exists():
        raise ExperimentError(f"{out} is no folder of a run: it has no {CONFIG}")
    return ExperimentConfig.model_validate_json(json.dumps(_json(path)))  # a file, maybe of an earlier version


def read_cycles(out: Path) -> list[CycleSummary]:
    """Return the cycles of a run that have ended."""
    return [CycleSummary.model_validate_json(line) for line in whole_lines(out / CYCLES)]


def _one(kind: type[Kept], path: Path) -> Kept | None:
    return kind.model_validate(_json(path)) if path.exists() else None


def _each(kind: type[Kept], path: Path) -> list[Kept]:
    return [kind.model_validate(entry) for entry in _json(path)] if path.exists() else []


def _write(path: Path, record: Record) -> None:
    write_whole(path, json.dumps(record.to_json(), indent=1) + "\n")


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise ExperimentError(f"{path} is no JSON: {error}") from error


def _prompts(out: Path, rows: Sequence[ResultRow], summary: Summary) -> SentPrompts:
    """One prompt of each arm that is compared, where the run saved it."""
    path = out / PROMPTS
    if not path.exists():
        return {}
    arm_of_prompt = {row.prompt_hash: row.arm for row in reversed(rows) if row.prompt_hash}
    prompt_of_arm = {arm: name for name, arm in arm_of_prompt.items()}
    compared = {prompt_of_arm[arm.arm]: arm.arm for arm in summary.arms if arm.compared and arm.arm in prompt_of_arm}
    messages: dict[str, list[tuple[str, str]]] = {}
    with path.open("rb") as lines:
        for line in lines:
            entry = json.loads(line) if line.endswith(b"}\n") else {}
            if entry.get("hash") in compared:
                messages[compared[entry["hash"]]] = [(role, text) for role, text in entry["messages"]]
    return messages
