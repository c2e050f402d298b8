"""`reasoningbank probe`: which form of memory helps this model on these problems, and the Python that sets it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from reasoningbank_langgraph.cli.bank import only_bank, open_bank
from reasoningbank_langgraph.cli.experiment import LeaveOut, carry_out
from reasoningbank_langgraph.cli.identifiers import format_namespace
from reasoningbank_langgraph.cli.terminal import console, error_console, named_errors

if TYPE_CHECKING:
    from reasoningbank_langgraph.experiments.config import ExperimentConfig
    from reasoningbank_langgraph.experiments.probe import Advice
    from reasoningbank_langgraph.experiments.summary import Summary


def probe(
    *,
    file: Annotated[Path, typer.Option(help="JSONL file with `problem` and `answer`, and `id` where known.")],
    model: Annotated[str | None, typer.Option(help="Solver, named as in `solve`.")] = None,
    bank: Annotated[
        Path | None, typer.Option(help="Folder of a bank to show. By default one is learned from a part of the file.")
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Namespace of that bank, written as in `bank show`.")] = None,
    learn: Annotated[
        int | None,
        typer.Option(min=1, help="Problems to learn from.", show_default="the first third of the file, at most 60"),
    ] = None,
    limit: Annotated[int, typer.Option(min=20, max=100, help="Most problems to compare on.")] = 100,
    recurring: Annotated[
        bool, typer.Option("--recurring", help="Show near copies of a problem too, as where your tasks come again.")
    ] = False,
    max_tokens: Annotated[int, typer.Option(min=1, help="Token limit of one solution.")] = 512,
    leave_out_failed: LeaveOut = False,
    out: Annotated[Path, typer.Option(help="Folder of the run. The same command resumes it.")] = Path("probe"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what was found as JSON, and the rest on stderr.")
    ] = False,
) -> None:
    """Compare nothing, lessons, examples and their controls on 20 to 100 tasks, and recommend what to show a model."""
    from reasoningbank_langgraph.experiments.probe import advise, probe_config, reply_lengths
    from reasoningbank_langgraph.experiments.results import SUMMARY, Results
    from reasoningbank_langgraph.experiments.summary import Summary

    shown = error_console if as_json else console
    settings: dict[str, Any] = {"model": model, "max_tokens": max_tokens, "leave_out_failed": leave_out_failed}
    with named_errors():
        settings |= _given_bank(bank, namespace, learn)
        config = probe_config(file, limit=limit, learn=learn, recurring=recurring, **settings)
        shown.print(_plan(config))
        carry_out(config, out, shown)
        summary = Summary.model_validate_json((out / SUMMARY).read_bytes())
        lengths = reply_lengths(Results(out).rows)
        advice = advise(summary, lengths)
        if as_json:
            console.print(json.dumps({"advice": advice.to_json(), "reply_lengths": lengths, **summary.to_json()}))
        else:
            _print(summary, lengths, advice)


def _given_bank(folder: Path | None, namespace: str | None, learn: int | None) -> dict[str, Any]:
    """Return the settings that name a bank, none where one is to be learned."""
    if folder is None:
        if namespace is not None:
            raise typer.BadParameter("is the namespace of a bank: name its folder too", param_hint="--namespace")
        return {}
    if learn is not None:
        raise typer.BadParameter("nothing is learned where a bank is named", param_hint="--learn")
    with open_bank(folder) as store:
        return {"bank": folder, "namespace": tuple(only_bank(store, namespace))}


def _plan(config: ExperimentConfig) -> Text:
    """Say plainly what is learned from and what is compared on."""
    from reasoningbank_langgraph.experiments.folder import read_problem_sets

    problems = read_problem_sets(config)
    source, rest = f"learns from the first {len(problems.train)} problems of {config.test}", "others"
    if config.bank is not None:
        source, rest = f"shows the bank {format_namespace(config.namespace)} of {config.bank}", "problems"
    return Text(f"{source}; solves {len(problems.test)} {rest} in {len(config.arms)} ways")


def _print(summary: Summary, lengths: Mapping[str, float], advice: Advice) -> None:
    from reasoningbank_langgraph.experiments.probe import what_is_shown
    from reasoningbank_langgraph.experiments.wording import capital, points_interval

    table = Table("arm", "before the task", title="Against nothing, paired, with 95 % intervals", title_justify="left")
    for heading in ("right", "difference", "fixed", "broken", "reply"):
        table.add_column(heading, justify="right")
    found = {one.arm: one for one in summary.comparisons if one.against == summary.config.arms[0]}
    for arm in (one for one in summary.arms if one.compared):
        against = found.get(arm.arm)
        difference = points_interval(against.difference) if against and against.difference else ""
        changed = [str(len(against.fixed)), str(len(against.broken))] if against else ["", ""]
        shown = what_is_shown(arm.arm) + (f" ({arm.shown:.0%} of the tasks)" if 0 < arm.shown < 1 else "")
        right = f"{arm.right} of {arm.problems}"
        table.add_row(arm.arm, shown, right, difference, *changed, f"{lengths.get(arm.arm, 0):,.0f}")
    console.print(table)
    console.print("reply: characters, on average")
    for one in summary.comparisons:
        if one.group == "control":
            console.print(Text(capital(one.says)))
    console.print(Text(f"\nrecommended: {advice.use}", "bold"))
    console.print(Text(f"{advice.reason}\n\n{advice.python}"))
