"""First node of the loop: find lessons for the task and render them for the model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from reasoningbank_langgraph.bank import MemoryBank, check_question, ids_of_branch
from reasoningbank_langgraph.events import TYPE, RetrievedEvent, milliseconds_since
from reasoningbank_langgraph.namespaces import DEFAULT_NAMESPACE, check_template
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.nodes._outage import is_outage, log_outage
from reasoningbank_langgraph.records import RetrievedMemory
from reasoningbank_langgraph.state import ChannelNames, Selector
from reasoningbank_langgraph.state.attempts import stale_channels, start_attempt, task_update
from reasoningbank_langgraph.text import render_memories


def create_retrieve(
    *,
    namespace: str | Sequence[str] = DEFAULT_NAMESPACE,
    k: int = 1,
    max_items: int = 3,
    min_score: float | None = None,
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
        task: channel that holds the task (text, or messages, where the user's last one counts), or a function from
            the state to it.
        answer: likewise for the answer.
        messages: likewise for the conversation.

    Raises:
        NamespaceError: stores refuse a label of the namespace (raised here), or a label has no value (raised in a run).
        InvalidTaskError: in a run, the task is empty, too long or not text.
        MissingStoreError: the graph runs without a store.
    """
    template, names = check_template(namespace), ChannelNames(task, answer, messages)
    options: dict[str, Any] = {"k": k, "max_items": max_items, "min_score": min_score}
    check_question(k, max_items, min_score)

    def retrieve(state: State, context: Context) -> Update:
        search = _Search(state, context, template, names)
        try:
            return search.update(search.bank.search(**search.question, **options))
        except Exception as error:
            if not is_outage(error):
                raise
            return search.update([], log_outage("retrieve", error))

    async def aretrieve(state: State, context: Context) -> Update:
        search = _Search(state, context, template, names)
        try:
            return search.update(await search.bank.asearch(**search.question, **options))
        except Exception as error:
            if not is_outage(error):
                raise
            return search.update([], log_outage("retrieve", error))

    return MemoryNode("retrieve", retrieve, aretrieve, names)


class _Search:
    """One search: the bank, the question, and the update of the state with what is found."""

    def __init__(self, state: State, context: Context, template: Sequence[str], names: ChannelNames) -> None:
        self.started, self.context = time.perf_counter(), context
        attempt = start_attempt(state, names, context.began, newest=context.reads_newest)
        self.bank = MemoryBank(context.store, context.namespace(template))
        self.question: dict[str, Any] = {
            "task": attempt["task"],
            "task_id": attempt["task_id"],
            "thread_id": context.thread_id,
            "written": ids_of_branch(state),
            "attempt": attempt,
        }
        self.channels = {**stale_channels(state, names), **task_update(state, names, attempt), "attempt": attempt}

    def update(self, memories: list[RetrievedMemory], problem: str | None = None) -> Update:
        self.context.emit(
            RetrievedEvent(
                type=TYPE,
                event="retrieved",
                ms=milliseconds_since(self.started),
                count=len(memories),
                ids=[memory.item.id for memory in memories],
                scores=[memory.score for memory in memories],
                namespace=list(self.bank.namespace),
            )
        )
        return {**self.channels, **_channels(memories), "memory_error": problem}


def _channels(memories: list[RetrievedMemory]) -> Update:
    """Return the channels that the lessons fill, and clear those that an earlier task filled."""
    return {
        "memories": [memory.to_json() for memory in memories],
        "memory_prompt": render_memories(memories),
        "verdict": None,
        "lessons": [],
        "extraction": None,
    }
