"""Training data from the attempts of a bank."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.bank.reading import BankReader

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from reasoningbank_langgraph.train.harvest import Harvest
    from reasoningbank_langgraph.train.harvest.making import Prompt


class Harvesting(BankReader):
    """Part of `MemoryBank`: what makes training data of its attempts."""

    def harvest(
        self,
        path: str | os.PathLike[str],
        *,
        runs: Iterable[str | os.PathLike[str]] = (),
        arms: Sequence[str] = (),
        judges: Sequence[str] = ("reference", "oracle", "tool"),
        not_in: Iterable[str | os.PathLike[str]] = (),
        samples: int = 4,
        validation: float = 0.1,
        prompt: Prompt | None = None,
        embeddings: Embeddings | None = None,
    ) -> Harvest:
        """Make training data of the attempts that were checked: a folder of JSONL files that TRL reads, and a card.

        `train.jsonl` holds right solutions, asked as the solver asks without memory, `preferences.jsonl` pairs of a
        right and a wrong one from one group of attempts. Copies are left out and shorter solutions preferred. A row
        weighs 2 if no attempt of the first experience with its task solved it and a later one did, else 1.

        Args:
            path: folder to make.
            runs: folders of experiments with their texts, whose rows are harvested too.
            arms: whose rows; by default those that learned from the train problems.
            judges: names of judges to believe. The default ones check; `"llm"` adds what a model called a success.
            not_in: files of problems for evaluation; attempts that would give one away are left out and counted.
            samples: largest number of solutions, and of pairs, of a task.
            validation: share of tasks held back for validation, with their near copies.
            prompt: what another solver than the bundled one sends for a task.
            embeddings: tell near copies by meaning too; None by text alone.

        Raises:
            HarvestError: nothing is left, the folder holds other things, or a run showed the bank of another tenant.
            ProblemFileError: an evaluation file cannot be read.
            ExperimentError: the rows of a run cannot be read.
            ValueError: a number makes no sense.
        """
        from reasoningbank_langgraph.train.harvest import harvest

        chosen: dict[str, Any] = {"runs": runs, "arms": arms, "judges": judges, "not_in": not_in, "samples": samples}
        return harvest(path, self, **chosen, validation=validation, prompt=prompt, embeddings=embeddings)
