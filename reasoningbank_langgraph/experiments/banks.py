"""From what was learned to the banks that are shown: frozen, and for some arms only a part of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import NAMESPACE_OID, uuid5

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.errors import ExperimentError, FrozenBankError, MissingEncryptionKeyError
from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.memories import examples_of
from reasoningbank_langgraph.experiments.results import GIVEN, ResultRow
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.namespaces import Filled
from reasoningbank_langgraph.policies import MEASURED, Neighbour, Policy, PolicyLike, Treatment
from reasoningbank_langgraph.records import Episode, MemoryItem
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.without_embedder import open_without_embedder

_LINK = Policy(similarity=MEASURED["all-MiniLM-L6-v2"])


class Taught(NamedTuple):
    """What one train problem taught."""

    items: Sequence[MemoryItem]
    episodes: Sequence[Episode] = ()


Lessons = Mapping[str, Taught]
"""What each train problem taught, by id of the problem, in the order of the problems."""


def frozen_bank(store: ChromaStore, config: ExperimentConfig, arm: Arm, lessons: Lessons) -> MemoryBank:
    """Return the bank of an arm: the lessons of the outcome the configuration asks for, and all attempts.

    They are in order of the problems; for an arm that retrieves by levels, copies are linked. Ids follow from the
    problem and the place of the lesson or of the attempt, so equal lessons make equal banks.

    Raises:
        FrozenBankError: there is a bank of this name and it holds lessons or attempts that are not those learned here.
    """
    name = f"{arm.teacher.name}-{arm.bank or 'all'}{'-linked' if arm.levels else ''}"
    policy: PolicyLike = Policy(copies=_linked) if arm.levels else "append"
    bank = MemoryBank(store, ("experiment", name), match=config.match)
    wanted = [_named(arm.teacher, problem, taught, config) for problem, taught in lessons.items()]
    strangers = _ids(bank.items(), bank.episodes()).difference(*(_ids(*taught) for taught in wanted))
    if strangers:
        raise FrozenBankError(arm.name, f"holds {len(strangers)} lessons or attempts that are not among those learned")
    for taught in wanted:
        bank.add(taught.items, episodes=taught.episodes, policy=policy)
    return bank


def _linked(lesson: MemoryItem, near: Sequence[Neighbour]) -> Treatment:
    """Link equal lessons and near copies: each stays in the bank, so that the task it was learned on still finds it."""
    decision = _LINK.decide(lesson, near)
    return Treatment("link", decision.to) if decision.action == "skip" else decision


def given_bank(store: ChromaStore, config: ExperimentConfig, out: Path) -> MemoryBank:
    """Return a copy of the bank that a configuration names, as it was when the run began.

    Raises:
        StoreError: the bank cannot be opened.
        ExperimentError: it is encrypted, and the copy would not be.
    """
    copy, bank = out / GIVEN, MemoryBank(store, ("experiment", "given"), match=config.match)
    if not copy.exists() and config.bank is not None:
        try:
            with open_without_embedder(config.bank) as source:
                MemoryBank(source, Filled(config.namespace)).export_jsonl(copy)
        except MissingEncryptionKeyError as error:
            raise ExperimentError(
                f"the bank in {str(config.bank)!r} is encrypted, and an experiment keeps its texts in the clear: "
                "if that may be, export it and import that into a bank without a key"
            ) from error
    bank.import_jsonl(copy)
    return bank


def tasks_of(bank: MemoryBank) -> list[Problem]:
    """Return the tasks that a bank was learned from."""
    tasks = {item.task_id: item.task for item in bank.items()}
    tasks |= {episode.task_id: episode.task for episode in bank.episodes()}
    return [Problem(name, text) for name, text in tasks.items()]


def _ids(items: Sequence[MemoryItem], episodes: Sequence[Episode]) -> set[str]:
    return {item.id for item in items} | {episode.id for episode in episodes}


def _named(teacher: Arm, problem: str, taught: Taught, config: ExperimentConfig) -> Taught:
    experience = uuid5(NAMESPACE_OID, f"{teacher.name}|{problem}")
    items = [
        item.model_copy(update={"id": str(uuid5(experience, str(place))), "experience_id": str(experience)})
        for place, item in enumerate(taught.items)
    ]
    episodes = [
        one.model_copy(update={"id": str(uuid5(experience, f"attempt {place}")), "experience_id": str(experience)})
        for place, one in enumerate(taught.episodes)
    ]
    return Taught([item for item in items if config.outcome in ("both", item.outcome)], episodes)


def require_learned(teacher: str, lessons: Lessons, rows: Iterable[ResultRow], *, episodes: bool = False) -> None:
    """Refuse to compare with less than the rows say was learned: a published run has rows and no lessons.

    Args:
        teacher: the arm in which the lessons were learned.
        lessons: what is there.
        rows: of all arms.
        episodes: whether the attempts are needed too, which runs of earlier versions did not keep.

    Raises:
        FrozenBankError: the lessons of the rows of this arm are not there, or the attempts.
    """
    mine = [row for row in rows if row.arm == teacher and row.error is None]
    held, learned = sum(len(taught.items) for taught in lessons.values()), sum(row.learned for row in mine)
    if held != learned:
        raise FrozenBankError(teacher, f"holds {held} lessons and its rows say that {learned} were learned")
    judged = [row.id for row in mine if row.verdict in ("success", "failure")]
    lacking = sum(not lessons[problem].episodes for problem in judged if problem in lessons)
    if episodes and lacking:
        raise FrozenBankError(
            teacher, f"lacks the attempts at {lacking} of {len(judged)} problems, which an earlier version did not keep"
        )


def digest_of(bank: MemoryBank, *, examples: bool = False) -> str:
    """Return a short name for the ids and contents of the lessons of a bank or, with `examples`, of its examples."""
    fields = {"id", "title", "description", "content", "solution", "outcome", "task_id"}
    records = examples_of(bank) if examples else bank.items()
    contents = [record.model_dump(mode="json", include=fields) for record in records]
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
