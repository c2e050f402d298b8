"""Lessons for the same situation that give opposite advice: found by a model on request, listed and never resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.store.base import GetOp, PutOp

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.bank.access import StoreAccess
from reasoningbank_langgraph.bank.item_values import find, lesson_text, matched_text, rewrite
from reasoningbank_langgraph.bank.operations import Ops
from reasoningbank_langgraph.bank.rows.ledger import draft
from reasoningbank_langgraph.chat.dialogue import Dialogue, Request
from reasoningbank_langgraph.chat.model_caller import ModelCaller
from reasoningbank_langgraph.chat.models import ModelLike
from reasoningbank_langgraph.errors import ModelError
from reasoningbank_langgraph.parsing.answers import answer_object
from reasoningbank_langgraph.text import clean_text, fence

if TYPE_CHECKING:
    from langgraph.store.base import SearchItem

    from reasoningbank_langgraph.records import MemoryItem

_NEIGHBOURS = 8
_AT_ONCE = 100
_MAX_TOKENS = 300
_CONTRADICTS = "contradicts"
_ASKED = "a model was asked"
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"why": {"type": "string"}, "opposite": {"type": "boolean"}},
    "required": ["why", "opposite"],
}


class Contradiction(NamedTuple):
    """Two lessons that a model holds for opposite advice in the same situation."""

    first: str
    """Id of the older lesson."""
    second: str
    why: str
    """What the model says; its opinion, and text like any other."""


class Contradictions(NamedTuple):
    """What `MemoryBank.contradictions` found."""

    found: Sequence[Contradiction]
    asked: int
    """Pairs the model was asked about, the most similar first."""
    unclear: int
    """Pairs of which it said nothing that could be read."""
    left: int
    """Similar pairs it was not asked about."""
    failure: str | None = None
    """What the last call that failed said."""


class _Answer(NamedTuple):
    opposite: bool | None
    why: str = ""
    failure: str | None = None


class Contradicting(StoreAccess):
    """Part of `MemoryBank`: what finds lessons that contradict each other."""

    def contradictions(
        self,
        model: ModelLike,
        *,
        max_pairs: int = 100,
        min_score: float = 0.5,
        time_limit: float = 120.0,
        keep: bool = False,
    ) -> Contradictions:
        """Ask a model which similar lessons in use give opposite advice. None is set aside: that is for a person.

        Lessons are compared with the eight that are most similar, whatever their outcome. It embeds each lesson once
        and calls the model once a pair. A store without an index has no similar lessons.

        Args:
            model: the chat model that compares.
            max_pairs: how many pairs it is asked about.
            min_score: lowest similarity of a pair, 0..1.
            time_limit: seconds one call may take.
            keep: write into `contradicts` of the newer lesson of a pair what the model said of it, which `why` and
                `graph` then show.

        Raises:
            ModelUnavailableError: the name stands for no model. A call that fails is no error: see `Contradictions`.
            ValueError: `max_pairs` is below 1.
            PastBankError: `keep`, and this bank came from `as_of()` and is read-only.
        """
        caller = _caller(model, max_pairs, time_limit)
        if keep:
            self._require_present()
        pairs, config = self._read(self._similar_pairs(min_score)), self.tally.config("contradictions")
        answers = [caller.run(_dialogue(pair), config) for pair in pairs[:max_pairs]]
        if keep:
            self._write(self._keep(pairs, answers))
        return _listed(pairs, answers)

    async def acontradictions(
        self,
        model: ModelLike,
        *,
        max_pairs: int = 100,
        min_score: float = 0.5,
        time_limit: float = 120.0,
        keep: bool = False,
    ) -> Contradictions:
        """Async form of `contradictions`."""
        caller = _caller(model, max_pairs, time_limit)
        if keep:
            self._require_present()
        pairs, config = await self._aread(self._similar_pairs(min_score)), self.tally.config("contradictions")
        answers = [await caller.arun(_dialogue(pair), config) for pair in pairs[:max_pairs]]
        if keep:
            await self._awrite(self._keep(pairs, answers))
        return _listed(pairs, answers)

    def _similar_pairs(self, min_score: float) -> Ops[list[tuple[MemoryItem, MemoryItem]]]:
        """Return pairs of lessons in use, the most similar first, the older lesson of each first."""
        items = yield from self._items()
        active = {item.id: item for item in items if item.status == "active"}
        scores: dict[tuple[str, str], float] = {}
        for some in _parts(list(active.values())):
            found = yield [
                find(self.namespace, {"status": "active"}, matched_text(lesson_text(item)), _NEIGHBOURS)
                for item in some
            ]
            for item, hits in zip(some, found, strict=True):
                scores |= _better(item.id, hits, active, scores)
        near = sorted((pair for pair, score in scores.items() if score >= min_score), key=lambda pair: -scores[pair])
        return [(active[first], active[second]) for first, second in near]

    def _keep(self, pairs: Sequence[tuple[MemoryItem, MemoryItem]], answers: Sequence[_Answer]) -> Ops[None]:
        """Write what the model said of each pair, as far as it could be read and the lesson is still there."""
        said: dict[str, dict[str, bool]] = {}
        for (older, newer), answer in zip(pairs, answers, strict=False):
            if answer.opposite is not None:
                said.setdefault(newer.id, {})[older.id] = answer.opposite
        found = (yield [GetOp(self.namespace, name) for name in said]) if said else []
        puts = list[PutOp]()
        for row in filter(None, found):
            named, opposite = list(row.value.get(_CONTRADICTS, ())), said[row.key]
            still = [name for name in dict.fromkeys([*named, *opposite]) if opposite.get(name, True)]
            before, after = {_CONTRADICTS: named}, {_CONTRADICTS: still}
            if before != after:
                puts.append(rewrite(self.namespace, row.key, {**row.value, **after}))
                puts += draft(self.namespace, "contradicted", [row.key], before=before, after=after, reason=_ASKED)
        if puts:
            yield puts


def _caller(model: ModelLike, max_pairs: int, time_limit: float) -> ModelCaller:
    if max_pairs < 1:
        raise ValueError(f"max_pairs must be at least 1, got {max_pairs}")
    return ModelCaller(model, "contradictions", time_limit=time_limit)


def _parts(items: Sequence[MemoryItem]) -> Iterator[Sequence[MemoryItem]]:
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))


def _better(
    name: str, hits: Sequence[SearchItem], active: Mapping[str, MemoryItem], scores: Mapping[tuple[str, str], float]
) -> dict[tuple[str, str], float]:
    """Return the scores of pairs of this lesson that are higher than those known."""
    found: dict[tuple[str, str], float] = {}
    for hit in hits:
        if hit.score is None or hit.key == name or hit.key not in active:
            continue
        older, newer = sorted((name, hit.key), key=lambda one: (active[one].created_at, one))
        found[older, newer] = max(hit.score, scores.get((older, newer), 0.0))
    return found


def _dialogue(pair: tuple[MemoryItem, MemoryItem]) -> Dialogue[_Answer]:
    """Ask about one pair."""
    first, second = (fence(f"{lesson_text(one)}\n{one.content}", "advice") for one in pair)
    question = prompts.CONTRADICTION_USER.format(first=first, second=second)
    prompt = [SystemMessage(prompts.CONTRADICTION_SYSTEM.format()), HumanMessage(question)]
    try:
        answer = answer_object((yield Request(prompt, _SCHEMA, _MAX_TOKENS)), "opposite") or {}
    except ModelError as error:
        return _Answer(None, failure=str(error))
    opposite = {"true": True, "yes": True, "false": False, "no": False}.get(str(answer.get("opposite")).strip().lower())
    return _Answer(opposite, clean_text(str(answer.get("why", ""))))


def _listed(pairs: Sequence[tuple[MemoryItem, MemoryItem]], answers: Sequence[_Answer]) -> Contradictions:
    return Contradictions(
        found=[
            Contradiction(first.id, second.id, answer.why)
            for (first, second), answer in zip(pairs, answers, strict=False)
            if answer.opposite
        ],
        asked=len(answers),
        unclear=sum(answer.opposite is None for answer in answers),
        left=len(pairs) - len(answers),
        failure=next((answer.failure for answer in reversed(answers) if answer.failure), None),
    )
