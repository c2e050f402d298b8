"""Last node of the loop: write the checkpointed lessons into the bank, exactly once."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from reasoningbank_langgraph.bank import Match, MemoryBank, WeighedResult, check_match, check_policy, ids_of_branch
from reasoningbank_langgraph.events import TYPE, ConsolidatedEvent, GuardEvent, milliseconds_since
from reasoningbank_langgraph.extraction.metadata import Metadata, with_metadata
from reasoningbank_langgraph.namespaces import DEFAULT_NAMESPACE, Filled, check_template
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.nodes._outage import is_outage, log_outage
from reasoningbank_langgraph.policies import Effect, Evidence, GroupCredit, GuardStatus, Pairs, PolicyLike, Trial
from reasoningbank_langgraph.records import Episode, MemoryItem, PendingAttempt
from reasoningbank_langgraph.state import ChannelNames, UnwrittenAttempt
from reasoningbank_langgraph.state.channels import experience_of

logger = logging.getLogger(__name__)


def create_consolidate(
    *,
    namespace: str | Sequence[str] = DEFAULT_NAMESPACE,
    match: Match = "both",
    episodes: bool = True,
    policy: PolicyLike = "append",
    metadata: Metadata | None = None,
) -> MemoryNode:
    """Return a node that writes `lessons` and `episodes` into the bank and their ids into `written` and `kept`.

    An attempt that waits for a verdict or for a model (`pending`) is written likewise.

    All that an attempt left becomes visible together. A retry, resume or replay of the same attempt adds nothing: the
    ids are fixed beforehand, and an attempt with the same thread, task and trajectory is recognised by its content.

    If the store cannot be reached, the run still ends with its answer. `memory_error` then says why, and the lessons
    wait in `unwritten` for the next run of the thread. A `retry_policy` on the node has nothing to retry.

    Args:
        namespace: labels of the bank; labels in braces come from `config["configurable"]` or the runtime context.
        match: what a later task is matched with: the `task` the lesson was learned on, the `lesson`, or `both`.
        episodes: False keeps the lessons of an attempt and not the attempt itself.
        policy: what becomes of lessons that the bank has already: `append` adds them all the same (as in the paper),
            `skip` leaves equal ones out, `link` that too and links near copies, of which a search shows one. Or a
            `Policy`, which also bounds how many lessons there are.
        metadata: `tags`, `scope` and `difficulty` of the lessons, as a mapping or a function from a lesson to one.

    Raises:
        ValueError: `match` is none of the three, or there is no such policy.
        NamespaceError: stores refuse a label of the namespace (raised here), or a label has no value (raised in a run).
        MissingStoreError: the graph runs without a store.
    """
    template = check_template(namespace)
    check_match(match)
    chosen = check_policy(policy, match)

    def start(state: State, context: Context) -> tuple[list[UnwrittenAttempt], _Writing]:
        earlier: list[UnwrittenAttempt] = state.get("unwritten") or []
        own = UnwrittenAttempt(
            namespace=list(context.namespace(template)),
            items=with_metadata(state.get("lessons") or [], metadata),
            seen=list(map(experience_of, earlier)),
        )
        _add_attempts(own, state, episodes=episodes)
        _add_evidence(own, state)
        _add_usage(own, state)
        return [*earlier, own], _Writing(context, own["namespace"], alone=not earlier and context.nested)

    def consolidate(state: State, context: Context) -> Update:
        unwritten, writing = start(state, context)
        while unwritten:
            try:
                bank, left = _bank(unwritten[0], match, context), _records(unwritten[0])
                writing.add(bank.add(**left, policy=chosen, written=ids_of_branch(state)), unwritten[0], bank)
            except Exception as error:
                if not is_outage(error):
                    raise
                return writing.break_off(unwritten, error)
            unwritten.pop(0)
        return writing.update()

    async def aconsolidate(state: State, context: Context) -> Update:
        unwritten, writing = start(state, context)
        while unwritten:
            try:
                bank, left = _bank(unwritten[0], match, context), _records(unwritten[0])
                writing.add(await bank.aadd(**left, policy=chosen, written=ids_of_branch(state)), unwritten[0], bank)
            except Exception as error:
                if not is_outage(error):
                    raise
                return writing.break_off(unwritten, error)
            unwritten.pop(0)
        return writing.update()

    return MemoryNode("consolidate", consolidate, aconsolidate, ChannelNames())


class _Writing:
    """What was written so far.

    Args:
        context: context of the node.
        namespace: namespace of the bank this run writes to.
        alone: whether to leave the channel `unwritten` alone: nothing was waiting here, and the loop runs inside
            another graph, where something may be waiting.
    """

    def __init__(self, context: Context, namespace: list[str], *, alone: bool) -> None:
        self.started, self.context = time.perf_counter(), context
        self.namespace, self.ids, self.kept = namespace, list[str](), list[str]()
        self.added, self.alone, self.quarantined, self.pending = 0, alone, list[str](), list[str]()
        self.effects, self.embedded = Counter[Effect](), Counter[str]()

    def add(self, written: WeighedResult, attempt: UnwrittenAttempt, bank: MemoryBank) -> None:
        self.embedded.update(bank.tally.of("embed"))
        self.ids += written.ids
        self.added += written.added
        waits = [attempt["pending"]["id"]] if attempt.get("pending") else []
        self.pending += waits
        self.kept += [*(episode["id"] for episode in attempt.get("episodes", ())), *waits]
        self.quarantined += written.quarantined
        self.effects.update(one.effect for one in written.treated)
        if written.quarantined:
            logger.warning("lessons that do harm were quarantined: %s", ", ".join(written.quarantined))
        if written.switched:
            self._tell(written.switched, attempt["namespace"])

    def _tell(self, status: GuardStatus, namespace: list[str]) -> None:
        """Log and emit that the guard switched memory on or off, with the figures that decided."""
        pairs = status.decided_by or Pairs()
        logger.log(
            logging.WARNING if status.state == "off" else logging.INFO,
            "the guard switched memory %s for bank %s (pairs of tasks: %d, fixed by memory: %d, broken: %d)",
            *(status.state, "/".join(namespace), pairs.count, pairs.fixed, pairs.broken),
        )
        self.context.emit(
            GuardEvent(
                type=TYPE,
                event="guard",
                ms=milliseconds_since(self.started),
                count=pairs.count,
                ids=[],
                state=status.state,
                model=status.model,
                fixed=pairs.fixed,
                broken=pairs.broken,
                ties=pairs.ties,
                namespace=namespace,
            )
        )

    def update(self, problem: str | None = None) -> Update:
        event = ConsolidatedEvent(
            type=TYPE,
            event="consolidated",
            ms=milliseconds_since(self.started),
            count=self.added,
            ids=self.ids,
            namespace=self.namespace,
            usage=dict(self.embedded),
        )
        if problem is not None:
            event["error"] = problem
        if self.quarantined:
            event["quarantined"] = self.quarantined
        if self.effects:
            event["effects"] = dict(self.effects)
        if self.pending:
            event["pending"] = self.pending
        self.context.emit(event)
        kept = {"kept": self.kept} if self.kept else {}
        return {"written": self.ids, **kept, **({} if self.alone else {"unwritten": []})}

    def break_off(self, unwritten: list[UnwrittenAttempt], error: Exception) -> Update:
        problem = log_outage("consolidate", error)
        parts = ("items", "episodes", "trial", "credit", "pending")
        waiting = [attempt for attempt in unwritten if any(attempt.get(part) for part in parts)]
        return {**self.update(problem), "unwritten": waiting, "memory_error": problem}


def _add_attempts(attempt: UnwrittenAttempt, state: State, *, episodes: bool) -> None:
    """Add the attempt itself, as it is kept and as it waits."""
    if episodes and (kept := state.get("episodes")):
        attempt["episodes"] = kept
    if pending := state.get("pending"):
        attempt["pending"] = {**pending, "keeps_episodes": episodes}


def _add_evidence(attempt: UnwrittenAttempt, state: State) -> None:
    """Add what came of a task the guard watches, unless it could not be judged, and of lessons that were compared."""
    trial, status = state.get("trial"), (state.get("verdict") or {}).get("status")
    if trial and status in ("success", "failure"):
        attempt["trial"] = {**trial, "right": status == "success"}
    if credit := state.get("credit"):
        attempt["credit"] = credit


def _add_usage(attempt: UnwrittenAttempt, state: State) -> None:
    """Add what the attempt used, to what is kept of it or, until something is, to what waits."""
    usage = {step: counts for step, counts in (state.get("memory_usage") or {}).items() if counts}
    if usage and (attempt.get("episodes") or attempt["items"]):
        attempt["usage"] = usage
    elif usage and attempt.get("pending"):
        attempt["pending"]["usage"] = usage


def _bank(attempt: UnwrittenAttempt, match: Match, context: Context) -> MemoryBank:
    return MemoryBank(context.store, Filled(attempt["namespace"]), match=match, actor="graph")


def _records(attempt: UnwrittenAttempt) -> dict[str, Any]:
    episodes = [Episode(**episode) for episode in attempt.get("episodes", ())]
    trial = Trial(**attempt["trial"]) if attempt.get("trial") else None
    credit = GroupCredit(**attempt["credit"]) if attempt.get("credit") else None
    items = [MemoryItem(**lesson) for lesson in attempt["items"]]
    pending = PendingAttempt(**attempt["pending"]) if attempt.get("pending") else None
    left = {"items": items, "episodes": episodes, "evidence": Evidence(trial, credit), "pending": pending}
    return {**left, "usage": attempt.get("usage")}
