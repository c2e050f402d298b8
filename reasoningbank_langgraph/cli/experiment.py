"""`reasoningbank experiment`: does memory help this model on these problems?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reasoningbank_langgraph.cli.terminal import console, named_errors
from reasoningbank_langgraph.files import open_file

experiment_app = typer.Typer(help="Does memory help? Compare arms on the same problems.", no_args_is_help=True)

_Test = Annotated[Path, typer.Option(help="JSONL of problems to compare on (ours, GSM8K's or MATH's format).")]
_Train = Annotated[Path, typer.Option(help="JSONL of problems to learn from.")]
_Out = Annotated[Path, typer.Option(help="Folder of the run; the same command goes on there.")]
_Model = Annotated[str | None, typer.Option(help="Solver, named as in `solve`.")]
_Critic = Annotated[str | None, typer.Option(help="Judges and distils instead of the model.")]
_Arms = Annotated[
    str, typer.Option(help="Comma between: baseline, memory, matts, matts+memory, shuffled, random, filler.")
]
_Seeds = Annotated[str, typer.Option(help="Comma between.")]
_Limit = Annotated[int, typer.Option(min=1, help="Problems to compare on.")]
_TrainLimit = Annotated[int, typer.Option(min=1, help="Problems to learn from.")]
_Judge = Annotated[
    str, typer.Option(help="Who says what is learned from: oracle (the known answer) or self (a model).")
]
_MaxTokens = Annotated[int, typer.Option(min=1, help="Cap on one solution.")]
_Temperature = Annotated[float, typer.Option(min=0, max=2, help="Sampling temperature of the solver.")]
_K = Annotated[int, typer.Option(min=1, help="Experiences to retrieve.")]
_Outcome = Annotated[str, typer.Option(help="Lessons to show: both, success or failure.")]
_Sizes = Annotated[str, typer.Option(help="Sizes of smaller banks to compare as well, comma between: 10,40.")]
_Attempts = Annotated[str, typer.Option(help="Attempts of the MaTTS arms, comma between.")]
_Modes = Annotated[str, typer.Option(help="Modes of the MaTTS arms: parallel, sequential.")]
_Concurrency = Annotated[
    int | None,
    typer.Option(min=1, help="Problems at the same time.", show_default="as many as a local model takes, else 1"),
]
_PriceIn = Annotated[float, typer.Option(min=0, help="Per million tokens of prompt.")]
_PriceOut = Annotated[float, typer.Option(min=0, help="Per million tokens of reply.")]


@experiment_app.command()
def phase1(
    *,
    train: _Train,
    test: _Test,
    out: _Out = Path("experiment"),
    model: _Model = None,
    judge_model: _Critic = None,
    arms: _Arms = "baseline,memory",
    seeds: _Seeds = "0",
    limit: _Limit = 100,
    train_limit: _TrainLimit = 60,
    judge: _Judge = "oracle",
    max_tokens: _MaxTokens = 512,
    temperature: _Temperature = 0.0,
    k: _K = 1,
    outcome: _Outcome = "both",
    bank_sizes: _Sizes = "",
    attempts: _Attempts = "3",
    modes: _Modes = "parallel",
    concurrency: _Concurrency = None,
    price_in: _PriceIn = 0.0,
    price_out: _PriceOut = 0.0,
) -> None:
    """Learn from train problems, freeze the bank, compare on test problems."""
    _run("phase1", locals())


@experiment_app.command()
def stream(
    *,
    test: _Test,
    out: _Out = Path("experiment"),
    model: _Model = None,
    judge_model: _Critic = None,
    arms: _Arms = "baseline,memory",
    seeds: _Seeds = "0,1,2",
    limit: _Limit = 100,
    judge: _Judge = "oracle",
    max_tokens: _MaxTokens = 512,
    temperature: _Temperature = 0.0,
    k: _K = 1,
    attempts: _Attempts = "3",
    modes: _Modes = "parallel",
    price_in: _PriceIn = 0.0,
    price_out: _PriceOut = 0.0,
) -> None:
    """Learn on the test problems themselves, in several orders; each problem is met before its answer is known."""
    _run("stream", locals())


@experiment_app.command()
def scaling(
    *,
    train: _Train,
    test: _Test,
    out: _Out = Path("experiment"),
    model: _Model = None,
    judge_model: _Critic = None,
    seeds: _Seeds = "0",
    limit: _Limit = 100,
    train_limit: _TrainLimit = 60,
    judge: _Judge = "oracle",
    max_tokens: _MaxTokens = 512,
    temperature: _Temperature = 0.0,
    k: _K = 1,
    attempts: _Attempts = "1,2,3,4,5",
    modes: _Modes = "parallel,sequential",
    concurrency: _Concurrency = None,
    price_in: _PriceIn = 0.0,
    price_out: _PriceOut = 0.0,
) -> None:
    """Cross memory with the number of attempts and the way they are made."""
    _run("scaling", locals())


@experiment_app.command()
def repeat(
    config: Annotated[Path, typer.Option(help="The config.json of a run.")],
    out: _Out = Path("experiment-again"),
) -> None:
    """Carry out a run again, from its saved settings, in a new folder."""
    from reasoningbank_langgraph.experiments.config import ExperimentConfig

    with named_errors():
        try:
            with open_file(config) as file:
                text = file.read().decode()
        except OSError as error:
            raise typer.BadParameter(f"{config}: {error.strerror}", param_hint="--config") from error
        _carry_out(ExperimentConfig.model_validate_json(text), out)


@experiment_app.command()
def report(out: _Out = Path("experiment")) -> None:
    """Write summary, plots and page of a run anew, also of one that is not finished."""
    from reasoningbank_langgraph.experiments.report import write_report

    with named_errors():
        write_report(out)
        console.print(f"report: {out / 'report.html'}")


_LISTS = {"arms": str, "modes": str, "seeds": int, "bank_sizes": int, "attempts": int}


def _run(protocol: str, given: dict[str, Any]) -> None:
    from reasoningbank_langgraph.experiments.config import ExperimentConfig

    with named_errors():
        out = given.pop("out")
        lists = {name: _listed(name, given.pop(name), kind) for name, kind in _LISTS.items() if name in given}
        settings: dict[str, Any] = {"protocol": protocol, **given, **lists}
        _carry_out(ExperimentConfig(**settings), out)


def _carry_out(config: Any, out: Path) -> None:
    from reasoningbank_langgraph.experiments.run import run_experiment

    try:
        page = run_experiment(config, out, console=console)
    except KeyboardInterrupt:
        console.print("stopped: the same command goes on where it was")
        raise typer.Exit(130) from None
    console.print(f"report: {page}")


def _listed(name: str, text: str, kind: type) -> tuple[Any, ...]:
    try:
        return tuple(kind(part.strip()) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise typer.BadParameter(f"{text!r}: {error}", param_hint=f"--{name.replace('_', '-')}") from error
