"""First node of the loop: find lessons for the task and render them for the model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from reasoningbank_langgraph.bank import MemoryBank, check_question, known_to
from reasoningbank_langgraph.namespaces import DEFAULT_NAMESPACE, check_template
from reasoningbank_langgraph.nodes._base import Context, MemoryNode, State, Update
from reasoningbank_langgraph.nodes._outage import is_outage, told
from reasoningbank_langgraph.records import RetrievedMemory
from reasoningbank_langgraph.state import Names, Selector
from reasoningbank_langgraph.state.attempts import asked, begin, forgotten
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

    Lessons of the same task are never returned, nor those of another branch of the same thread. The model sees the
    lessons only if its prompt includes `memory_prompt`, best as a user message before the task. When the store is out
    of reach, there are no lessons and `memory_error` says why: the task is solved without, and a `retry_policy` of the
    node has nothing to retry. Retries of a connection belong to the store's client.

    Args:
        namespace: labels of the bank; labels in braces come from `config["configurable"]` or the runtime context.
        k: experiences to retrieve; one is best in the paper (section 4.5).
        max_items: lessons to show in all.
        min_score: floor of the similarity, 0..1.
        task: channel that holds the task (text, or messages of which the last of the user counts), or a function
            from the state to it.
        answer: likewise for the answer.
        messages: likewise for the conversation.

    Raises:
        NamespaceError: the namespace has a label that stores refuse (here), or lacks a value (when run).
        InvalidTaskError: when run, the task is empty, too long or no text.
        MissingStoreError: when run in a graph without a store.
    """
    template, names = check_template(namespace), Names(task, answer, messages)
    options: dict[str, Any] = {"k": k, "max_items": max_items, "min_score": min_score}
    check_question(k, max_items, min_score)

    def question(state: State, context: Context) -> tuple[MemoryBank, dict[str, Any], dict[str, Any]]:
        begun = begin(state, names, context.began)
        bank = MemoryBank(context.store, context.namespace(template))
        branch = {"thread_id": context.thread_id, "written": known_to(state), "attempt": begun}
        sought = {"task": begun["task"], "task_id": begun["task_id"], **branch, **options}
        return bank, {**forgotten(state, names), **asked(state, names, begun), "attempt": begun}, sought

    def retrieve(state: State, context: Context) -> Update:
        started = time.perf_counter()
        bank, begun, sought = question(state, context)
        try:
            return _shown(begun, bank, bank.search(**sought), context, started)
        except Exception as error:
            if not is_outage(error):
                raise
            return _unreached(begun, bank, error, context, started)

    async def aretrieve(state: State, context: Context) -> Update:
        started = time.perf_counter()
        bank, begun, sought = question(state, context)
        try:
            return _shown(begun, bank, await bank.asearch(**sought), context, started)
        except Exception as error:
            if not is_outage(error):
                raise
            return _unreached(begun, bank, error, context, started)

    return MemoryNode("retrieve", retrieve, aretrieve, names)


def _unreached(begun: dict[str, Any], bank: MemoryBank, error: Exception, context: Context, started: float) -> Update:
    return {**_shown(begun, bank, [], context, started), "memory_error": told("retrieve", error)}


def _shown(
    begun: dict[str, Any], bank: MemoryBank, memories: list[RetrievedMemory], context: Context, started: float
) -> Update:
    context.emit(
        "retrieved",
        started,
        count=len(memories),
        ids=[memory.item.id for memory in memories],
        scores=[memory.score for memory in memories],
        namespace=list(bank.namespace),
    )
    return {
        **begun,
        "memories": [memory.to_json() for memory in memories],
        "memory_prompt": render_memories(memories),
        "verdict": None,
        "lessons": [],
        "extraction": None,
        "memory_error": None,
    }
