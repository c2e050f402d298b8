"""From what was learned to the banks that are shown: frozen, and for some arms only a part of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from uuid import NAMESPACE_OID, uuid5

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.errors import FrozenBankError
from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.results import ResultRow
from reasoningbank_langgraph.records import MemoryItem
from reasoningbank_langgraph.store import ChromaStore

Lessons = Mapping[str, Sequence[MemoryItem]]
"""What each train problem taught, by id of the problem, in the order of the problems."""


def frozen_bank(store: ChromaStore, config: ExperimentConfig, arm: Arm, lessons: Lessons) -> MemoryBank:
    """Return the bank of an arm: the lessons of the outcome the configuration asks for, in order of the problems.

    Ids follow from the problem and the place of the lesson, so equal lessons make equal banks.

    Raises:
        FrozenBankError: there is a bank of this name and it holds lessons that were not learned here.
    """
    bank = MemoryBank(store, ("experiment", f"{arm.teacher.name}-{arm.bank or 'all'}"), match=config.match)
    experiences = [_named(arm.teacher, problem, items) for problem, items in lessons.items()]
    wanted = [[item for item in items if config.outcome in ("both", item.outcome)] for items in experiences]
    strangers = {item.id for item in bank.items()} - {item.id for items in wanted for item in items}
    if strangers:
        raise FrozenBankError(arm.name, f"holds {len(strangers)} lessons that are not among those learned")
    for items in wanted:
        bank.add(items)
    return bank


def _named(teacher: Arm, problem: str, items: Sequence[MemoryItem]) -> list[MemoryItem]:
    experience = uuid5(NAMESPACE_OID, f"{teacher.name}|{problem}")
    return [
        item.model_copy(update={"id": str(uuid5(experience, str(place))), "experience_id": str(experience)})
        for place, item in enumerate(items)
    ]


def require_learned(teacher: str, lessons: Lessons, rows: Iterable[ResultRow]) -> None:
    """Refuse to compare with fewer lessons than the rows say were learned: a published run has rows and no lessons.

    Raises:
        FrozenBankError: the lessons of the rows of this arm are not there.
    """
    held = sum(map(len, lessons.values()))
    learned = sum(row.learned for row in rows if row.arm == teacher and row.error is None)
    if held != learned:
        raise FrozenBankError(teacher, f"holds {held} lessons and its rows say that {learned} were learned")


def digest_of(bank: MemoryBank) -> str:
    """Return a short name for the ids and contents of a bank."""
    fields = {"id", "title", "description", "content", "outcome", "task_id"}
    contents = [item.model_dump(mode="json", include=fields) for item in bank.items()]
    text = json.dumps(sorted(contents, key=lambda content: str(content["id"])), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def require_same_bank(arm: str, digest: str, rows: Iterable[ResultRow]) -> None:
    """Refuse to add to rows that were made with another bank.

    Raises:
        FrozenBankError: rows of the arm were made with another bank than the one with this digest.
    """
    others = {row.bank_digest for row in rows if row.arm == arm and row.error is None} - {digest}
    if others:
        earlier = ", ".join(sorted(name or "none noted" for name in others))
        raise FrozenBankError(arm, f"is {digest} and its rows were made with another one ({earlier})")
