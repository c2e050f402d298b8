"""`reasoningbank adapter`: adapters side by side, used only if better than their base, and taken out of use again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from reasoningbank_langgraph.cli.terminal import console, named_errors, progress_bar

if TYPE_CHECKING:
    from reasoningbank_langgraph.train.adapters import Adapter, AdapterTrial, Decision, RivalComparison, TrialProgress

adapter_app = typer.Typer(help="Use an adapter only if it is better, and go back.", no_args_is_help=True)

One = Annotated[Path, typer.Argument(help="Folder of the adapter, with others of its base beside it.")]
Several = Annotated[Path, typer.Argument(help="Folder of the adapters.")]


@adapter_app.command("list")
def list_command(
    folder: Several, as_json: Annotated[bool, typer.Option("--json", help="Print one adapter a line as JSON.")] = False
) -> None:
    """List the adapters of a folder, which one is in use, and how each did in its trial."""
    from reasoningbank_langgraph.train.adapters import list_adapters

    with named_errors():
        found = list_adapters(folder)
    if as_json:
        for one in found:
            console.print(json.dumps(one.to_json()))
        return
    if not found:
        console.print(Text(f"no adapter is in {folder}"))
    elif not any(one.state == "in use" for one in found):
        console.print(Text(f"no adapter of {folder} is in use: --model {folder} is their base"))
    if found:
        console.print(_table(found))


@adapter_app.command()
def accept(
    folder: One,
    problems: Annotated[Path, typer.Option(help="JSONL file with `problem` and `answer`, none of which was learned.")],
    alpha: Annotated[float, typer.Option(help="What the p of McNemar's exact test is held against.")] = 0.05,
    max_tokens: Annotated[int, typer.Option(min=1, help="Token limit of one solution.")] = 512,
) -> None:
    """Try an adapter against its base and against what is in use, and use it from now on if it is better than both.

    The exit code is 1 if it is not: it is kept and not used. If interrupted, run it again to resume.
    """
    from reasoningbank_langgraph.train.adapters import accept

    if not 0 < alpha < 1:
        raise typer.BadParameter("is between 0 and 1", param_hint="--alpha")
    with named_errors(), _progress() as update:
        decision = accept(folder, problems, alpha=alpha, max_tokens=max_tokens, progress=update)
    _report(decision, folder)
    if decision.outcome != "accepted":
        raise typer.Exit(1)


@adapter_app.command()
def reject(
    folder: One, reason: Annotated[str, typer.Option(help="Why it is never to be used; kept in the history.")]
) -> None:
    """Decide that an adapter is never used; if it is in use, what was in use before is used again."""
    from reasoningbank_langgraph.train.adapters import reject

    with named_errors():
        decision = reject(folder, reason)
    console.print(Text(f"{decision.adapter} is rejected"))
    _print_in_use(folder.expanduser().resolve().parent)


@adapter_app.command()
def rollback(
    folder: Several, reason: Annotated[str, typer.Option(help="Why; kept in the history.", show_default="none")] = ""
) -> None:
    """Take the adapter in use out of use, for the one before it, or the base where there is none."""
    from reasoningbank_langgraph.train.adapters import rollback

    with named_errors():
        decision = rollback(folder, reason)
    console.print(Text(f"{decision.adapter} is in use no longer"))
    _print_in_use(folder)


def _print_in_use(folder: Path) -> None:
    from reasoningbank_langgraph.local.adapters import accepted, read_history

    standing = accepted(read_history(folder))
    now = standing[-1].adapter if standing else "the base, without an adapter,"
    console.print(Text(f"{now} is in use in {folder}"))


def _report(decision: Decision, folder: Path) -> None:
    trial, adapters = decision.trial, folder.expanduser().resolve().parent
    if trial is not None:
        for line in _told(decision.adapter, trial):
            console.print(Text(line))
    if decision.outcome == "accepted":
        console.print(Text(f"accepted: {decision.adapter} is in use\nUse it with: --model {adapters}", "bold"))
    else:
        console.print(Text(f"not better: {decision.adapter} is kept and not used", "bold"))


def _told(name: str, trial: AdapterTrial) -> Iterator[str]:
    for one in trial.comparisons:
        against = f"{name} against {one.rival or 'the base'}"
        yield f"{against}: {one.right} of {one.problems} right, {one.rival_right} without; {_figures(one)}"
    if trial.level < trial.alpha:
        yield f"p is held against {trial.level:g}, as it was tried before, on other problems or in another way"
    if trial.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in trial.left_out.items())
        yield f"left out of {trial.problems}: {reasons}"
    if trial.unchecked:
        yield f"near copies of what it learned could not be looked for: {trial.unchecked}"


def _figures(one: RivalComparison) -> str:
    from reasoningbank_langgraph.experiments.wording import p_value, points_interval
    from reasoningbank_langgraph.train.adapters import difference

    return f"{points_interval(difference(one))}, {one.fixed} fixed, {one.broken} broken, {p_value(one.p)}"


def _table(found: list[Adapter]) -> Table:
    table = Table("adapter", "state", "decided", "size", "validation loss", "trial or reason")
    for one in found:
        decided, loss = one.decision, one.validation_loss
        table.add_row(
            one.name,
            one.state,
            f"{decided.at:%Y-%m-%d %H:%M}" if decided else "",
            f"{one.size / 1e6:,.1f} MB" if one.size else "",
            f"{loss[0]:.3f} to {loss[1]:.3f}" if loss else "",
            _why(decided) if decided else "",
        )
    return table


def _why(decision: Decision) -> str:
    if decision.trial is None:
        return decision.reason
    return "\n".join(f"against {one.rival or 'the base'} {_figures(one)}" for one in decision.trial.comparisons)


@contextmanager
def _progress() -> Iterator[Callable[[TrialProgress], None]]:
    with progress_bar() as bar:
        task = bar.add_task("solutions", total=None)
        yield lambda at: bar.update(task, completed=at.done, total=at.total)
