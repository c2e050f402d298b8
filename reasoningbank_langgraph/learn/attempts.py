"""One attempt of a thread: judged, distilled and written, unless the bank holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from reasoningbank_langgraph.bank import ids_of_branch
from reasoningbank_langgraph.extraction import IDS, PROMPT_HASH, Judged, Origin, episode_id, make_episodes, make_items
from reasoningbank_langgraph.learn.coverage import Outcome, SkipReason
from reasoningbank_langgraph.records import Attempt, Provenance, RetrievedMemory
from reasoningbank_langgraph.state.lineage import Line, next_line

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import MemoryBank
    from reasoningbank_langgraph.learn.asking import Asked
    from reasoningbank_langgraph.learn.checkpoints import End
    from reasoningbank_langgraph.learn.turns import Turn, Values
    from reasoningbank_langgraph.policies import Policy
    from reasoningbank_langgraph.records import Episode, MemoryItem


@dataclass(frozen=True)
class Learning:
    """Learns from attempts of one run."""

    asked: Asked
    bank: MemoryBank
    end: End
    thread_id: str
    values: Values
    policy: Policy
    forgotten: frozenset[str]
    """Ids of what was removed from the bank."""

    def learn(self, turn: Turn) -> Outcome | tuple[SkipReason, str]:
        """Judge, distil and write one attempt, or say why not."""
        if turn.attempt is None or turn.skip:
            return turn.skip or "no_task", ""
        attempt = self._with_memories(turn.attempt, turn.shown)
        digests = [name for name in (turn.known_as, attempt.digest(self.thread_id)) if name]
        if skip := self._passed_over(digests, turn.name):
            return skip
        verdict = self.asked.judge(attempt)
        self.asked.reach.note("judge", verdict.failure)
        if verdict.status == "indeterminate":
            return "outage" if verdict.reason == "error" else "indeterminate", verdict.rationale or verdict.reason or ""
        judged = Judged(attempt, verdict)
        distilled = self.asked.distil(judged)
        self.asked.reach.note("distil", distilled.failure)
        if distilled.reason == "error":
            return "outage", distilled.raw or ""
        if any(map(self.bank.has_attempt, digests)):  # another walk, or a person, was quicker
            return "already_learned", ""
        origin = self._origin(judged, digests[0])
        items = make_items(judged, distilled.items, origin)
        episodes = make_episodes([judged], origin, turn.model)
        known = ids_of_branch(self.values if origin.provenance.line else {})
        usage = {**self.asked.tally.take(), "solve": attempt.usage}
        written = self.bank.add(items, episodes=episodes, policy=self.policy, written=known, usage=usage)
        return Outcome(self.end.at, written.added)

    def _passed_over(self, digests: Sequence[str], name: str) -> tuple[SkipReason, str] | None:
        """Say why nobody is asked about the attempt with one of these digests, if so."""
        if any(map(self.bank.has_attempt, digests)) or (name and self._has_named(name)):
            return "already_learned", ""
        if not self.forgotten.isdisjoint(map(episode_id, digests)):
            return "forgotten", ""
        lost = self.asked.reach.is_lost
        return ("outage", "not asked: the calls before it failed one after another") if lost else None

    def _has_named(self, name: str) -> bool:
        """Say whether the bank holds something of the attempt with this name.

        Of rollouts in a graph inside the graph, the state does not hold what their digest is made of.
        """
        kept: list[Episode | MemoryItem] = [*self.bank.episodes(), *self.bank.items()]
        return any(stage[0] == name for one in kept for stage in one.provenance.line[-1:])

    def _with_memories(self, attempt: Attempt, shown: Sequence[Mapping[str, str]]) -> Attempt:
        """Return the attempt with those lessons of the bank that its messages showed."""
        if not shown:
            return attempt
        texts = {(lesson.get("title"), lesson.get("content")) for lesson in shown}
        found = [RetrievedMemory(item=item) for item in self.bank.items() if (item.title, item.content) in texts]
        return attempt.model_copy(update={"memories": (*attempt.memories, *found)})

    def _origin(self, judged: Judged, digest: str) -> Origin:
        experience, line = uuid5(IDS, f"thread|{digest}"), self._line(uuid5(IDS, f"line|{digest}"))
        provenance = Provenance(
            thread_id=self.thread_id,
            checkpoint_id=self.end.checkpoint_id,
            run_id=_text(self.end.metadata.get("run_id")),
            judge=judged.verdict.judge,
            model=self.asked.model,
            prompt_hash=PROMPT_HASH,
            memory_ids_used=judged.attempt.shown,
            attempt_digest=digest,
            line=line.stages,
            origin=line.origin,
            after=line.after,
        )
        return Origin(experience, provenance)

    def _line(self, name: UUID) -> Line:
        """Return the line that a run beginning on this state would have: the lessons belong to its branch.

        A state without an attempt of the loop has no line, and its lessons belong to every branch.
        """
        attempt = self.values.get("attempt")
        if not isinstance(attempt, Mapping) or not attempt.get("line"):
            return Line()
        line = next_line(self.values, self.end.at)
        _, at, left = line.stages[-1]
        return line._replace(stages=(*line.stages[:-1], (name.hex[:16], at, left)))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
