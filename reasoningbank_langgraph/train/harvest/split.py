"""Tasks held back for validation, near copies together."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from reasoningbank_langgraph.experiments.leaks import near_duplicates
from reasoningbank_langgraph.math_solver.problems import Problem

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


def held_back(tasks: Mapping[str, str], share: float, embeddings: Embeddings | None = None) -> set[str]:
    """Return the keys of tasks for validation: about this share of them, and one at least if the share is not 0.

    The choice follows from the tasks alone. A task that is nearly another one is on the same side, so what is learned
    of one is not taken for skill at the other. A group that is larger than the share stays with the training; if all
    are, the smallest is held back, and where all tasks are near copies of each other, none is.
    """
    if not share or len(tasks) < 2:
        return set()
    room, chosen = max(1.0, share * len(tasks)), set[str]()
    groups = sorted(_groups(tasks, embeddings), key=lambda group: _lot(min(group)))
    for group in groups:
        if len(chosen) + len(group) <= room:
            chosen |= group
    return min(groups, key=len) if not chosen and len(groups) > 1 else chosen


def _lot(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def _groups(tasks: Mapping[str, str], embeddings: Embeddings | None) -> list[set[str]]:
    """Return the tasks in groups that near copies connect."""
    problems = [Problem(name, text) for name, text in tasks.items()]
    near: defaultdict[str, set[str]] = defaultdict(set)
    for pair in near_duplicates(problems, problems, embeddings):
        near[pair.train_id].add(pair.test_id)
        near[pair.test_id].add(pair.train_id)
    left, groups = dict.fromkeys(tasks), list[set[str]]()
    while left:
        group, ahead = set[str](), [next(iter(left))]
        while ahead:
            name = ahead.pop()
            if name in left:
                left.pop(name)
                group.add(name)
                ahead += near[name]
        groups.append(group)
    return groups
