"""What an arm shows the solver before a problem, and the controls that tell memory from mere text."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.leaks import gives_away
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.prompts import prompt_hash
from reasoningbank_langgraph.records import MemoryItem, RetrievedMemory
from reasoningbank_langgraph.text import render_memories

_FILLER = (
    "The window of the room looks out on a quiet street with a row of old trees. In the morning the light comes from "
    "the left and in the evening from the right. People pass by with bags and umbrellas, and now and then a dog stops "
    "at the corner. On market days the street is louder, and the smell of bread comes up from the bakery. "
)
_NONCE = re.compile(r"(?<=notes )[0-9a-f]{16}(?= ===)")


class ShownMemory(NamedTuple):
    """A memory for one problem."""

    prompt: str = ""
    items: tuple[RetrievedMemory, ...] = ()
    dropped: tuple[str, ...] = ()
    """Ids of items that would have given the answer away."""


MemorySource = Callable[[Problem, int], ShownMemory]
"""From a problem and a seed to what is shown."""


def no_memory(_: Problem, __: int) -> ShownMemory:
    """The baseline."""
    return ShownMemory()


def retrieved_memory(bank: MemoryBank, config: ExperimentConfig) -> MemorySource:
    """What the loop would retrieve, without what gives the answer away."""

    def memory_for(problem: Problem, _: int) -> ShownMemory:
        retrieved = bank.search(
            problem.text,
            task_id=problem.id,
            k=config.k,
            max_items=config.max_items,
            min_score=config.min_score,
        )
        return guard(problem, retrieved)

    return memory_for


def shuffled_memory(source: MemorySource, problems: Sequence[Problem]) -> MemorySource:
    """What another problem of the test would be shown: the same items, at the wrong problems."""
    places = {problem.id: place for place, problem in enumerate(problems)}

    def memory_for(problem: Problem, seed: int) -> ShownMemory:
        shift = random.Random(f"shuffled {seed}").randrange(1, max(2, len(problems)))  # noqa: S311 - no secret
        other = problems[(places[problem.id] + shift) % len(problems)]
        return guard(problem, source(other, seed).items)

    return memory_for


def random_memory(bank: MemoryBank, config: ExperimentConfig) -> MemorySource:
    """Experiences drawn from the bank, whatever the problem."""
    experiences: dict[str, list[MemoryItem]] = {}
    for item in bank.items():
        experiences.setdefault(item.experience_id, []).append(item)
    groups = list(experiences.values())

    def memory_for(problem: Problem, seed: int) -> ShownMemory:
        drawn = random.Random(f"random {seed} {problem.id}").sample(groups, min(config.k, len(groups)))  # noqa: S311
        items = [item for group in drawn for item in group if item.task_id != problem.id][: config.max_items]
        return guard(problem, [RetrievedMemory(item=item, why="drawn at random") for item in items])

    return memory_for


def filler_memory(source: MemorySource) -> MemorySource:
    """Text of the same length and shape as what would be retrieved, about nothing."""

    def memory_for(problem: Problem, seed: int) -> ShownMemory:
        items = source(problem, seed).items
        blank = [memory.item.model_copy(update=_without_meaning(memory.item)) for memory in items]
        return ShownMemory(_rendered(blank))

    return memory_for


def _without_meaning(item: MemoryItem) -> dict[str, str]:
    return {name: _words(len(getattr(item, name))) for name in ("title", "description", "content")}


def _words(length: int) -> str:
    """Return so many characters of filler, ended at a word."""
    text = _FILLER * (length // len(_FILLER) + 1)
    return text[:length].rpartition(" ")[0] or text[: max(length, 3)].strip()


def guard(problem: Problem, memories: Sequence[RetrievedMemory]) -> ShownMemory:
    """Return what is left of a memory without the items that give the answer of a problem away."""
    harmless = [memory for memory in memories if not gives_away(memory.item, problem)]
    dropped = tuple(memory.item.id for memory in memories if memory not in harmless)
    return ShownMemory(_rendered([memory.item for memory in harmless]), tuple(harmless), dropped)


def _rendered(items: Sequence[MemoryItem]) -> str:
    """Render a memory so that the same one is the same text in every run: the random number of its fence is fixed."""
    block = render_memories(items)
    bare = _NONCE.sub("", block)
    return _NONCE.sub(prompt_hash(bare)[:16].ljust(16, "0"), block)
