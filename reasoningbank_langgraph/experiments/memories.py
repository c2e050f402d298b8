"""What an arm shows the solver before a problem, and the controls that tell memory from mere text."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

from reasoningbank_langgraph.bank import EXAMPLE_FLOOR, MemoryBank, is_example
from reasoningbank_langgraph.experiments.arms import Arm
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.leaks import gives_away, tells_answer, texts_of
from reasoningbank_langgraph.math_solver.problems import Problem
from reasoningbank_langgraph.prompts import prompt_hash
from reasoningbank_langgraph.records import Episode, MemoryItem, RetrievedExample, RetrievedMemory, normalise_task
from reasoningbank_langgraph.text import example_messages, render_memories
from reasoningbank_langgraph.text.memories import HEADER, WEAK_HEADER

_FILLER = (
    "The window of the room looks out on a quiet street with a row of old trees. In the morning the light comes from "
    "the left and in the evening from the right. People pass by with bags and umbrellas, and now and then a dog stops "
    "at the corner. On market days the street is louder, and the smell of bread comes up from the bakery. "
)
_WRITTEN = Episode(
    id="written",
    task="A lake holds 95,000 litres. Each of 150 farms takes 420 litres out of it, and rain brings 2,750 litres. "
    "How many litres are in the lake then?",
    task_id="written",
    solution="To find how many litres are in the lake, we follow what is taken out and what comes in:\n\n"
    "1. Calculate how much the farms take out together.\n   \\[\n   150 \\times 420 = 63000\n   \\]\n\n"
    "2. Subtract it from what the lake held.\n   \\[\n   95000 - 63000 = 32000\n   \\]\n\n"
    "3. Add the rain.\n   \\[\n   32000 + 2750 = 34750\n   \\]\n\n"
    "Therefore, the number of litres in the lake is \\(\\boxed{34750}\\).",
    outcome="success",
)
_NEAREST = 5
"""Records of about the wanted length that chance chooses from."""
_CANDIDATES = 10
"""Examples to look through for one that does not give the answer away."""
_NONCE = re.compile(r"(?<=notes )[0-9a-f]{16}(?= ===)")
Kept = TypeVar("Kept", MemoryItem, Episode)


class ShownMemory(NamedTuple):
    """A memory for one problem."""

    prompt: str = ""
    items: tuple[RetrievedMemory, ...] = ()
    dropped: tuple[str, ...] = ()
    """Ids of what would have given the answer away."""
    examples: tuple[RetrievedExample, ...] = ()

    def for_weak(self) -> ShownMemory:
        """The same as the loop shows it to a weak model."""
        return self._replace(prompt=self.prompt.replace(HEADER, WEAK_HEADER, 1))

    @property
    def channels(self) -> dict[str, Any]:
        """What the solver reads, as the loop fills it."""
        return {"memory_prompt": self.prompt, "memory_messages": example_messages(self.examples)}

    @property
    def text(self) -> str:
        """All that is shown, as one text; "" for nothing."""
        turns = [f"{turn['role']}: {turn['content']}" for turn in example_messages(self.examples)]
        return "\n\n".join([*turns, *([self.prompt] if self.prompt else [])])

    @property
    def sources(self) -> dict[str, Any]:
        """The fields of a row that say what was shown and where it was learned."""
        records: list[MemoryItem | Episode] = [memory.item for memory in self.items]
        records += [example.episode for example in self.examples]
        scores = [*(memory.score for memory in self.items), *(example.score for example in self.examples)]
        return {
            "shown": tuple(record.id for record in records),
            "scores": tuple(score for score in scores if score is not None),
            "sources": tuple(record.task_id for record in records),
        }


MemorySource = Callable[[Problem, int], ShownMemory]
"""From a problem and a seed to what is shown."""


class Shown(NamedTuple):
    """What an arm shows, and the frozen bank it comes from."""

    source: MemorySource
    bank: MemoryBank | None = None
    items: int = 0
    digest: str = ""


def memory_source(
    arm: Arm, bank: MemoryBank, config: ExperimentConfig, problems: Sequence[Problem], *, weak: bool = False
) -> MemorySource:
    """Return what an arm shows of a bank before the problems of the test; `weak` says that the solver is weak."""
    source = _source(arm, bank, config, problems)
    return (lambda problem, seed: source(problem, seed).for_weak()) if weak else source


def _source(arm: Arm, bank: MemoryBank, config: ExperimentConfig, problems: Sequence[Problem]) -> MemorySource:
    if arm.memory == "written example":
        return written_example
    if arm.shows_examples:
        nearest = nearest_example(bank, config.example_floor, copies=arm.copies)
        return nearest if arm.memory == "examples" else random_example(bank, nearest)
    retrieved = retrieved_memory(bank, config, levels=arm.levels)
    if arm.memory == "random":
        return random_memory(bank, retrieved)
    if arm.memory == "shuffled":
        return shuffled_memory(retrieved, problems)
    return filler_memory(retrieved) if arm.memory == "filler" else retrieved


def no_memory(_: Problem, __: int) -> ShownMemory:
    """The baseline."""
    return ShownMemory()


def retrieved_memory(bank: MemoryBank, config: ExperimentConfig, *, levels: bool = False) -> MemorySource:
    """What the loop would retrieve, without what gives the answer away. The bank is frozen: each problem asks once."""

    @cache
    def retrieved(problem: Problem) -> ShownMemory:
        found = bank.search(
            problem.text,
            task_id=problem.id,
            k=config.k,
            max_items=config.max_items,
            min_score=config.min_score,
            levels=levels,
        )
        return guard(problem, found)

    return lambda problem, _: retrieved(problem)


def nearest_example(bank: MemoryBank, floor: float = EXAMPLE_FLOOR, *, copies: bool = False) -> MemorySource:
    """The example the loop would show: the nearest success that does not give the answer away.

    Args:
        bank: where it is looked for.
        floor: its least similarity.
        copies: whether the same problem with other numbers may be shown, as where tasks recur.
    """
    leaks = tells_answer if copies else gives_away

    @cache
    def nearest(problem: Problem) -> ShownMemory:
        dropped: list[str] = []
        for example in bank.search_examples(problem.text, task_id=problem.id, k=_CANDIDATES, min_score=floor):
            if not leaks(example.episode, problem):
                return ShownMemory(dropped=tuple(dropped), examples=(example,))
            dropped.append(example.episode.id)
        return ShownMemory(dropped=tuple(dropped))

    return lambda problem, _: nearest(problem)


def shuffled_memory(source: MemorySource, problems: Sequence[Problem]) -> MemorySource:
    """What another problem of the test would be shown, and nothing of what this one would be.

    Of the others, the first after a jump that the seed draws whose lessons come from other tasks and are as many; where
    none is like that, the one that comes nearest, without the lessons from the same tasks. It has no similarity: that
    of a lesson is to the other problem.
    """
    places = {problem.id: place for place, problem in enumerate(problems)}

    def memory_for(problem: Problem, seed: int) -> ShownMemory:
        own = source(problem, seed).items
        tasks = {memory.item.task_id for memory in own}
        jump = random.Random(f"shuffled {seed}").randrange(len(problems))  # noqa: S311 - no secret
        place = places[problem.id]
        steps = [1 + (jump + step) % (len(problems) - 1) for step in range(len(problems) - 1)]
        others = [source(problems[(place + step) % len(problems)], seed).items for step in steps]
        foreign = [
            [
                RetrievedMemory(item=memory.item, why="for another problem")
                for memory in items
                if memory.item.task_id not in tasks
            ]
            for items in others
        ]
        return guard(problem, min(foreign, key=lambda items: abs(len(items) - len(own)), default=[]))

    return memory_for


def random_memory(bank: MemoryBank, source: MemorySource) -> MemorySource:
    """As many lessons as would be retrieved, of about their length, drawn from those of other tasks.

    Each takes the place of one that would be retrieved: it is drawn from the few whose length is nearest.
    """
    lessons = sorted((item for item in bank.items() if item.status == "active"), key=lambda item: item.id)

    def memory_for(problem: Problem, seed: int) -> ShownMemory:
        drawn = _drawn(problem, seed, [memory.item for memory in source(problem, seed).items], lessons)
        return guard(problem, [RetrievedMemory(item=item, why="drawn at random") for item in drawn])

    return memory_for


def random_example(bank: MemoryBank, source: MemorySource) -> MemorySource:
    """An example of another task in place of the nearest one, of about its length; none where there is no near one."""
    examples = sorted(examples_of(bank), key=lambda episode: episode.id)

    def memory_for(problem: Problem, seed: int) -> ShownMemory:
        nearest = [example.episode for example in source(problem, seed).examples]
        drawn = _drawn(problem, seed, nearest, examples)
        return ShownMemory(
            examples=tuple(RetrievedExample(episode=episode, why="drawn at random") for episode in drawn)
        )

    return memory_for


def written_example(problem: Problem, _: int) -> ShownMemory:
    """A solution written by hand, the same for every problem: what an example brings that no bank was needed for."""
    if tells_answer(_WRITTEN, problem):
        return ShownMemory(dropped=(_WRITTEN.id,))
    return ShownMemory(examples=(RetrievedExample(episode=_WRITTEN, why="written by hand"),))


def examples_of(bank: MemoryBank) -> list[Episode]:
    """Return the attempts of a bank that may be shown as an example."""
    return [episode for episode in bank.episodes() if is_example(episode)]


def _drawn(problem: Problem, seed: int, retrieved: Sequence[Kept], records: Sequence[Kept]) -> list[Kept]:
    """Draw from the records of other tasks, one for each that would be retrieved."""
    draw = random.Random(f"random {seed} {problem.id}")  # noqa: S311 - no secret
    ids = {problem.id, *(record.task_id for record in retrieved)}
    tasks = {normalise_task(text) for text in (problem.text, *(record.task for record in retrieved))}
    others = [one for one in records if one.task_id not in ids and normalise_task(one.task) not in tasks]
    left = [record for record in others if not gives_away(record, problem)]
    drawn: list[Kept] = []
    for record in retrieved[: len(left)]:
        drawn.append(draw.choice(_nearest(left, _length(record))))
        left.remove(drawn[-1])
    return drawn


def _nearest(records: Sequence[Kept], length: int) -> list[Kept]:
    return sorted(records, key=lambda record: abs(_length(record) - length))[:_NEAREST]


def _length(record: MemoryItem | Episode) -> int:
    return sum(map(len, texts_of(record)))


def filler_memory(source: MemorySource) -> MemorySource:
    """Text of the same length and shape as what would be retrieved, about nothing."""

    def memory_for(problem: Problem, seed: int) -> ShownMemory:
        items = [memory.item for memory in source(problem, seed).items]
        fields = ("title", "description", "content")
        blank = [item.model_copy(update={name: _words(len(getattr(item, name))) for name in fields}) for item in items]
        return ShownMemory(_rendered(blank))

    return memory_for


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
