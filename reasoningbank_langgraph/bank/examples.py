"""Finding an attempt that can be shown as a worked example: a success at the most similar other task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, TypeVar, get_args

from reasoningbank_langgraph.bank.item_values import Namespace, is_example, to_episode
from reasoningbank_langgraph.bank.operations import EVERY, Ops
from reasoningbank_langgraph.bank.searching import Dropped, Question, best_of_experiences, nearest, other_tasks
from reasoningbank_langgraph.bank.snapshots import Past, episodes_then
from reasoningbank_langgraph.namespaces import EPISODES, beside
from reasoningbank_langgraph.records import Episode, RetrievedExample, RetrievedMemory

if TYPE_CHECKING:
    from langgraph.store.base import Op, SearchItem

Show = Literal["lessons", "examples", "both"]
"""What is shown before a task. `lessons`: what was learned on similar tasks, as notes; `examples`: a similar task and
its solution, as if the model had just solved it; `both`: first the example, then the lessons."""
EXAMPLE_FLOOR: Final = 0.35
"""How similar the task of an example must be. Of 22 tasks of six kinds, with the packaged embedder, one pair of
different kinds among 200 is that similar, and ten tasks have a task of their own kind that is."""
_PER_EXPERIENCE = 6
"""Episodes of one experience at most."""

First = TypeVar("First")
Second = TypeVar("Second")


class Recalled(NamedTuple):
    """What a bank has to show for a task."""

    memories: Sequence[RetrievedMemory]
    examples: Sequence[RetrievedExample]
    dropped: Sequence[Dropped] = ()
    """Lessons that are less similar than was asked for."""

    @property
    def shows_anything(self) -> bool:
        """Whether there is a lesson or an example."""
        return bool(self.memories or self.examples)


NOTHING = Recalled((), ())


def check_show(show: Show) -> Show:
    """Return it. Raises `ValueError` if there is no such way of showing."""
    if show not in get_args(Show):
        raise ValueError(f"show must be one of {', '.join(get_args(Show))}, got {show!r}")
    return show


def search_examples(namespace: Namespace, question: Question, past: Past | None) -> Ops[list[RetrievedExample]]:
    """Return the successes at the k most similar other tasks; of a store without an index none, unless any will do.

    What was a success at a moment of the past may be none now, so that all that was there then is looked through.
    """
    where = {**other_tasks(question), **(past.active_filter if past else {"example": "yes"})}
    place, limit = beside(namespace, EPISODES), EVERY if past else _PER_EXPERIENCE * question.k
    found, _ = yield from nearest(namespace, place, question, where, limit)
    hits = [hit for hit in found if question.min_score is None or hit.score is not None]
    then: dict[str, Episode] = {}
    if past:
        then = {one.id: one for one in (yield from episodes_then(namespace, past, hits)) if is_example(one)}
        hits = [hit for hit in hits if hit.key in then]
    best = list(best_of_experiences(hits, question.min_score).values())[: question.k]
    return [_retrieved(hit, then.get(hit.key) or to_episode(hit)) for hit in best]


def _retrieved(row: SearchItem, episode: Episode) -> RetrievedExample:
    near = "the store has no index: newest first" if row.score is None else f"similarity {row.score:.2f} of the tasks"
    why = f"{near}; judged a success by {episode.provenance.judge or 'an unnamed judge'}"
    return RetrievedExample(episode=episode, score=row.score, why=why)


def together(first: Ops[First], second: Ops[Second]) -> Ops[tuple[First, Second]]:
    """Carry out two reading operations at once: what both want next is one batch, which embeds a query once."""
    one, other = _Running(first), _Running(second)
    while one.wants or other.wants:
        cut = len(one.wants)
        results = yield [*one.wants, *other.wants]
        one.go_on(results[:cut])
        other.go_on(results[cut:])
    return one.result[0], other.result[0]


class _Running(Generic[First]):
    """An operation that was begun: the batch it waits for, or its result."""

    def __init__(self, operation: Ops[First]) -> None:
        self.operation = operation
        self.wants: list[Op] = list(next(operation))
        self.result: list[First] = []

    def go_on(self, results: list[Any]) -> None:
        if self.result:
            return
        try:
            self.wants = list(self.operation.send(results))
        except StopIteration as stop:
            self.wants, self.result = [], [stop.value]
