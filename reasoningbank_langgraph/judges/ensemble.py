"""Several judges under one written rule."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from reasoningbank_langgraph.chat.outages import Outages
from reasoningbank_langgraph.judges.base import Judge, JudgeLike, as_judge, as_verdict, verdict_on_error
from reasoningbank_langgraph.records import Attempt, Verdict

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable, RunnableConfig

Rule = Literal["first", "majority", "unanimous"]
"""How verdicts are combined. `first`: the first that is decided; `majority`: what more than half of the decided ones
say; `unanimous`: what all decided ones say."""


class EnsembleJudge(Judge):
    """Combines judges: verifiers first, opinion last.

    Args:
        judges: at least one judge, in order of trust.
        rule: `first` takes the first verdict that is decided and asks no further judge; `majority` asks all and takes
            what more than half of the decided ones say; `unanimous` asks all and takes what all decided ones say.
            Where the rule settles nothing the verdict is `indeterminate`.

    Raises:
        ValueError: no judge is given, or the rule is unknown.
        JudgeError: when run, one of the judges returns neither a verdict nor a bool.
    """

    def __init__(self, judges: Sequence[JudgeLike], *, rule: Rule = "first") -> None:
        if not judges:
            raise ValueError("EnsembleJudge needs at least one judge")
        if rule not in ("first", "majority", "unanimous"):
            raise ValueError(f"rule must be 'first', 'majority' or 'unanimous', got {rule!r}")
        self.judges, self.rule = [as_judge(judge) for judge in judges], rule
        self._outages = Outages()

    def invoke(self, input: Attempt, config: RunnableConfig | None = None, **kwargs: Any) -> Verdict:
        """Judge one attempt."""
        verdicts: list[Verdict] = []
        for judge in self.judges:
            try:
                verdicts.append(as_verdict(judge.get_name(), judge.invoke(input, config)))
            except Exception as error:  # noqa: BLE001 - one judge's outage leaves the others to decide
                verdicts.append(verdict_on_error(judge.get_name(), error, self._outages))
            if self.rule == "first" and verdicts[-1].status != "indeterminate":
                break
        return self._settle(verdicts)

    async def ainvoke(self, input: Attempt, config: RunnableConfig | None = None, **kwargs: Any) -> Verdict:
        """Judge one attempt; judges that are all asked are asked at the same time."""
        if self.rule != "first":
            return self._settle(await asyncio.gather(*(self._ask(judge, input, config) for judge in self.judges)))
        verdicts: list[Verdict] = []
        for judge in self.judges:
            verdicts.append(await self._ask(judge, input, config))
            if verdicts[-1].status != "indeterminate":
                break
        return self._settle(verdicts)

    async def _ask(self, judge: Runnable[Attempt, Any], attempt: Attempt, config: RunnableConfig | None) -> Verdict:
        try:
            return as_verdict(judge.get_name(), await judge.ainvoke(attempt, config))
        except Exception as error:  # noqa: BLE001 - one judge's outage leaves the others to decide
            return verdict_on_error(judge.get_name(), error, self._outages)

    def _settle(self, verdicts: Sequence[Verdict]) -> Verdict:
        decided = [verdict for verdict in verdicts if verdict.status != "indeterminate"]
        if not decided:
            return verdicts[-1]
        status, votes = Counter(verdict.status for verdict in decided).most_common(1)[0]
        needed = {"first": 1, "majority": len(decided) // 2 + 1, "unanimous": len(decided)}[self.rule]
        if votes < needed:
            opinions = ", ".join(f"{verdict.judge}: {verdict.status}" for verdict in decided)
            return Verdict(
                status="indeterminate", reason="no_evidence", judge="ensemble", rationale=f"not {self.rule}: {opinions}"
            )
        return next(verdict for verdict in decided if verdict.status == status)
