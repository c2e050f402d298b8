"""Attempts that wait, and verdicts that come from outside: a thumb, a failing build, a refund."""

from __future__ import annotations

from collections.abc import Iterable

from reasoningbank_langgraph.bank.access import StoreAccess
from reasoningbank_langgraph.bank.arguments import as_id, as_ids
from reasoningbank_langgraph.bank.minting.choice import check_policy, for_embedder
from reasoningbank_langgraph.bank.operations import Ops
from reasoningbank_langgraph.bank.rows import pending
from reasoningbank_langgraph.bank.rows.ledger import draft
from reasoningbank_langgraph.bank.upkeep import known_attempts, verdicts
from reasoningbank_langgraph.bank.upkeep.verdicts import ResolveResult
from reasoningbank_langgraph.chat.models import ModelLike
from reasoningbank_langgraph.extraction import Extraction
from reasoningbank_langgraph.extraction.contrast import GroupExtractor
from reasoningbank_langgraph.extraction.metadata import Metadata
from reasoningbank_langgraph.policies import PolicyLike
from reasoningbank_langgraph.records import PendingAttempt, Verdict


class Resolving(StoreAccess):
    """Part of `MemoryBank`: what learns from an attempt after its run."""

    def pending(self) -> list[PendingAttempt]:
        """Return the attempts that wait to be learned from, oldest first.

        Those of graphs with `learn="deferred"` wait for a verdict (`resolve`). Those that a model could not judge or
        distil, because it could not be reached, wait for one that can (`learn.resolve_overdue`).
        """
        return self._read(pending.waiting(self.namespace, self._past))

    async def apending(self) -> list[PendingAttempt]:
        """Async form of `pending`."""
        return await self._aread(pending.waiting(self.namespace, self._past))

    def resolve(
        self,
        attempt_id: str,
        verdict: Verdict,
        *,
        model: ModelLike,
        time_limit: float = 120.0,
        weak: bool | None = None,
        policy: PolicyLike = "append",
        metadata: Metadata | None = None,
        overturns: bool = True,
    ) -> ResolveResult:
        """Say whether an attempt succeeded, and learn from it what its run would have learned.

        The same verdict again changes nothing. Another one overturns it: the lessons learned under the first become
        `superseded` by those distilled now, the episode changes its outcome and keeps the earlier verdict in `earlier`,
        and the credit that pairs with the attempt gave to lessons is corrected. A third one that agrees with the first
        brings the first lessons back. What a guard counted stays counted.

        If the model cannot be reached, the verdict is kept and the attempt goes on waiting; `failure` then says why.

        Args:
            attempt_id: id of an attempt of `pending()`, or of any episode: a verdict of the run can be overturned too.
            verdict: what is known now, for example `Verdict(status="failure", judge="user")`. With an indeterminate
                one nothing changes.
            model: the chat model that distils; it is asked only if there is something to distil.
            time_limit: seconds one call may take.
            weak: whether the model is weak, as in `create_extract`.
            policy: what becomes of lessons that the bank has already, as in `create_consolidate`.
            metadata: tags, scope and difficulty of the lessons, as there.
            overturns: False changes nothing if another verdict is known, as that of a person who was quicker.

        Raises:
            UnknownAttemptError: the bank has no such attempt, or it was forgotten.
            PastBankError: this bank came from `as_of()` and is read-only.
        """
        distiller = self._extractor(model, verdict, time_limit, weak)
        group = self._read(known_attempts.to_distil(self.namespace, as_id(attempt_id), verdict, overturns=overturns))
        config = self.tally.config("extract", episode=attempt_id)
        distilled = distiller.caller.run(distiller.dialogue(group), config)
        lessons = self._lessons(distiller, distilled, policy, metadata)
        return self._write(verdicts.settle(self.namespace, as_id(attempt_id), verdict, lessons, overturns=overturns))

    async def aresolve(
        self,
        attempt_id: str,
        verdict: Verdict,
        *,
        model: ModelLike,
        time_limit: float = 120.0,
        weak: bool | None = None,
        policy: PolicyLike = "append",
        metadata: Metadata | None = None,
        overturns: bool = True,
    ) -> ResolveResult:
        """Async form of `resolve`."""
        distiller = self._extractor(model, verdict, time_limit, weak)
        group = await self._aread(
            known_attempts.to_distil(self.namespace, as_id(attempt_id), verdict, overturns=overturns)
        )
        config = self.tally.config("extract", episode=attempt_id)
        distilled = await distiller.caller.arun(distiller.dialogue(group), config)
        lessons = self._lessons(distiller, distilled, policy, metadata)
        return await self._awrite(
            verdicts.settle(self.namespace, as_id(attempt_id), verdict, lessons, overturns=overturns)
        )

    def drop_pending(self, attempt_ids: Iterable[str]) -> list[str]:
        """Give attempts up, by one id or several, that nobody will resolve; what is known of them already stays.

        Returns:
            The ids of those that waited.
        """
        return self._write(self._drop(as_ids(attempt_ids)))

    async def adrop_pending(self, attempt_ids: Iterable[str]) -> list[str]:
        """Async form of `drop_pending`."""
        return await self._awrite(self._drop(as_ids(attempt_ids)))

    def _extractor(self, model: ModelLike, verdict: Verdict, time_limit: float, weak: bool | None) -> GroupExtractor:
        self._require_present()
        if not isinstance(verdict, Verdict):
            raise TypeError(f"verdict must be a Verdict, as Verdict(status='success'), got {verdict!r:.80}")
        return GroupExtractor(model, time_limit=time_limit, weak=weak)

    def _lessons(
        self, distiller: GroupExtractor, distilled: Extraction, policy: PolicyLike, metadata: Metadata | None
    ) -> verdicts.Lessons:
        chosen = for_embedder(check_policy(policy, self.match), self.store)
        return verdicts.Lessons(distilled, distiller.caller.model_name, self.match, chosen, metadata)

    def _drop(self, attempt_ids: Iterable[str]) -> Ops[list[str]]:
        names = set(attempt_ids)
        found = [one.id for one in (yield from pending.waiting(self.namespace, None)) if one.id in names]
        if found:
            told = draft(self.namespace, "forgotten", found, before={"status": "waiting"}, reason="given up")
            yield [*pending.drop(self.namespace, found), *told]
        return found
