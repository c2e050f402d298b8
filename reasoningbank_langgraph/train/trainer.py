"""The trainer of TRL as `tune` sets it up, and how far it is."""

from __future__ import annotations

import json
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph.train.card import Point

if TYPE_CHECKING:
    from pathlib import Path

    from reasoningbank_langgraph.train.base import Base
    from reasoningbank_langgraph.train.rows import Row
    from reasoningbank_langgraph.train.settings import TuneSettings

_STATE = "trainer_state.json"
_VALIDATIONS = 2
"""In an epoch, and each is a checkpoint: what a kill costs at most is half an epoch."""


class TuneProgress(NamedTuple):
    """How far a training is."""

    step: int
    steps: int
    """How many there are if it is not stopped early."""
    loss: float | None
    """Of the last batch."""
    validation_loss: float | None
    """Where it was computed at this step."""
    seconds_left: float | None
    """If it is not stopped early, as fast as the steps of this process; None before the first."""


def make_trainer(
    base: Base,
    train: list[Row],
    validation: list[Row],
    settings: TuneSettings,
    folder: Path,
    progress: Callable[[TuneProgress], None] | None,
) -> Any:
    """Return the trainer of an adapter: loss on the completions only, and the best weights at the end."""
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import EarlyStoppingCallback, PrinterCallback, set_seed
    from trl import SFTTrainer

    set_seed(settings.seed)
    trainer = SFTTrainer(
        model=base.model,
        processing_class=base.tokenizer,
        args=_arguments(settings, folder, steps=ceil(len(train) / settings.batch), bits=base.model.dtype.itemsize * 8),
        train_dataset=Dataset.from_list(train),
        eval_dataset=Dataset.from_list(validation),
        peft_config=LoraConfig(
            r=settings.rank, lora_alpha=2 * settings.rank, target_modules=list(settings.targets), task_type="CAUSAL_LM"
        ),
        callbacks=[EarlyStoppingCallback(settings.patience), _watch(progress)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _arguments(settings: TuneSettings, folder: Path, steps: int, bits: int) -> Any:
    """Return the arguments of the trainer, given the steps of an epoch and the bits of a weight."""
    import torch
    from trl import SFTConfig

    on_gpu = torch.cuda.is_available()
    together = settings.batch if on_gpu else 1  # a CPU gains nothing from it, and would work on padding
    every = max(1, steps // _VALIDATIONS)
    return SFTConfig(
        output_dir=str(folder),
        max_length=None,
        completion_only_loss=True,
        num_train_epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=0.05,
        per_device_train_batch_size=together,
        per_device_eval_batch_size=together,
        gradient_accumulation_steps=settings.batch // together,
        gradient_checkpointing=None,  # which is off: time is short, memory is not
        bf16=bits == 16,  # what is learned keeps 32
        use_cpu=not on_gpu,
        dataloader_pin_memory=on_gpu,
        seed=settings.seed,
        eval_strategy="steps",
        eval_steps=every,
        save_steps=every,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        restore_callback_states_from_checkpoint=True,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
    )


def _watch(progress: Callable[[TuneProgress], None] | None) -> Any:
    from transformers import TrainerCallback

    class Watch(TrainerCallback):  # type: ignore[misc]
        """Tells how far it is, and has the last step validated too."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.began, self.first = time.monotonic(), state.global_step

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.global_step >= state.max_steps:
                control.should_evaluate = control.should_save = True

        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float], **_: Any) -> None:
            if progress is None or not logs.keys() & {"loss", "eval_loss"}:
                return
            done = state.global_step - self.first
            pace = (time.monotonic() - self.began) / done if done else None
            left = None if pace is None else pace * (state.max_steps - state.global_step)
            progress(TuneProgress(state.global_step, state.max_steps, logs.get("loss"), logs.get("eval_loss"), left))

    return Watch()


def learn(trainer: Any, folder: Path) -> None:
    """Train to the end, from the last checkpoint in a folder where there is one, and take the best weights.

    A process may have died behind its last step: what has ended is not taken up, or one more step would be learned.
    """
    from peft import load_peft_weights, set_peft_model_state_dict
    from transformers import TrainerState

    checkpoint = last_checkpoint(folder)
    saved = checkpoint and TrainerState.load_from_json(str(checkpoint / _STATE))
    if saved and saved.stateful_callbacks["TrainerControl"]["args"]["should_training_stop"]:
        trainer.state = saved
    else:
        trainer.args.eval_on_start = checkpoint is None
        trainer.train(resume_from_checkpoint=checkpoint and str(checkpoint))
    best = folder / f"checkpoint-{trainer.state.best_global_step}"
    set_peft_model_state_dict(trainer.model, load_peft_weights(str(best), device="cpu"))


def last_checkpoint(folder: Path) -> Path | None:
    """Return the last checkpoint that is whole, and delete those that are not: a process died while it wrote them."""
    for path in sorted(folder.glob("checkpoint-*"), key=lambda path: -int(path.name.partition("-")[2])):
        try:
            json.loads((path / _STATE).read_text(encoding="utf-8"))  # it is written last
        except (OSError, ValueError):
            shutil.rmtree(path)
        else:
            return path
    return None


def curve(history: list[dict[str, Any]]) -> list[Point]:
    """Return each validation in what a trainer logged, with the last loss before it."""
    points: list[Point] = []
    loss = None
    for entry in history:
        loss = entry.get("loss", loss)
        if "eval_loss" in entry:
            points.append(Point(entry["step"], loss, entry["eval_loss"]))
    return points


@contextmanager
def alone() -> Iterator[None]:
    """Keep the libraries off the network and from printing bars and advice, then restore their settings.

    TRL would report each training to the hub.
    """
    import datasets
    from huggingface_hub import constants
    from transformers.utils import logging

    offline, level = constants.HF_HUB_OFFLINE, logging.get_verbosity()
    shown = [those for those in (logging, datasets) if those.is_progress_bar_enabled()]
    constants.HF_HUB_OFFLINE = True
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    datasets.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of one of them to another
            yield
    finally:
        constants.HF_HUB_OFFLINE = offline
        logging.set_verbosity(level)
        for those in shown:
            those.enable_progress_bar()
