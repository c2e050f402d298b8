"""Which answers say the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from reasoningbank_langgraph.math_answers import final_answer, same_answer
from reasoningbank_langgraph.matts.rollouts import Rollout

SHORT = 120
"""Characters up to which a reply without a mark may be nothing but an answer."""


class Group(NamedTuple):
    """Rollouts with equivalent answers."""

    answer: str
    members: list[Rollout]


def group_answers(rollouts: Iterable[Rollout]) -> list[Group]:
    """Return the rollouts that ended with an answer, grouped; most votes first, then lowest number.

    Where some replies mark their answer, a long reply that does not is one without an answer.
    """
    answered = [
        (rollout, answer)
        for rollout in rollouts
        if rollout.error is None and (answer := final_answer(rollout.answer)) is not None
    ]
    marked = any(answer != rollout.answer for rollout, answer in answered)
    groups: list[Group] = []
    for rollout, answer in answered:
        if marked and answer == rollout.answer and len(answer) > SHORT:
            continue
        group = next((group for group in groups if same_answer(group.answer, answer)), None)
        if group is None:
            groups.append(Group(answer, [rollout]))
        else:
            group.members.append(rollout)
    return sorted(groups, key=lambda group: (-len(group.members), group.members[0].number))
