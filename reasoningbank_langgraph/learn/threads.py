"""Learning from threads of the past: whatever ran, with the loop or without, is judged and distilled once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from langchain_core.runnables.config import ContextThreadPoolExecutor
from langgraph.checkpoint.base import BaseCheckpointSaver

from reasoningbank_langgraph.bank import MemoryBank, check_policy, check_store
from reasoningbank_langgraph.chat.models import ModelLike
from reasoningbank_langgraph.errors import InvalidMomentError, MissingNamespaceLabelError, NamespaceError
from reasoningbank_langgraph.learn.asking import Asked
from reasoningbank_langgraph.learn.attempts import Learning
from reasoningbank_langgraph.learn.checkpoints import End, History, newest_checkpoints
from reasoningbank_langgraph.learn.coverage import Coverage, Outcome, Skip, SkipReason, coverage_of
from reasoningbank_langgraph.learn.readers import Graph, Reader, State, names_in
from reasoningbank_langgraph.learn.turns import Turn, marks, turns
from reasoningbank_langgraph.learn.watermark import Watermark
from reasoningbank_langgraph.namespaces import check_template, resolve
from reasoningbank_langgraph.records import utc_now
from reasoningbank_langgraph.state.lineage import checkpoint_time
from reasoningbank_langgraph.text import redact_secrets

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

    from reasoningbank_langgraph.judges import JudgeLike
    from reasoningbank_langgraph.policies import PolicyLike
    from reasoningbank_langgraph.state import Selector

Progress = Callable[[int, int], None]
"""Told after each thread how many are done, and of how many."""
_LANGGRAPHS_OWN = {"source", "step", "parents", "writes", "run_id"}
"""Names under which the metadata of a checkpoint holds values of LangGraph's, even if a caller gave others."""
_MOMENT = timedelta(microseconds=1)


def learn_from_threads(
    graph: Graph | None,
    *,
    model: ModelLike,
    checkpointer: BaseCheckpointSaver[Any],
    store: BaseStore,
    namespace: str | Sequence[str],
    since: datetime | None = None,
    judge: JudgeLike | None = None,
    policy: PolicyLike = "append",
    max_concurrency: int = 1,
    time_limit: float = 120.0,
    task: Selector | None = None,
    answer: Selector | None = None,
    messages: Selector | None = None,
    progress: Progress | None = None,
) -> Coverage:
    """Judge and distil the attempts in the threads of a checkpointer that nothing was learned from yet.

    A run of the loop is one attempt; in the threads of other graphs each turn of the user is one. Checkpoints are only
    read. An attempt is known by its content, so nothing is learned twice, and a call that was broken off can be
    repeated. The next call begins where this one ended, and tries again where the judge or the model failed.

    Args:
        graph: the graph that made the threads, compiled or not; None for threads that hold messages.
        model: judges and distils.
        checkpointer: holds the threads.
        store: holds the bank.
        namespace: labels of the bank; those in braces come from `config["configurable"]`, as each checkpoint keeps it.
        since: begin with checkpoints newer than this, in place of where the last call ended.
        judge: any judge, or a function from `Attempt` to `Verdict`, in place of `LLMJudge`.
        policy: what becomes of lessons the bank has already, as in `create_reasoning_bank`.
        max_concurrency: threads that are worked on at a time.
        time_limit: seconds one call of the model may take.
        task: the graph's name for the task's channel, or a function from the state to the task; by default, as for the
            next two, what the nodes of the loop in the graph say, or else the usual name.
        answer: likewise for the answer.
        messages: likewise for the conversation.
        progress: called after each thread with the number that are done and the number there are.

    Raises:
        NamespaceError: stores refuse a label of the namespace.
        InvalidMomentError: `since` has no zone.
        ModelUnavailableError: the name stands for no model. A call that fails is no error: see `Coverage`.
        JudgeError: the judge returns neither a verdict nor a bool, or is async only.
        TypeError: the graph, the checkpointer or the store is none.
    """
    asked = Asked.of(model, judge, time_limit)
    reader = Reader(graph, _checked(checkpointer), names_in(graph, task, answer, messages))
    return _Walk(reader, asked, store, namespace, policy).run(since, max_concurrency, progress)


async def alearn_from_threads(
    graph: Graph | None,
    *,
    model: ModelLike,
    checkpointer: BaseCheckpointSaver[Any],
    store: BaseStore,
    namespace: str | Sequence[str],
    since: datetime | None = None,
    judge: JudgeLike | None = None,
    policy: PolicyLike = "append",
    max_concurrency: int = 1,
    time_limit: float = 120.0,
    task: Selector | None = None,
    answer: Selector | None = None,
    messages: Selector | None = None,
    progress: Progress | None = None,
) -> Coverage:
    """Async form of `learn_from_threads`: model and judge are called in this loop, the rest is done beside it."""
    asked = Asked.of(model, judge, time_limit, asyncio.get_running_loop())
    reader = Reader(graph, _checked(checkpointer), names_in(graph, task, answer, messages))
    walk = _Walk(reader, asked, store, namespace, policy)
    try:
        return await asyncio.to_thread(walk.run, since, max_concurrency, progress)
    finally:
        walk.stopped.set()


def _checked(checkpointer: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    if not isinstance(checkpointer, BaseCheckpointSaver):
        raise TypeError(f"checkpointer must be a checkpointer of LangGraph, got {type(checkpointer).__name__}")
    return checkpointer


class _Walk:
    """One walk over the threads of a checkpointer."""

    def __init__(
        self, reader: Reader, asked: Asked, store: BaseStore, namespace: str | Sequence[str], policy: PolicyLike
    ) -> None:
        self.reader, self.asked, self.policy = reader, asked, check_policy(policy, "both")
        self.store, self.template = check_store(store), check_template(namespace)
        self.stopped = threading.Event()
        self._forgotten: dict[tuple[str, ...], frozenset[str]] = {}

    def run(self, since: datetime | None, at_once: int, progress: Progress | None) -> Coverage:
        """Learn from all threads with something new, oldest first."""
        if at_once < 1:
            raise ValueError(f"max_concurrency must be at least 1, got {at_once}")
        if since is not None and getattr(since, "tzinfo", None) is None:
            raise InvalidMomentError(f"since must be a time with its zone, got {since!r}")
        watermark = Watermark(self.store, self.template, self.reader.saver)
        begin = watermark.since()
        start = begin if since is None else since
        newest = newest_checkpoints(self.reader.saver, start)
        until = min(max(map(checkpoint_time, newest.values()), default=start), utc_now())  # a clock may be ahead
        outcomes = self._threads(list(newest), start, at_once, progress)
        if newest and start <= begin and not self.stopped.is_set():  # else something before `until` was not read
            missed = (outcome.at for outcome in outcomes if outcome.skip and outcome.skip.reason == "outage")
            watermark.move(min((at - _MOMENT for at in missed), default=until), newest)
        return coverage_of(len(newest), outcomes)

    def forgotten(self, bank: MemoryBank) -> frozenset[str]:
        """Return the ids of what was removed from a bank, as its ledger tells."""
        if bank.namespace not in self._forgotten:
            changes = (change for change in bank.log() if change.kind == "forgotten")
            self._forgotten[bank.namespace] = frozenset(name for change in changes for name in change.ids)
        return self._forgotten[bank.namespace]

    def _threads(
        self, thread_ids: Sequence[str], since: datetime, at_once: int, progress: Progress | None
    ) -> list[Outcome]:
        outcomes: list[Outcome] = []
        with ContextThreadPoolExecutor(at_once) as pool:
            waiting = [pool.submit(self._thread, thread_id, since) for thread_id in thread_ids]
            try:
                for done, thread in enumerate(as_completed(waiting), 1):
                    outcomes += thread.result()
                    if progress:
                        progress(done, len(waiting))
            except BaseException:
                self.stopped.set()
                raise
            finally:
                for thread in waiting:
                    thread.cancel()
        return outcomes

    def _thread(self, thread_id: str, since: datetime) -> list[Outcome]:
        thread = _Thread(self, thread_id)
        return [
            outcome
            for end in thread.history.ends
            if end.at > since and not self.stopped.is_set()
            for outcome in thread.learn(end)
        ]


class _Thread:
    """One thread of a walk."""

    def __init__(self, walk: _Walk, thread_id: str) -> None:
        self.walk, self.thread_id = walk, thread_id
        self.history = History(walk.reader.saver, thread_id)
        self._marks: dict[str, frozenset[str]] = {}

    def learn(self, end: End) -> Iterator[Outcome]:
        """Learn from what a run left; one that broke off and was gone on with counts where it ended."""
        try:
            state, found = self._read(end)
        except Exception as error:  # noqa: BLE001 - whatever a serialiser or a function for a channel raises
            yield self._skip(end, "unreadable", f"{type(error).__name__}: {error}")
            return
        if state.broken and end.is_leaf:
            yield self._skip(end, state.broken)
        if not found:
            return
        try:
            labels = resolve(self.walk.template, self._labels(end))
        except NamespaceError as error:
            why = _not_kept(error) if isinstance(error, MissingNamespaceLabelError) else error
            yield from (self._skip(end, "no_namespace", why) for _ in found)
            return
        walk, bank = self.walk, MemoryBank(self.walk.store, labels, actor="threads")
        learning = Learning(walk.asked, bank, end, self.thread_id, state.values, walk.policy, walk.forgotten(bank))
        for turn in found:
            if walk.stopped.is_set():
                return
            outcome = learning.learn(turn)
            yield outcome if isinstance(outcome, Outcome) else self._skip(end, *outcome)

    def _read(self, end: End) -> tuple[State, list[Turn]]:
        state = self._state(end)
        if state.broken:
            return state, []
        return state, turns(state.values, self._marks_before(end), self.walk.reader.names, self.thread_id)

    def _state(self, end: End) -> State:
        reader = self.walk.reader
        self._marks[end.checkpoint_id] = frozenset()
        state = reader.read(end.config)
        if not state.broken:
            self._marks[end.checkpoint_id] = marks(state.values, reader.names)
        return state

    def _marks_before(self, end: End) -> frozenset[str]:
        """Return the marks of the state in which the run before this one ended, the last such one that can be read."""
        for earlier in self.history.before(end):
            if earlier.checkpoint_id not in self._marks:
                with suppress(Exception):  # it is unreadable, or was reported so in an earlier walk
                    self._state(earlier)
            if known := self._marks[earlier.checkpoint_id]:
                return known
        return frozenset()

    def _labels(self, end: End) -> dict[str, Any]:
        known = {name: value for name, value in end.metadata.items() if name not in _LANGGRAPHS_OWN}
        return {**known, "thread_id": self.thread_id}

    def _skip(self, end: End, reason: SkipReason, why: object = "") -> Outcome:
        text = redact_secrets(str(why)[:300]).text
        return Outcome(end.at, skip=Skip(self.thread_id, end.checkpoint_id, reason, text))


def _not_kept(missing: MissingNamespaceLabelError) -> str:
    kept = ", ".join(sorted(missing.available))
    return (
        f"the namespace needs {missing.label!r}, and of the run's config the checkpoint kept only {kept}: learn from "
        "this thread with a namespace that does not need it"
    )
