"""Which answers say the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reasoningbank_langgraph.math_answers import final_answer, is_refusal, same_answer
from reasoningbank_langgraph.matts.records import Rollout

SHORT = 120
"""Characters up to which a reply without a mark may be nothing but an answer."""


class Group(NamedTuple):
    """Rollouts with equivalent answers."""

    answer: str
    members: list[Rollout]


class _Answer(NamedTuple):
    rollout: Rollout
    answer: str

    @property
    def refuses(self) -> bool:
        return is_refusal(self.answer)

    def judged(self, status: str) -> bool:
        return self.rollout.verdict is not None and self.rollout.verdict.status == status


def count_votes(rollouts: Sequence[Rollout]) -> list[Group]:
    """Return the rollouts that have a vote whatever others say, grouped; most votes first, then lowest number.

    A refusal has none, nor has a rollout that failed, ended without an answer or was judged wrong. Where some replies
    mark their answer, a long reply that does not is one without an answer.
    """
    return _group([entry for entry in _answers(rollouts) if not entry.refuses and not entry.judged("failure")])


def group_answers(rollouts: Sequence[Rollout]) -> list[Group]:
    """Return the votes; where there are none, those of answers judged wrong, else of refusals judged right."""
    answers = _answers(rollouts)
    judged_wrong = [entry for entry in answers if not entry.refuses]
    accepted = [entry for entry in answers if entry.refuses and entry.judged("success")]
    return count_votes(rollouts) or _group(judged_wrong) or _group(accepted)


def _answers(rollouts: Sequence[Rollout]) -> list[_Answer]:
    return [
        _Answer(rollout, answer)
        for rollout in rollouts
        if rollout.error is None and (answer := final_answer(rollout.answer)) is not None
    ]


def _group(answers: Sequence[_Answer]) -> list[Group]:
    marked = any(answer != rollout.answer for rollout, answer in answers)
    groups: list[Group] = []
    for rollout, answer in answers:
        if marked and answer == rollout.answer and len(answer) > SHORT:
            continue
        group = next((group for group in groups if same_answer(group.answer, answer)), None)
        if group is None:
            groups.append(Group(answer, [rollout]))
        else:
            group.members.append(rollout)
    return sorted(groups, key=lambda group: (-len(group.members), group.members[0].number))
