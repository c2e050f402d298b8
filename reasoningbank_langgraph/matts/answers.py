"""Which answers say the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from reasoningbank_langgraph.math_answers import equivalent, extract_answer
from reasoningbank_langgraph.matts.rollouts import Rollout
from reasoningbank_langgraph.records import normalise_task


class Group(NamedTuple):
    """Rollouts with equivalent answers."""

    answer: str
    members: list[Rollout]


def final_answer(reply: str | None) -> str | None:
    """Return the answer a reply ends with, the whole reply where none is marked, None where there is none."""
    found = extract_answer(reply or "")
    if found.text is not None:
        return found.text
    return reply if found.reason == "no_marker" else None


def same_answer(one: str, other: str) -> bool:
    """Say whether two final answers agree: as text, or as math."""
    return normalise_task(one) == normalise_task(other) or equivalent(one, other)


def group_answers(rollouts: Iterable[Rollout]) -> list[Group]:
    """Return the rollouts that ended with an answer, grouped; most votes first, then lowest number."""
    groups: list[Group] = []
    for rollout in rollouts:
        answer = final_answer(rollout.answer) if rollout.error is None else None
        if answer is None:
            continue
        group = next((group for group in groups if same_answer(group.answer, answer)), None)
        if group is None:
            groups.append(Group(answer, [rollout]))
        else:
            group.members.append(rollout)
    return sorted(groups, key=lambda group: (-len(group.members), group.members[0].number))
