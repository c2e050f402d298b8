"""What an arm shows the solver before a problem, and the controls that tell memory from mere text."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import cache
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
_NEAREST = 5
"""Lessons of about the wanted length that chance chooses from."""
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
    """What the loop would retrieve, without what gives the answer away. The bank is frozen: each problem asks once."""

    @cache
    def retrieved(problem: Problem) -> ShownMemory:
        found = bank.search(
            problem.text,
            task_id=problem.id,
            k=config.k,
            max_items=config.max_items,
            min_score=config.min_score,
        )
        return guard(problem, found)

    return lambda problem, _: retrieved(problem)


def shuffled_memory(source: MemorySource, problems: Sequence[Problem]) -> MemorySource:
    """What another problem of the test would be shown, and nothing of what this one would be.

    Of the others, the first after a jump that the seed draws whose lessons come from other tasks and are as many; where
    none is like that, the one that comes nearest, without the lessons from the same tasks.
    """
    places = {problem.id: place for place, problem in enumerate(problems)}

    def memory_for(problem: Problem, seed: int) -> ShownMemory:
        own = source(problem, seed).items
        tasks = {memory.item.task_id for memory in own}
        jump = random.Random(f"shuffled {seed}").randrange(len(problems))  # noqa: S311 - no secret
        place = places[problem.id]
        steps = [1 + (jump + step) % (len(problems) - 1) for step in range(len(problems) - 1)]
        others = [source(problems[(place + step) % len(problems)], seed).items for step in steps]
        foreign = [[memory for memory in items if memory.item.task_id not in tasks] for items in others]
        return guard(problem, min(foreign, key=lambda items: abs(len(items) - len(own)), default=[]))

    return memory_for


def random_memory(bank: MemoryBank, source: MemorySource) -> MemorySource:
    """As many lessons as would be retrieved, of about their length, drawn from those of other tasks.

    Each takes the place of one that would be retrieved: it is drawn from the few whose length is nearest.
    """
    lessons = sorted(bank.items(), key=lambda item: item.id)

    def memory_for(problem: Problem, seed: int) -> ShownMemory:
        draw = random.Random(f"random {seed} {problem.id}")  # noqa: S311 - no secret
        retrieved = [memory.item for memory in source(problem, seed).items]
        tasks = {problem.id, *(item.task_id for item in retrieved)}
        left = [item for item in lessons if item.task_id not in tasks and not gives_away(item, problem)]
        drawn: list[MemoryItem] = []
        for item in retrieved[: len(left)]:
            drawn.append(draw.choice(_nearest(left, _length(item))))
            left.remove(drawn[-1])
        return guard(problem, [RetrievedMemory(item=item, why="drawn at random") for item in drawn])

    return memory_for


def _nearest(items: Sequence[MemoryItem], length: int) -> list[MemoryItem]:
    return sorted(items, key=lambda item: abs(_length(item) - length))[:_NEAREST]


def _length(item: MemoryItem) -> int:
    return len(item.title) + len(item.description) + len(item.content)


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
