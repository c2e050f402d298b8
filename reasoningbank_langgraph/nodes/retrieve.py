"""First node of the loop: find lessons for the task and render them for the model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.bank import MemoryBank, check_question, ids_of_branch, task_key_without_secrets
from reasoningbank_langgraph.events import TYPE, RetrievedEvent, milliseconds_since
from reasoningbank_langgraph.namespaces import DEFAULT_NAMESPACE, check_template
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.nodes._outage import is_outage, log_outage
from reasoningbank_langgraph.records import RetrievedMemory
from reasoningbank_langgraph.state import ChannelNames, Selector
from reasoningbank_langgraph.state.attempts import stale_channels, start_attempt, task_update
from reasoningbank_langgraph.text import render_memories

if TYPE_CHECKING:
    from reasoningbank_langgraph.policies import Guard, GuardStatus, Trial


def create_retrieve(
    *,
    namespace: str | Sequence[str] = DEFAULT_NAMESPACE,
    k: int = 1,
    max_items: int = 3,
    min_score: float | None = None,
    guard: Guard | None = None,
    task: Selector = "task",
    answer: Selector = "answer",
    messages: Selector = "messages",
) -> MemoryNode:
    """Return a node that fills `memories` (records) and `memory_prompt` (text for the model) for the task.

    Lessons of the same task are never returned, nor lessons of another branch of the same thread. The model sees the
    lessons only if its prompt includes `memory_prompt`, best as a user message before the task.

    If the store cannot be reached, the task is solved without lessons, and `memory_error` says why. A `retry_policy` on
    the node has nothing to retry: let the store's client retry its connection.

    Args:
        namespace: labels of the bank; labels in braces come from `config["configurable"]` or the runtime context.
        k: number of experiences to retrieve; one is best in the paper (section 4.5).
        max_items: largest number of lessons to show.
        min_score: lowest similarity, 0..1.
        guard: has some tasks solved without memory, and memory switched off where it hurts. `create_consolidate`
            counts what comes of them.
        task: channel that holds the task (text, or messages, where the user's last one counts), or a function from
            the state to it.
        answer: likewise for the answer.
        messages: likewise for the conversation.

    Raises:
        NamespaceError: stores refuse a label of the namespace (raised here), or a label has no value (raised in a run).
        InvalidTaskError: in a run, the task is empty, too long or not text.
        MissingStoreError: the graph runs without a store.
    """
    names = ChannelNames(task, answer, messages)
    return create_lookup(names, namespace, begins=True, k=k, max_items=max_items, min_score=min_score, guard=guard)


def create_begin(names: ChannelNames) -> MemoryNode:
    """Return a node that begins an attempt as `create_retrieve` does, without looking anything up."""

    def begin(state: State, context: Context) -> Update:
        return {**_begin(state, context, names), **_channels([]), "memory_error": None}

    async def abegin(state: State, context: Context) -> Update:
        return begin(state, context)

    return MemoryNode("begin", begin, abegin, names)


def create_lookup(
    names: ChannelNames,
    namespace: str | Sequence[str],
    *,
    begins: bool,
    k: int,
    max_items: int,
    min_score: float | None,
    guard: Guard | None,
) -> MemoryNode:
    """Return the node of `create_retrieve`; with `begins=False`, for an attempt that another node began."""
    template = check_template(namespace)
    options: dict[str, Any] = {"k": k, "max_items": max_items, "min_score": min_score}
    check_question(k, max_items, min_score)

    def retrieve(state: State, context: Context) -> Update:
        search = _Search(state, context, template, _begin(state, context, names) if begins else {}, guard)
        try:
            found = search.bank.search(**search.question, **options)
            return search.update(found, search.bank.guard(guard.model) if guard and found else None)
        except Exception as error:
            if not is_outage(error):
                raise
            return search.update([], problem=log_outage("retrieve", error))

    async def aretrieve(state: State, context: Context) -> Update:
        search = _Search(state, context, template, _begin(state, context, names) if begins else {}, guard)
        try:
            found = await search.bank.asearch(**search.question, **options)
            return search.update(found, await search.bank.aguard(guard.model) if guard and found else None)
        except Exception as error:
            if not is_outage(error):
                raise
            return search.update([], problem=log_outage("retrieve", error))

    return MemoryNode("retrieve", retrieve, aretrieve, names)


class _Search:
    """One search: the bank, the question, and the update of the state with what is found."""

    def __init__(
        self, state: State, context: Context, template: Sequence[str], begun: Update, guard: Guard | None
    ) -> None:
        self.started, self.context, self.begun, self.guard = time.perf_counter(), context, begun, guard
        attempt = (begun or state)["attempt"]
        self.bank = MemoryBank(context.store, context.namespace(template))
        self.question: dict[str, Any] = {
            "task": attempt["task"],
            "task_id": attempt["task_id"],
            "thread_id": context.thread_id,
            "written": ids_of_branch(state),
            "attempt": attempt,
        }

    def update(
        self, found: list[RetrievedMemory], status: GuardStatus | None = None, problem: str | None = None
    ) -> Update:
        trial = self._trial(status)
        withheld = trial.withheld if trial else None
        memories = [] if withheld else found
        self.context.emit(
            RetrievedEvent(
                type=TYPE,
                event="retrieved",
                ms=milliseconds_since(self.started),
                count=len(memories),
                ids=[memory.item.id for memory in memories],
                scores=[memory.score for memory in memories],
                namespace=list(self.bank.namespace),
                withheld=withheld,
            )
        )
        return {**self.begun, **_channels(memories, trial), "memory_error": problem}

    def _trial(self, status: GuardStatus | None) -> Trial | None:
        """Return how the guard wants the task to be solved, None without a guard or lessons."""
        if self.guard is None or status is None:
            return None
        return self.guard.trial(task_key_without_secrets(self.question["task"]), status)


def _begin(state: State, context: Context, names: ChannelNames) -> Update:
    """Return the update with which an attempt begins, and clear what an earlier task left."""
    attempt = start_attempt(state, names, context.began, newest=context.reads_newest)
    return {**stale_channels(state, names), **task_update(state, names, attempt), "attempt": attempt}


def memory_channels(memories: Sequence[RetrievedMemory]) -> Update:
    """Return the channels that a solver reads lessons from; they are empty if there are none."""
    return {"memories": [memory.to_json() for memory in memories], "memory_prompt": render_memories(memories)}


def _channels(memories: list[RetrievedMemory], trial: Trial | None = None) -> Update:
    """Return the channels that the lessons fill, and clear those that an earlier task filled."""
    drawn = {"trial": trial.to_json() if trial else None}
    return {**memory_channels(memories), **drawn, "verdict": None, "lessons": [], "extraction": None}
