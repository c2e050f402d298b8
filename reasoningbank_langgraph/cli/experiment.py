"""`reasoningbank experiment`: does memory help this model on these problems?"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reasoningbank_langgraph.cli.terminal import console, named_errors
from reasoningbank_langgraph.cli.train.tune import TUNING, Batch, Epochs, LearningRate, Longest, Patience, Rank
from reasoningbank_langgraph.errors import ExperimentError
from reasoningbank_langgraph.experiments.config import IMPROVING, ExperimentConfig, OutcomeFilter, Truth
from reasoningbank_langgraph.files import open_file

if TYPE_CHECKING:
    from rich.console import Console

experiment_app = typer.Typer(help="Does memory help? Compare arms on the same problems.", no_args_is_help=True)

_Test = Annotated[Path, typer.Option(help="Problems to compare on: JSONL in the format of `solve`, GSM8K or MATH.")]
_Train = Annotated[Path, typer.Option(help="Problems to learn from: JSONL in the format of `solve`, GSM8K or MATH.")]
_Out = Annotated[Path, typer.Option(help="Folder of the run. The same command continues a run that was stopped.")]
_Model = Annotated[str | None, typer.Option(help="Solver, named as in `solve`.")]
_Critic = Annotated[str | None, typer.Option(help="Model that judges and distils. Default: the solver.")]
_Arms = Annotated[
    str,
    typer.Option(
        help="Arms, comma-separated: baseline, memory, examples, vote, vote+memory, vote+matts, half, gated, "
        "gated+examples, guarded, levels, long, shuffled, random, filler, examples-random. A run that has ended can be "
        "given more of them."
    ),
]
_Seeds = Annotated[str, typer.Option(help="Seeds, comma-separated.")]
_Limit = Annotated[int, typer.Option(min=1, help="Number of problems to compare on.")]
_TrainLimit = Annotated[int, typer.Option(min=1, help="Number of problems to learn from.")]
_Judge = Annotated[Truth, typer.Option(help="Judge of what is learned: oracle (the known answer) or self (a model).")]
_MaxTokens = Annotated[int, typer.Option(min=1, help="Token limit of one solution.")]
_Temperature = Annotated[float, typer.Option(min=0, max=2, help="Sampling temperature of the solver.")]
_K = Annotated[int, typer.Option(min=1, help="Number of experiences to retrieve.")]
_MinScore = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, help="Lowest similarity of what is shown.", show_default="none for lessons, 0.35 for examples"
    ),
]
_Outcome = Annotated[OutcomeFilter, typer.Option(help="Which lessons to show.")]
_Sizes = Annotated[str, typer.Option(help="Also compare banks of these smaller sizes, comma-separated: 10,40.")]
_Attempts = Annotated[str, typer.Option(help="Numbers of attempts of the arms that vote, comma-separated.")]
_Modes = Annotated[
    str,
    typer.Option(
        help="How several attempts are made, comma-separated: parallel (a vote), sequential (one, checked again)."
    ),
]
_Agreement = Annotated[
    float, typer.Option(min=0, max=1, help="Share of the first attempts of the gated arms that must agree.")
]
_FixedK = Annotated[
    bool, typer.Option("--fixed-k", help="Make all k attempts, also where two checks in a row changed nothing.")
]
_Concurrency = Annotated[
    int | None,
    typer.Option(
        min=1, help="Number of problems to work on at once.", show_default="as many as a local model takes, else 1"
    ),
]
LeaveOut = Annotated[
    bool, typer.Option("--leave-out-failed", help="Go on without problems that could not be learned from.")
]
_PriceIn = Annotated[float, typer.Option(min=0, help="Price of a million prompt tokens.")]
_PriceOut = Annotated[float, typer.Option(min=0, help="Price of a million reply tokens.")]


def _of_protocol(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command that only declares its options run the protocol of its name: the options are the settings."""

    @wraps(command)
    def run(*, out: Path, **options: Any) -> None:
        with named_errors():
            settings = _settings(options)
            protocol = command.__name__.replace("_", "-")
            carry_out(ExperimentConfig.model_validate({"protocol": protocol, **settings}), out)

    return run


@experiment_app.command()
@_of_protocol
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
    min_score: _MinScore = None,
    outcome: _Outcome = "both",
    bank_sizes: _Sizes = "",
    attempts: _Attempts = "3",
    modes: _Modes = "parallel",
    agreement: _Agreement = 1.0,
    concurrency: _Concurrency = None,
    leave_out_failed: LeaveOut = False,
    price_in: _PriceIn = 0.0,
    price_out: _PriceOut = 0.0,
) -> None:
    """Learn from the train problems, freeze the bank, and compare the arms on the test problems."""


@experiment_app.command()
@_of_protocol
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
    min_score: _MinScore = None,
    attempts: _Attempts = "3",
    modes: _Modes = "parallel",
    leave_out_failed: LeaveOut = False,
    price_in: _PriceIn = 0.0,
    price_out: _PriceOut = 0.0,
) -> None:
    """Learn on the test problems themselves, in several orders. Each is solved before its lesson is learned."""


@experiment_app.command()
@_of_protocol
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
    min_score: _MinScore = None,
    attempts: _Attempts = "1,2,3,4,5",
    modes: _Modes = "parallel,sequential",
    fixed_k: _FixedK = False,
    concurrency: _Concurrency = None,
    leave_out_failed: LeaveOut = False,
    price_in: _PriceIn = 0.0,
    price_out: _PriceOut = 0.0,
) -> None:
    """Compare with and without memory, for several numbers of attempts and both ways of making them."""


@experiment_app.command()
@_of_protocol
def self_improve(
    *,
    train: _Train,
    test: _Test,
    out: _Out = Path("experiment"),
    model: Annotated[str | None, typer.Option(help="PATH.gguf or a pulled model: it solves, and is tuned.")] = None,
    judge_model: _Critic = None,
    other_train: Annotated[
        Path | None, typer.Option(help="Problems that the adapter of arm adapter-other learns from.")
    ] = None,
    samples: Annotated[int, typer.Option(min=2, help="Number of attempts at a train problem to learn from.")] = 8,
    seeds: _Seeds = "0",
    limit: _Limit = 100,
    train_limit: _TrainLimit = 60,
    judge: _Judge = "oracle",
    max_tokens: _MaxTokens = 512,
    temperature: _Temperature = 0.0,
    k: _K = 1,
    min_score: _MinScore = None,
    rank: Rank = 8,
    epochs: Epochs = 3.0,
    learning_rate: LearningRate = 2e-4,
    batch: Batch = 8,
    longest: Longest = 1024,
    patience: Patience = 2,
    concurrency: _Concurrency = None,
    leave_out_failed: LeaveOut = False,
) -> None:
    """Tune a model on what it solved itself, and compare memory, adapter and both. Needs the extra `train`.

    The controls are adapters that learned as many wrong solutions, and with --other-train as many right ones of other
    problems.
    """


@experiment_app.command()
def repeat(
    config: Annotated[Path, typer.Option(help="The `config.json` of a run.")],
    out: _Out = Path("experiment-again"),
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
def report(out: _Out = Path("experiment")) -> None:
    """Write summary, plots and page again. The rows are enough: the run may be unfinished and its texts left out."""
    from reasoningbank_langgraph.experiments.report import write_report

    with named_errors():
        write_report(out)
        console.print(f"report: {out / 'report.html'}")


def carry_out(config: ExperimentConfig, out: Path, shown: Console = console) -> None:
    """Carry out an experiment, show how far it is, and end with exit code 1 where a row has failed."""
    from reasoningbank_langgraph.experiments.results import Results
    from reasoningbank_langgraph.experiments.run import run_experiment
    from reasoningbank_langgraph.train.improvement import run_self_improve

    try:
        run = run_self_improve if config.protocol == "self-improve" else run_experiment
        page = run(config, out, console=shown)
    except KeyboardInterrupt:
        shown.print("stopped: the same command continues the run")
        raise typer.Exit(130) from None
    shown.print(f"report: {page}")
    if failed := sum(row.error is not None for row in Results(out).rows):
        raise ExperimentError(f"{failed} row{'s' * (failed > 1)} failed: the same command tries them again")


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of options; those of adapters are one setting, and such a run has arms of its own."""
    settings = {name: _setting(name, value) for name, value in options.items()}
    if tune := {name: settings.pop(name) for name in TUNING if name in settings}:
        arms = [arm for arm in IMPROVING if arm != "adapter-other" or settings["other_train"]]
        settings |= {"tune": tune, "arms": tuple(arms)}
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
