"""From the bank that was learned to the banks that are shown: frozen, and for some arms only a part of it."""

from __future__ import annotations

from collections.abc import Collection

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.errors import ExperimentError
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.learning import LEARNED
from reasoningbank_langgraph.records import MemoryItem
from reasoningbank_langgraph.store import ChromaStore


def frozen_bank(
    store: ChromaStore, config: ExperimentConfig, size: int | None, train_ids: Collection[str]
) -> MemoryBank:
    """Return a bank of the lessons from some train problems, of the outcome the configuration asks for.

    Args:
        store: holds the learned bank.
        config: which outcomes are shown.
        size: names the bank; None for the one of all train problems.
        train_ids: the problems its lessons may come from.

    Raises:
        ExperimentError: there is a bank of this name and it holds something else.
    """
    learned = MemoryBank(store, LEARNED, match=config.match)
    lessons = [item for item in learned.items() if item.task_id in train_ids and _fits(item, config)]
    bank = MemoryBank(store, ("experiment", f"bank-{size or 'all'}"), match=config.match)
    strangers = {item.id for item in bank.items()} - {item.id for item in lessons}
    if strangers:
        raise ExperimentError(f"bank {bank.namespace} holds {len(strangers)} items that no train problem taught")
    experiences: dict[str, list[MemoryItem]] = {}
    for item in lessons:
        experiences.setdefault(item.experience_id, []).append(item)
    for items in experiences.values():
        bank.add(items)
    return bank


def _fits(item: MemoryItem, config: ExperimentConfig) -> bool:
    return config.outcome in ("both", item.outcome)
