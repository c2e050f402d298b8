"""`tune`: train a LoRA adapter, stop where the validation loss does, go on after a kill."""

from __future__ import annotations

import json
import math
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reasoningbank_langgraph.errors import MissingDependencyError, TuneError
from reasoningbank_langgraph.experiments.folder import alone_in
from reasoningbank_langgraph.local.tuned import SETTINGS, digest
from reasoningbank_langgraph.records import task_key
from reasoningbank_langgraph.store.folder.lock import LOCK_FILE
from reasoningbank_langgraph.train.adapter_file import write_adapter_file
from reasoningbank_langgraph.train.base import fitting, load_base
from reasoningbank_langgraph.train.card import Card, write_json
from reasoningbank_langgraph.train.rows import Rows, read_rows
from reasoningbank_langgraph.train.settings import TuneSettings
from reasoningbank_langgraph.train.trainer import TuneProgress, alone, curve, learn, make_trainer

_LIBRARIES = ("torch", "transformers", "peft", "trl", "gguf")
_CHECKPOINTS = "checkpoints"


def tune(
    data: str | Path,
    *,
    base: str | Path,
    out: str | Path,
    settings: TuneSettings | None = None,
    progress: Callable[[TuneProgress], None] | None = None,
) -> Card:
    """Train a LoRA adapter of a model on conversations; a call that was killed is taken up by the next one like it.

    Only what the assistant says is learned, in the chat template of the base. The validation loss is computed twice
    an epoch; training ends when it does not fall any more, and the weights of its lowest point are kept.

    Args:
        data: a folder with `train.jsonl` and `validation.jsonl`, or one such file, a tenth of whose tasks is held out.
            A line holds `messages`, or `prompt` and `completion`, as TRL reads them, and counts as often as its
            `weight` says.
        base: a GGUF file, which is dequantised, or a folder of Hugging Face: of the kind llama, mistral, qwen2 or
            qwen3, with a chat template. Nothing is downloaded.
        out: folder for the adapter, made if it is not there. It gets the adapter for PEFT, the same for llama.cpp as
            a GGUF file of the folder's name, `README.md`, and last `card.json`.
        settings: how to train; default `TuneSettings()`.
        progress: called with a `TuneProgress` after each step and each validation.

    Returns:
        The card. If the folder holds an adapter of the same data, base and settings, nothing is trained.

    Raises:
        TuneError: the data, the base or the folder cannot be used, as where another process trains in it, or the loss
            is not a number any more.
        AdapterError: the card of the adapter in the folder cannot be read.
        MissingDependencyError: the extra `train` is not installed.
    """
    require_libraries()
    data, base, out = (Path(path).expanduser().absolute() for path in (data, base, out))
    if not base.exists():
        raise TuneError(f"there is no base {base}: name a GGUF file or a folder")
    rows, settings = read_rows(data), settings or TuneSettings()
    origin: dict[str, Any] = {"base_sha256": digest(base), "data_sha256": rows.sha256}
    out.mkdir(parents=True, exist_ok=True)
    with alone_in(out, TuneError):
        _claim(out, {**origin, **asdict(settings), "targets": list(settings.targets)})
        card = Card.read(out)
        if card is None:
            with alone():
                card = _train(rows, base, {"data": str(data), **origin}, out, settings, progress)
        shutil.rmtree(out / _CHECKPOINTS, ignore_errors=True)
    return card


def require_libraries() -> None:
    """Raise `MissingDependencyError` unless the extra `train` is installed."""
    if missing := next((name for name in _LIBRARIES if find_spec(name) is None), None):
        raise MissingDependencyError(missing, "train")


def _claim(out: Path, wanted: dict[str, Any]) -> None:
    """Take an empty folder, or go on in one that was made for the same."""
    path = out / SETTINGS
    if path.exists():
        there = json.loads(path.read_text(encoding="utf-8"))
        differing = [f"{name} ({there.get(name)!r} there, {wanted[name]!r} here)" for name in wanted
                     if wanted[name] != there.get(name)]  # fmt: skip
        if differing:
            raise TuneError(f"{out} holds an adapter with other {', '.join(differing)}: name another folder")
    elif {child.name for child in out.iterdir()} - {f"{SETTINGS}.draft", LOCK_FILE}:
        raise TuneError(f"{out} is not empty and holds no adapter: name another folder")
    else:
        write_json(path, wanted)


def _train(
    rows: Rows,
    base: Path,
    origin: dict[str, Any],
    out: Path,
    settings: TuneSettings,
    progress: Callable[[TuneProgress], None] | None,
) -> Card:
    began, loaded = time.monotonic(), load_base(base)
    train, validation = (fitting(those, loaded.tokenizer, settings.longest) for those in rows[:2])
    if not train or not validation:
        raise TuneError(f"every row is longer than {settings.longest} tokens, to train on or to validate with")
    trainer = make_trainer(loaded, train, validation, settings, out / _CHECKPOINTS, progress)
    learn(trainer, out / _CHECKPOINTS)
    points = curve(trainer.state.log_history)
    if not all(math.isfinite(point.validation_loss) for point in points):
        raise TuneError(f"the loss is not a number any more: lower the learning rate of {settings.learning_rate:g}")
    _save(trainer.model, base, out)
    card = Card(
        name=out.name,
        base=str(base),
        adapter=f"{out.name}.gguf",
        settings=asdict(settings),
        train=len(train),
        validation=len(validation),
        left_out=len(rows.train) + len(rows.validation) - len(train) - len(validation),
        curve=points,
        best_step=trainer.state.best_global_step,
        steps=trainer.state.global_step,
        seconds=round(time.monotonic() - began, 1),
        tasks=sorted({task_key(task) for task, _ in rows.told}),
        **origin,
        **_measured(),
    )
    card.write(out)
    return card


def _save(model: Any, base: Path, out: Path) -> None:
    model.peft_config["default"].base_model_name_or_path = str(base)
    model.save_pretrained(out, save_embedding_layers=False)
    write_adapter_file(out, model.config, out / f"{out.name}.gguf")


def _measured() -> dict[str, Any]:
    import resource

    import torch

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak = used if sys.platform == "darwin" else used * 1024
    on_gpu = torch.cuda.is_available()
    return {
        "peak_bytes": peak + (torch.cuda.max_memory_allocated() if on_gpu else 0),
        "device": torch.cuda.get_device_name() if on_gpu else "CPU",
        "versions": {name: version(name) for name in _LIBRARIES},
    }
