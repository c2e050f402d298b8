"""The adapters of an experiment: harvested, trained and served when an arm asks for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from reasoningbank_langgraph.experiments.arms import LEARNING, OTHER_SAMPLES, SAMPLES, arms_of
from reasoningbank_langgraph.experiments.results import ADAPTERS
from reasoningbank_langgraph.experiments.training import AdapterSummary
from reasoningbank_langgraph.files import write_whole
from reasoningbank_langgraph.train.harvest import harvest, read_card
from reasoningbank_langgraph.train.harvest.card import CARD
from reasoningbank_langgraph.train.improvement.datasets import characters_taught, write_equal_sets
from reasoningbank_langgraph.train.improvement.workshop import FOLDER, TRAINING, Workshop, tune_in
from reasoningbank_langgraph.train.rows import TRAIN, VALIDATION

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

    from reasoningbank_langgraph.experiments.config import ExperimentConfig
    from reasoningbank_langgraph.train.card import Card

_TOLD = "sets.json"
"""The file that the training data of a run has when it is whole."""
_SOURCES = {"adapter": (LEARNING, SAMPLES), "adapter-other": (OTHER_SAMPLES,), "adapter-wrong": (LEARNING, SAMPLES)}
"""The arms whose solutions each adapter learns from. A problem that `learning` missed weighs more."""


class Adapters:
    """The adapters of a run, by the names of its arms.

    Args:
        config: of the run.
        out: its folder, with the rows of everything that is learned from.
        base: the model that is tuned.
        embeddings: tell near copies of test problems by meaning.
        workshop: makes and serves them.
    """

    def __init__(
        self, config: ExperimentConfig, out: Path, base: Path, embeddings: Embeddings, workshop: Workshop
    ) -> None:
        self.config, self.out, self.base, self.embeddings, self.workshop = config, out, base, embeddings, workshop
        self.names = list(dict.fromkeys(arm.solver for arm in arms_of(config) if arm.solver))

    @contextmanager
    def model(self, name: str) -> Iterator[BaseChatModel]:
        """Return the model with an adapter; what it needs is made unless it is there.

        Raises:
            HarvestError: there is nothing to learn from.
            TuneError: there is too little of it, or the base cannot be tuned.
            ExperimentError: the base is another file by now.
            ModelError: the model cannot be served.
        """
        self._note(name, tune_in(self.out, name, self._sets() / name, self.base, self.config, self.workshop))
        with self.workshop.serve(self.out / FOLDER / name, self.config.temperature) as chat:
            yield chat

    def _sets(self) -> Path:
        """Return the folder of the training data, made once: adapters of one run learn from the same solutions."""
        sets = self.out / TRAINING
        if not (sets / _TOLD).exists():
            folders = {name: self._harvested(name) for name in self.names}
            write_equal_sets(folders, sets, self.config.seeds[0])
            write_whole(sets / _TOLD, json.dumps(self.names) + "\n")
        return sets

    def _harvested(self, name: str) -> Path:
        folder = self.out / TRAINING / f"harvest-{name}"
        if not (folder / CARD).exists():
            harvest(
                folder,
                None,
                "failure" if name == "adapter-wrong" else "success",
                runs=[self.out],
                arms=_SOURCES[name],
                not_in=[self.config.test],
                samples=_samples(name, self.config),
                embeddings=self.embeddings,
            )
        return folder

    def _note(self, name: str, card: Card) -> None:
        """Write down, without texts, what an adapter was made from and how well it fits."""
        path, made = self.out / ADAPTERS, read_card(self.out / TRAINING / f"harvest-{name}")
        there = json.loads(path.read_bytes()) if path.exists() else []
        told = AdapterSummary(
            adapter=name,
            solutions=made.solutions,
            left_out=dict(made.left_out),
            harvested=sum(made.files[name].rows for name in (TRAIN, VALIDATION)),
            train=card.train,
            validation=card.validation,
            too_long=card.left_out,
            characters=characters_taught(self.out / TRAINING / name),
            data_sha256=card.data_sha256,
            loss_before=card.before,
            loss_after=card.after,
            steps=card.steps,
            best_step=card.best_step,
            seconds=card.seconds,
        )
        kept = [entry for entry in there if entry["adapter"] != name]
        write_whole(path, json.dumps([*kept, told.to_json()], indent=1) + "\n")


def _samples(name: str, config: ExperimentConfig) -> int:
    """Return the most solutions of a task: a control draws from all of them."""
    return 4 if name == "adapter" else config.samples + 1
