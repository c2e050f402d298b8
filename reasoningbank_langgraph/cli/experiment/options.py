"""The options of `reasoningbank experiment`: each is a setting of `ExperimentConfig`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reasoningbank_langgraph.experiments.config import OutcomeFilter, Truth

Test = Annotated[Path, typer.Option(help="Problems to compare on: JSONL in the format of `solve`, GSM8K or MATH.")]
Train = Annotated[Path, typer.Option(help="Problems to learn from: JSONL in the format of `solve`, GSM8K or MATH.")]
Out = Annotated[Path, typer.Option(help="Folder of the run. The same command continues a run that was stopped.")]
Model = Annotated[str | None, typer.Option(help="Solver, named as in `solve`.")]
Critic = Annotated[str | None, typer.Option(help="Model that judges and distils. Default: the solver.")]
Arms = Annotated[
    str,
    typer.Option(
        help="Arms, comma-separated: baseline, memory, examples, vote, vote+memory, vote+matts, vote+examples, "
        "vote+recurring, half, gated, gated+examples, gated+recurring, guarded, guarded+examples, "
        "guarded+recurring, levels, long, shuffled, random, filler, examples-random, recurring, recurring-random, "
        "written. A run that has ended can be given more of them."
    ),
]
Seeds = Annotated[str, typer.Option(help="Seeds, comma-separated.")]
Limit = Annotated[int, typer.Option(min=1, help="Number of problems to compare on.")]
TrainLimit = Annotated[int, typer.Option(min=1, help="Number of problems to learn from.")]
Judge = Annotated[Truth, typer.Option(help="Judge of what is learned: oracle (the known answer) or self (a model).")]
MaxTokens = Annotated[int, typer.Option(min=1, help="Token limit of one solution.")]
Temperature = Annotated[float, typer.Option(min=0, max=2, help="Sampling temperature of the solver.")]
K = Annotated[int, typer.Option(min=1, help="Number of experiences to retrieve.")]
MinScore = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, help="Lowest similarity of what is shown.", show_default="none for lessons, 0.35 for examples"
    ),
]
Outcome = Annotated[OutcomeFilter, typer.Option(help="Which lessons to show.")]
Sizes = Annotated[str, typer.Option(help="Also compare banks of these smaller sizes, comma-separated: 10,40.")]
Attempts = Annotated[str, typer.Option(help="Numbers of attempts of the arms that vote, comma-separated.")]
Modes = Annotated[
    str,
    typer.Option(
        help="How several attempts are made, comma-separated: parallel (a vote), sequential (one, checked again)."
    ),
]
Agreement = Annotated[
    float, typer.Option(min=0, max=1, help="Share of the first attempts of the gated arms that must agree.")
]
FixedK = Annotated[
    bool, typer.Option("--fixed-k", help="Make all k attempts, also where two checks in a row changed nothing.")
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        min=1, help="Number of problems to work on at once.", show_default="as many as a local model takes, else 1"
    ),
]
LeaveOut = Annotated[
    bool, typer.Option("--leave-out-failed", help="Go on without problems that could not be learned from.")
]
Tunable = Annotated[str | None, typer.Option(help="PATH.gguf or a pulled model: it solves, and is tuned.")]
Samples = Annotated[int, typer.Option(min=2, help="Number of attempts at a train problem to learn from.")]
PriceIn = Annotated[float, typer.Option(min=0, help="Price of a million prompt tokens.")]
PriceOut = Annotated[float, typer.Option(min=0, help="Price of a million reply tokens.")]
