"""A worker of this process that judges and distils what waits, after the answer."""

from __future__ import annotations

import asyncio
import copy
import logging
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from langchain_core.runnables import RunnableLambda

from reasoningbank_langgraph.bank import Match, MemoryBank
from reasoningbank_langgraph.chat.threads import in_own_thread
from reasoningbank_langgraph.judges import EnsembleJudge, JudgeLike, as_judge
from reasoningbank_langgraph.judges.base import is_async_only
from reasoningbank_langgraph.namespaces import Filled, check_template
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.nodes._learner import Learner
from reasoningbank_langgraph.nodes._outage import is_outage
from reasoningbank_langgraph.state import ChannelNames
from reasoningbank_langgraph.text import redact_secrets

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable
    from langgraph.store.base import BaseStore

    from reasoningbank_langgraph.records import Attempt

logger = logging.getLogger(__name__)

QUEUE = 1_000
"""Banks that may wait for a worker; another one waits for the next run that adds to it."""
_workers: WeakSet[Worker] = WeakSet()


class Worker:
    """Learns from what waits in banks, one attempt after another, in a thread of its own.

    What is to be learned is written to the bank before a run returns its answer. So nothing is lost if the process is
    killed: the next run that adds to the bank, in any process, finds it there.
    """

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._begin_anew()
        _workers.add(self)

    def wake(self, store: BaseStore, namespace: Filled, match: Match) -> None:
        """Have the worker look into a bank soon. It never waits for it."""
        if self._process != os.getpid():
            self._begin_anew()  # a forked child has none of its parent's threads
        bank = (store, namespace)
        with self._lock:
            if bank in self._queued:
                return
            if len(self._queued) >= QUEUE:
                logger.warning("%d banks wait to be learned from: %s waits for its next run", QUEUE, namespace)
                return
            self._queued.add(bank)
        self._thread.submit(self._look_into, bank, match)

    def drain(self, timeout: float | None = None) -> bool:
        """Wait until the worker has looked into all banks; say whether it has."""
        if self._process != os.getpid():
            return True
        done = self._thread.submit(lambda: None)
        return bool(wait([done], timeout).done)

    def _begin_anew(self) -> None:
        self._process, self._lock = os.getpid(), threading.Lock()
        self._queued: set[tuple[BaseStore, Filled]] = set()
        self._tried: WeakKeyDictionary[BaseStore, set[tuple[tuple[str, ...], str]]] = WeakKeyDictionary()
        self._thread = ThreadPoolExecutor(1, "reasoningbank-learn")

    def _look_into(self, bank: tuple[BaseStore, Filled], match: Match) -> None:
        with self._lock:
            self._queued.discard(bank)
        try:
            self._learn(MemoryBank(*bank, match=match, actor="graph"))
        except Exception as error:  # noqa: BLE001 - nobody waits for this; what waits is in the bank
            message = redact_secrets(f"{type(error).__name__}: {error}"[:600]).text
            logger.warning("learning in the background broke off, and what waits is kept: %s", message)

    def _learn(self, bank: MemoryBank) -> None:
        tried = self._tried.setdefault(bank.store, set())
        for pending in bank.pending():
            name = (bank.namespace, pending.id)  # tenants may have equal attempts
            if pending.waits_for != "model" or name in tried:
                continue
            try:
                outcome = self._learner.learn(bank, pending)
            except Exception as error:
                if not is_outage(error):
                    tried.add(name)  # a mistake of the judge at it, say: the next look goes on behind it
                raise
            if outcome.ends_all:
                return
            if outcome.now == "waiting":
                tried.add(name)


def create_hand_over(worker: Worker, namespace: str | Sequence[str], match: Match, names: ChannelNames) -> MemoryNode:
    """Return a node that wakes the worker if an attempt waits, for after `create_consolidate`; it waits for nothing."""
    template = check_template(namespace)

    def hand_over(state: State, context: Context) -> Update:
        if state.get("pending"):
            worker.wake(context.store, context.namespace(template), match)
        return {}

    async def ahand_over(state: State, context: Context) -> Update:
        return hand_over(state, context)

    return MemoryNode("hand_over", hand_over, ahand_over, names)


def judge_in_thread(judge: JudgeLike) -> Runnable[Attempt, Any]:
    """Return a judge for the worker's thread, where an async function has an event loop of its own."""
    if isinstance(judge, EnsembleJudge):
        same = copy.copy(judge)
        same.judges = [judge_in_thread(inner) for inner in judge.judges]
        return same
    runnable = as_judge(judge)
    if not is_async_only(runnable):
        return runnable
    return RunnableLambda(lambda attempt: asyncio.run(runnable.ainvoke(attempt)), name=runnable.get_name())


def drain(timeout: float | None = None) -> bool:
    """Wait until what runs of this process left for the background is learned, before a store is closed, for example.

    A program that ends waits for it too. What could not be learned, because a model or the store was out of reach, is
    in `MemoryBank.pending()`. An async program awaits `adrain` instead: an async store needs its loop to be written to.

    Args:
        timeout: seconds to wait at most; None for no limit.

    Returns:
        Whether the workers are done.
    """
    workers = list(_workers)
    if timeout is None:
        return all(worker.drain() for worker in workers)
    until = time.monotonic() + timeout
    return all(worker.drain(max(0.0, until - time.monotonic())) for worker in workers)


async def adrain(timeout: float | None = None) -> bool:  # noqa: ASYNC109 - of the workers, not of this call
    """Async form of `drain`."""
    return await in_own_thread("drain", partial(drain, timeout))
