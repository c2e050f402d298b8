"""`reasoningbank tune`: an adapter of a local model, trained on the conversations of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reasoningbank_langgraph.cli.terminal import console, named_errors, progress_bar

if TYPE_CHECKING:
    from reasoningbank_langgraph.train import Card, TuneProgress

Rank = Annotated[int, typer.Option(min=1, help="Rank of the adapter.")]
Epochs = Annotated[float, typer.Option(help="How often each row is learned, at most.")]
LearningRate = Annotated[float, typer.Option(help="Learning rate of the adapter at its highest.")]
Batch = Annotated[int, typer.Option(min=1, help="Rows a step.")]
Longest = Annotated[int, typer.Option(min=1, help="Tokens of a row; longer ones are left out.")]
Patience = Annotated[int, typer.Option(min=1, help="Validations in a row that may bring no lower loss.")]
TUNING = ("rank", "epochs", "learning_rate", "batch", "longest", "patience")
"""Options of every command that trains."""


def tune(
    data: Annotated[
        Path, typer.Option(help="Folder with train.jsonl and validation.jsonl, or one file, a tenth of it held out.")
    ],
    base: Annotated[str, typer.Option(help="PATH.gguf, a pulled model, or a folder of Hugging Face.")],
    out: Annotated[Path, typer.Option(help="Folder for the adapter; used again, it goes on or does nothing.")],
    rank: Rank = 8,
    targets: Annotated[str, typer.Option(help="Layers to adapt.")] = "q_proj,k_proj,v_proj,o_proj",
    epochs: Epochs = 3.0,
    learning_rate: LearningRate = 2e-4,
    batch: Batch = 8,
    longest: Longest = 1024,
    patience: Patience = 2,
    seed: Annotated[int, typer.Option(help="Of the order of rows and of the first weights.")] = 0,
) -> None:
    """Train a LoRA adapter of a local model on conversations, and write it for PEFT and for llama.cpp.

    Training stops where the validation loss does. If interrupted, run it again to resume. `reasoningbank adapter
    accept` tells whether the adapter is better than its base. Needs the extra `train`.
    """
    from reasoningbank_langgraph.train import TuneSettings
    from reasoningbank_langgraph.train import tune as train
    from reasoningbank_langgraph.train.base import base_path

    layers = tuple(targets.replace(" ", "").split(","))
    try:
        settings = TuneSettings(rank, layers, epochs, learning_rate, batch, longest, patience, seed)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    with named_errors(), _progress() as update:
        card = train(data, base=base_path(base), out=out, settings=settings, progress=update)
    _report(card, out)


@contextmanager
def _progress() -> Iterator[Callable[[TuneProgress], None]]:
    with progress_bar() as bar:
        task = bar.add_task("loading the model", total=None)

        def update(at: TuneProgress) -> None:
            if at.validation_loss is None:
                bar.update(task, description=f"loss {at.loss:.4f}", completed=at.step, total=at.steps)
            else:
                left = "" if at.seconds_left is None else f", {at.seconds_left / 60:.0f} minutes left at most"
                bar.console.print(f"step {at.step} of {at.steps}: validation loss {at.validation_loss:.4f}{left}")

        yield update


def _report(card: Card, out: Path) -> None:
    console.print(
        f"{card.train} rows learned in {card.steps} steps; validation loss {card.before:.4f} without the adapter, "
        f"{card.after:.4f} with it, after step {card.best_step}\n"
        f"{card.seconds / 60:.1f} minutes on {card.device}, {card.peak_bytes / 1e9:.2f} GB of memory at the peak\n"
        f"{out}\nTry it with: --model {out}\n"
        f"Compare it with its base: reasoningbank adapter accept {out} --problems FILE"
    )
