"""`reasoningbank experiment`: does memory help this model on these problems?"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reasoningbank_langgraph.cli.experiment import options
from reasoningbank_langgraph.cli.terminal import console, named_errors
from reasoningbank_langgraph.cli.train.tune import TUNING, Batch, Epochs, LearningRate, Longest, Patience, Rank
from reasoningbank_langgraph.errors import ExperimentError
from reasoningbank_langgraph.experiments.config import IMPROVING, ExperimentConfig, Protocol
from reasoningbank_langgraph.files import open_file

if TYPE_CHECKING:
    from rich.console import Console

experiment_app = typer.Typer(help="Does memory help? Compare arms on the same problems.", no_args_is_help=True)


def _of_protocol(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command that only declares its options run the protocol of its name: the options are the settings."""

    @wraps(command)
    def run(*, out: Path, **given: Any) -> None:
        with named_errors():
            settings = _settings(given)
            protocol = command.__name__.replace("_", "-")
            carry_out(ExperimentConfig.model_validate({"protocol": protocol, **settings}), out)

    return run


@experiment_app.command()
@_of_protocol
def phase1(
    *,
    train: options.Train,
    test: options.Test,
    out: options.Out = Path("experiment"),
    model: options.Model = None,
    judge_model: options.Critic = None,
    arms: options.Arms = "baseline,memory",
    seeds: options.Seeds = "0",
    limit: options.Limit = 100,
    train_limit: options.TrainLimit = 60,
    judge: options.Judge = "oracle",
    max_tokens: options.MaxTokens = 512,
    temperature: options.Temperature = 0.0,
    k: options.K = 1,
    min_score: options.MinScore = None,
    outcome: options.Outcome = "both",
    bank_sizes: options.Sizes = "",
    attempts: options.Attempts = "3",
    modes: options.Modes = "parallel",
    agreement: options.Agreement = 1.0,
    concurrency: options.Concurrency = None,
    leave_out_failed: options.LeaveOut = False,
    price_in: options.PriceIn = 0.0,
    price_out: options.PriceOut = 0.0,
) -> None:
    """Learn from the train problems, freeze the bank, and compare the arms on the test problems."""


@experiment_app.command()
@_of_protocol
def stream(
    *,
    test: options.Test,
    out: options.Out = Path("experiment"),
    model: options.Model = None,
    judge_model: options.Critic = None,
    arms: options.Arms = "baseline,memory",
    seeds: options.Seeds = "0,1,2",
    limit: options.Limit = 100,
    judge: options.Judge = "oracle",
    max_tokens: options.MaxTokens = 512,
    temperature: options.Temperature = 0.0,
    k: options.K = 1,
    min_score: options.MinScore = None,
    attempts: options.Attempts = "3",
    modes: options.Modes = "parallel",
    leave_out_failed: options.LeaveOut = False,
    price_in: options.PriceIn = 0.0,
    price_out: options.PriceOut = 0.0,
) -> None:
    """Learn on the test problems themselves, in several orders. Each is solved before its lesson is learned."""


@experiment_app.command()
@_of_protocol
def scaling(
    *,
    train: options.Train,
    test: options.Test,
    out: options.Out = Path("experiment"),
    model: options.Model = None,
    judge_model: options.Critic = None,
    seeds: options.Seeds = "0",
    limit: options.Limit = 100,
    train_limit: options.TrainLimit = 60,
    judge: options.Judge = "oracle",
    max_tokens: options.MaxTokens = 512,
    temperature: options.Temperature = 0.0,
    k: options.K = 1,
    min_score: options.MinScore = None,
    attempts: options.Attempts = "1,2,3,4,5",
    modes: options.Modes = "parallel,sequential",
    fixed_k: options.FixedK = False,
    concurrency: options.Concurrency = None,
    leave_out_failed: options.LeaveOut = False,
    price_in: options.PriceIn = 0.0,
    price_out: options.PriceOut = 0.0,
) -> None:
    """Compare with and without memory, for several numbers of attempts and both ways of making them."""


@experiment_app.command()
@_of_protocol
def self_improve(
    *,
    train: options.Train,
    test: options.Test,
    out: options.Out = Path("experiment"),
    model: options.Tunable = None,
    judge_model: options.Critic = None,
    other_train: Annotated[
        Path | None, typer.Option(help="Problems that the adapter of arm adapter-other learns from.")
    ] = None,
    samples: options.Samples = 8,
    seeds: options.Seeds = "0",
    limit: options.Limit = 100,
    train_limit: options.TrainLimit = 60,
    judge: options.Judge = "oracle",
    max_tokens: options.MaxTokens = 512,
    temperature: options.Temperature = 0.0,
    k: options.K = 1,
    min_score: options.MinScore = None,
    rank: Rank = 8,
    epochs: Epochs = 3.0,
    learning_rate: LearningRate = 2e-4,
    batch: Batch = 8,
    longest: Longest = 1024,
    patience: Patience = 2,
    concurrency: options.Concurrency = None,
    leave_out_failed: options.LeaveOut = False,
) -> None:
    """Tune a model on what it solved itself, and compare memory, adapter and both. Needs the extra `train`.

    The controls are adapters that learned as many wrong solutions, and with --other-train as many right ones of other
    problems.
    """


@experiment_app.command()
@_of_protocol
def compound(
    *,
    train: options.Train,
    validation: Annotated[Path, typer.Option(help="Problems that say whether an adapter is used.")],
    test: options.Test,
    out: options.Out = Path("experiment"),
    model: options.Tunable = None,
    judge_model: options.Critic = None,
    cycles: Annotated[int, typer.Option(min=1, help="Number of cycles at most.")] = 3,
    samples: options.Samples = 8,
    seeds: options.Seeds = "0",
    limit: options.Limit = 100,
    train_limit: options.TrainLimit = 60,
    max_tokens: options.MaxTokens = 512,
    temperature: options.Temperature = 0.0,
    k: options.K = 1,
    min_score: options.MinScore = None,
    rank: Rank = 8,
    epochs: Epochs = 3.0,
    learning_rate: LearningRate = 2e-4,
    batch: Batch = 8,
    longest: Longest = 1024,
    patience: Patience = 2,
    concurrency: options.Concurrency = None,
    leave_out_failed: options.LeaveOut = False,
) -> None:
    """Go through cycles of learn, harvest, tune and accept, and measure each. Needs the extra `train`.

    An adapter is used only if it is better on the validation problems. Two cycles in a row without one end the run.
    """


@experiment_app.command()
def repeat(
    config: Annotated[Path, typer.Option(help="The `config.json` of a run.")],
    out: options.Out = Path("experiment-again"),
) -> None:
    """Repeat a run in a new folder, with its saved settings."""
    with named_errors():
        try:
            with open_file(config) as file:
                text = file.read().decode()
        except OSError as error:
            raise typer.BadParameter(f"{config}: {error.strerror}", param_hint="--config") from error
        carry_out(ExperimentConfig.model_validate_json(text), out)


@experiment_app.command()
def report(out: options.Out = Path("experiment")) -> None:
    """Write summary, plots and page again. The rows are enough: the run may be unfinished and its texts left out."""
    from reasoningbank_langgraph.experiments.report import write_report

    with named_errors():
        write_report(out)
        console.print(f"report: {out / 'report.html'}")


def carry_out(config: ExperimentConfig, out: Path, shown: Console = console) -> None:
    """Carry out an experiment, show how far it is, and end with exit code 1 where a row has failed."""
    from reasoningbank_langgraph.experiments.results import Results

    try:
        page = _runner(config.protocol)(config, out, console=shown)
    except KeyboardInterrupt:
        shown.print("stopped: the same command continues the run")
        raise typer.Exit(130) from None
    shown.print(f"report: {page}")
    if failed := sum(row.error is not None for row in Results(out).rows):
        then = "its cycle went on without" if config.protocol == "compound" else "the same command tries them again"
        raise ExperimentError(f"{failed} row{'s' * (failed > 1)} failed: {then}")


def _runner(protocol: Protocol) -> Callable[..., Path]:
    """Return what carries out a protocol; what trains is loaded for those that train alone."""
    if protocol == "self-improve":
        from reasoningbank_langgraph.train.improvement import run_self_improve

        return run_self_improve
    if protocol == "compound":
        from reasoningbank_langgraph.train.improvement import run_compound

        return run_compound
    from reasoningbank_langgraph.experiments.run import run_experiment

    return run_experiment


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of options; those of adapters are one setting, and such a run has arms of its own."""
    settings = {name: _setting(name, value) for name, value in given.items()}
    if tune := {name: settings.pop(name) for name in TUNING if name in settings}:
        settings["tune"] = tune
    if "other_train" in settings:
        arms = [arm for arm in IMPROVING if arm != "adapter-other" or settings["other_train"]]
        settings["arms"] = tuple(arms)
    return settings


def _setting(name: str, value: Any) -> Any:
    """Return the value of an option as a setting: lists are written with commas."""
    if name in ("arms", "modes"):
        return _words(value)
    return _numbers(name, value) if name in ("seeds", "bank_sizes", "attempts") else value


def _words(text: str) -> tuple[Any, ...]:
    """The configuration checks whether there are such arms or modes."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _numbers(name: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in _words(text))
    except ValueError as error:
        option = f"--{name.replace('_', '-')}"
        raise typer.BadParameter(f"{text!r} is not a comma-separated list of integers", param_hint=option) from error
