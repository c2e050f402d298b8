"""Protocol `self-improve`: does a model get better by what it solved itself, and by that alone?

The base solves the train problems: once as in `phase1`, which fills the bank, and several times, of which the right
solutions are training data. Each arm then answers the same test problems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reasoningbank_langgraph.embeddings import default_embeddings
from reasoningbank_langgraph.experiments.run import run_experiment
from reasoningbank_langgraph.train.base import gguf_of
from reasoningbank_langgraph.train.improvement.adapters import Adapters
from reasoningbank_langgraph.train.improvement.workshop import Workshop, on_this_machine, settings_of
from reasoningbank_langgraph.train.tuning import require_libraries

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from reasoningbank_langgraph.experiments.config import ExperimentConfig


def run_self_improve(
    config: ExperimentConfig, out: Path, *, console: Console | None = None, workshop: Workshop | None = None
) -> Path:
    """Carry out an experiment with adapters of the model that its configuration names; returns the page.

    Args:
        config: of protocol `self-improve`; its model is a GGUF file, or one that was pulled.
        out: folder of the run. One that was stopped goes on there, a training from its last checkpoint.
        console: where progress is shown; default standard output.
        workshop: trains and serves the adapters; default `tune`, and servers on this machine, one after the other.

    Raises:
        ExperimentError: as `run_experiment`, or the settings of the adapters cannot be used.
        HarvestError: no solution is left to learn from.
        TuneError: there is too little to learn, or the model cannot be tuned.
        ModelError: a model cannot be used.
        MissingDependencyError: an extra is not installed.
    """
    require_libraries()
    settings_of(config)
    config = on_this_machine(config)
    adapters = Adapters(config, out, gguf_of(config.model), default_embeddings(), workshop or Workshop())
    return run_experiment(config, out, console=console, tuned=adapters.model)
