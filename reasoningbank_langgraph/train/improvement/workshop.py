"""What trains, tries and serves the adapters of an experiment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from reasoningbank_langgraph.errors import ExperimentError
from reasoningbank_langgraph.local.adapters import Decision, accepted, read_history
from reasoningbank_langgraph.local.model_choice import resolve_model
from reasoningbank_langgraph.local.model_files import PACKAGED
from reasoningbank_langgraph.local.tuned import SETTINGS, digest
from reasoningbank_langgraph.train.adapters import accept
from reasoningbank_langgraph.train.settings import TuneSettings
from reasoningbank_langgraph.train.tuning import tune

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from reasoningbank_langgraph.experiments.config import ExperimentConfig
    from reasoningbank_langgraph.train.card import Card

TRAINING, FOLDER = "training", "adapters"
"""Folders in that of a run: of the training data, and of the adapters."""


@contextmanager
def serve(folder: Path, temperature: float) -> Iterator[BaseChatModel]:
    """Serve on this machine an adapter with its base, or of a folder of adapters the one in use."""
    with resolve_model(str(folder), temperature=temperature) as resolved:
        yield resolved.chat


def in_use(folder: Path) -> str | None:
    """Return the name of the adapter that was accepted last."""
    standing = accepted(read_history(folder))
    return standing[-1].adapter if standing else None


class Workshop(NamedTuple):
    """What trains, tries and serves adapters."""

    tune: Callable[..., Card] = tune
    serve: Callable[[Path, float], AbstractContextManager[BaseChatModel]] = serve
    """From the folder of an adapter, or of all, and a temperature to the model that has it, or the one in use."""
    accept: Callable[..., Decision] = accept
    in_use: Callable[[Path], str | None] = in_use
    """From the folder of all adapters to the name of the one in use; None for the base."""


def tune_in(out: Path, name: str, data: Path, base: Path, config: ExperimentConfig, workshop: Workshop) -> Card:
    """Have an adapter of a run tuned, unless it is there: all of them from one base.

    Raises:
        ExperimentError: the base is another file than the one that an adapter of the run was tuned on.
        TuneError: there is too little to learn, or the base cannot be tuned.
    """
    require_same_base(out, base)
    return workshop.tune(data, base=base, out=out / FOLDER / name, settings=settings_of(config))


def on_this_machine(config: ExperimentConfig) -> ExperimentConfig:
    """Name the packaged model where none is named: what the environment offers may be no file that can be tuned."""
    return config if config.model else config.model_copy(update={"model": PACKAGED})


def require_same_base(out: Path, base: Path) -> None:
    """Refuse a base that is another file than the one that an adapter of a run was tuned on.

    Raises:
        ExperimentError: it is.
    """
    files = (out / FOLDER).glob(f"*/{SETTINGS}")
    there = {json.loads(file.read_bytes())["base_sha256"]: file.parent.name for file in files}
    if there and (others := there.keys() - {digest(base)}):
        problem = f"is not the file that {there[others.pop()]} was tuned on"
        raise ExperimentError(f"{base} {problem}: bring that back, or begin again in another folder")


def settings_of(config: ExperimentConfig) -> TuneSettings:
    """Return the settings of the training that a configuration names.

    Raises:
        ExperimentError: there is no such setting, or it makes no sense.
    """
    try:
        given = {**config.tune, **({"targets": tuple(config.tune["targets"])} if "targets" in config.tune else {})}
        return TuneSettings(**given)
    except (TypeError, ValueError) as error:
        raise ExperimentError(f"the settings of the adapters cannot be used: {error}") from error
