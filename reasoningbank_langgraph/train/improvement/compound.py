"""Protocol `compound`: cycles of learn, harvest, tune and accept, each from what the last one left.

In a cycle the model as it is solves the train problems with the memory of the bank so far, and the bank learns. All
right solutions so far are training data; the base is tuned anew, and its adapter is used only if it is better on the
validation problems. Then model and memory are measured on the test problems. Two cycles in a row that bring no adapter
end the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from reasoningbank_langgraph.embeddings import default_embeddings
from reasoningbank_langgraph.errors import ExperimentError
from reasoningbank_langgraph.experiments.arms import CYCLE
from reasoningbank_langgraph.experiments.calls import Models, models_of
from reasoningbank_langgraph.experiments.folder import alone_in
from reasoningbank_langgraph.experiments.memories import Shown, no_memory
from reasoningbank_langgraph.experiments.report import write_report
from reasoningbank_langgraph.experiments.report.report_files import read_cycles
from reasoningbank_langgraph.experiments.results import CYCLES
from reasoningbank_langgraph.experiments.run import Run
from reasoningbank_langgraph.experiments.stats import ALPHA
from reasoningbank_langgraph.files import append_line
from reasoningbank_langgraph.math_solver.problems import read_problems
from reasoningbank_langgraph.records import task_key
from reasoningbank_langgraph.train.adapters.trial import require_enough
from reasoningbank_langgraph.train.adapters.validation import answered_problems
from reasoningbank_langgraph.train.base import gguf_of
from reasoningbank_langgraph.train.improvement.cycle import Cycle, model_in_use
from reasoningbank_langgraph.train.improvement.workshop import (
    Workshop,
    on_this_machine,
    require_same_base,
    settings_of,
)
from reasoningbank_langgraph.train.tuning import require_libraries

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from reasoningbank_langgraph.experiments.config import ExperimentConfig
    from reasoningbank_langgraph.experiments.training import CycleSummary

_IN_VAIN = 2
"""Cycles in a row without a new adapter that end a run."""


class Compound:
    """One experiment in cycles.

    Args:
        config: its settings.
        out: its folder; a run that was stopped goes on there.
        models: base, critic and embedder.
        base: the file of the model that is tuned.
        workshop: trains, tries and serves adapters.
        console: where progress is shown.

    Raises:
        ExperimentError: the folder belongs to another experiment or other models, or the problems cannot be used.
    """

    def __init__(
        self, config: ExperimentConfig, out: Path, models: Models, base: Path, workshop: Workshop, console: Console
    ) -> None:
        _require_apart(config)
        self.base, self.workshop = base, workshop
        self.run = Run(config, out, models._replace(tuned=self._in_use), console)

    def _in_use(self, _: str) -> AbstractContextManager[BaseChatModel]:
        return model_in_use(self.run, self.workshop)

    def carry_out(self) -> None:
        """Measure the base, then go through the cycles, as far as they are not there yet.

        Raises:
            UnlearnedProblemsError: problems failed, and they are not to be left out.
            ExperimentError: another run is at work in the folder, or the model is another file by now.
            TrialError: the validation problems cannot decide.
        """
        out, run = self.run.out, self.run
        with alone_in(out), run.progress:
            require_same_base(out, self.base)
            run.note_duplicates(run.problems.train)
            run.compare({f"{CYCLE}0": Shown(no_memory)})
            while len(before := read_cycles(out)) < run.config.cycles and not in_vain(before):
                append_line(out / CYCLES, Cycle(run, before, self.base, self.workshop).carry_out().to_json())


def _require_apart(config: ExperimentConfig) -> None:
    """Refuse validation problems that are test problems: they choose what is measured, or could decide nothing."""
    assert config.validation is not None  # noqa: S101 - the protocol has some
    tested = {task_key(problem.text) for problem in read_problems(config.test)}
    tried = {task_key(problem.text): problem.id for problem in answered_problems(config.validation)}
    require_enough(len(tried), ALPHA)
    if both := [tried[key] for key in tried if key in tested]:
        raise ExperimentError(
            f"problem {both[0]!r} of {config.validation} is a test problem too: it cannot choose and measure"
        )


def in_vain(cycles: Sequence[CycleSummary]) -> bool:
    """Say whether the last two cycles brought no adapter."""
    return len(cycles) >= _IN_VAIN and not any(one.accepted for one in cycles[-_IN_VAIN:])


def run_compound(config: ExperimentConfig, out: Path, *, console: Console | None = None) -> Path:
    """Carry out an experiment in cycles with the model that its configuration names; returns the page.

    Args:
        config: of protocol `compound`; its model is a GGUF file, or one that was pulled.
        out: folder of the run. One that was stopped goes on there, with the step it was at.
        console: where progress is shown; default standard output.

    Raises:
        ExperimentError: the folder belongs to another experiment, or the problems or the settings cannot be used.
        TuneError: the model cannot be tuned.
        TrialError: the validation problems cannot decide whether an adapter is better.
        ModelError: a model cannot be used.
        MissingDependencyError: an extra is not installed.
    """
    require_libraries()
    settings_of(config)
    config = on_this_machine(config)
    console, base = console or Console(), gguf_of(config.model)
    with models_of(config, default_embeddings(), console) as models:
        Compound(config, out, models, base, Workshop(), console).carry_out()
    write_report(out)
    return out / "report.html"
