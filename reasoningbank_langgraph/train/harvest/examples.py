"""Which solutions a model may learn from, which are copies, and what each task weighs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby

from reasoningbank_langgraph.math_answers.spelling import in_ascii, ungrouped
from reasoningbank_langgraph.records import has_visible_text, normalise_task
from reasoningbank_langgraph.text import clean_text
from reasoningbank_langgraph.train.harvest.solutions import Solution

MISSED_FIRST = 2
"""What a row weighs whose task was missed first and solved later; any other weighs 1."""
_FEW_WORDS = 12
_WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]|\w+")
"""A letter counts as one in a script without spaces: Thai, Lao, Burmese, Khmer, Japanese and Chinese."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_REMOVED = re.compile(r"\[[a-z ]+ removed\]")
_UNSEEN = "[\u00ad\u200c-\u200f\ufe0e\ufe0f]"
_OF_WRITING = re.compile(f"(?<!{_UNSEEN}){_UNSEEN}{{1,2}}(?!{_UNSEEN})")
"""What is not seen and belongs to ordinary text: joiners, marks of direction, the coloured form of a sign. A longer run
says something that no reader sees."""
_OUTPUT = re.compile(r"^[ \t]*```[ \t]*(?:output|stdout|console)\b", re.IGNORECASE | re.MULTILINE)
_NOTES = re.compile(r"\b(?:notes?|lessons?)\b", re.IGNORECASE)

Pair = tuple[Solution, Solution]
"""A right and a wrong solution of one task."""


def unfit(solution: Solution) -> str:
    """Return why no model should learn from a solution, "" if it may.

    Texts are taken as they are or not at all: one that is changed would no longer be what the model is sent or wrote.
    """
    texts = (solution.task, solution.text)
    reasons = {
        "no text": not all(map(has_visible_text, texts)),
        "cut": solution.cut,
        "held a secret": any(map(_REMOVED.search, texts)),
        "looks like structure": not all(map(_is_plain, texts)),
        "speaks of its notes": solution.aided and _NOTES.search(solution.text) and not _NOTES.search(solution.task),
        "called tools": solution.called,
        "shows output that no program gave": _OUTPUT.search(solution.text),
    }
    return next((reason for reason, applies in reasons.items() if applies), "")


def _is_plain(text: str) -> bool:
    """Say whether a text holds no special token, turn, link or fence; blocks of code are text."""
    bare = _OF_WRITING.sub("", text.replace("```", "").replace("\r\n", "\n"))
    return clean_text(bare) == bare


def is_bare(text: str) -> bool:
    """Say whether a solution is an answer without the way to it: fewer than two numbers and than twelve words."""
    return len(chain_of(text)) < 2 and len(_WORD.findall(text)) < _FEW_WORDS


def chain_of(text: str) -> tuple[str, ...]:
    """Return the numbers of a solution in order; one that is repeated at once counts once."""
    numbers = _NUMBER.findall(_THOUSANDS.sub("", ungrouped(in_ascii(text))))
    return tuple(number for number, _ in groupby(numbers))


def judged_both_ways(solutions: Sequence[Solution]) -> set[tuple[str, str]]:
    """Return what was said of a task and called right once and wrong once: one of the verdicts is mistaken."""
    return {one.said for one in solutions if one.right} & {one.said for one in solutions if not one.right}


def best(solutions: Iterable[Solution], samples: int, left_out: Counter[str]) -> list[Solution]:
    """Return so many right solutions of each task, the shortest ones, and of equally long ones the oldest.

    Left out and counted are equal texts, whatever their case and spacing, and equal chains: the same numbers in the
    same order, however they are worded. A solution without numbers has no chain.
    """
    kept: list[Solution] = []
    seen: defaultdict[str, set[object]] = defaultdict(set)
    counts: Counter[str] = Counter()
    for solution in sorted(solutions, key=lambda one: len(one.text)):
        text, chain, known = normalise_task(solution.text), chain_of(solution.text), seen[solution.key]
        if text in known or (chain and chain in known):
            left_out["same text" if text in known else "same chain"] += 1
        elif counts[solution.key] == samples:
            left_out["longer than those kept"] += 1
        else:
            known |= {text, chain}
            counts[solution.key] += 1
            kept.append(solution)
    return kept


def pairs(solutions: Iterable[Solution], samples: int) -> list[Pair]:
    """Return pairs of a right and a wrong solution from one group of attempts, of each task so many.

    The shortest right one goes with the shortest wrong one, and so on; each stands in one pair, and no pair is there
    twice.
    """
    groups: defaultdict[tuple[str, str], tuple[list[Solution], list[Solution]]] = defaultdict(lambda: ([], []))
    for solution in sorted(solutions, key=lambda one: len(one.text)):
        groups[solution.source.experience_id, solution.key][0 if solution.right else 1].append(solution)
    found: dict[tuple[object, object], Pair] = {}
    counts: Counter[str] = Counter()
    for (_, task), group in groups.items():
        for pair in zip(*group, strict=False):
            name = (pair[0].said, pair[1].said)
            if name not in found and counts[task] < samples:
                counts[task] += 1
                found[name] = pair
    return list(found.values())


def missed_first(solutions: Sequence[Solution]) -> set[str]:
    """Return the tasks whose first experience holds no right solution: those that a later one solved weigh more.

    Args:
        solutions: oldest first. The attempts of one group are one experience, so none of them is the first.
    """
    experiences: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for solution in solutions:
        solved, name = experiences[solution.key], solution.source.experience_id
        solved[name] = solved.get(name, False) or solution.right
    return {task for task, solved in experiences.items() if not next(iter(solved.values()))}
