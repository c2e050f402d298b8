"""Counts what models and embedders do for memory, apart from what the solver asks of models."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import merge_configs

from reasoningbank_langgraph.chat.tracing import TAG, labels, run_name
from reasoningbank_langgraph.records.usage import SOLVE, Usage, add_counts, total_usage

if TYPE_CHECKING:
    from langchain_core.outputs import LLMResult


def usage_of(response: LLMResult) -> list[Mapping[str, Any]]:
    """Return the `usage_metadata` of each message of a reply."""
    messages = [getattr(choice, "message", None) for choices in response.generations for choice in choices]
    return [getattr(message, "usage_metadata", None) or {} for message in messages]


class Tally(BaseCallbackHandler):
    """Counts the tokens of all model calls below it by step, as replies state them; of a call that fails, none."""

    run_inline = True  # counted before the call returns
    ignore_agent = ignore_chain = ignore_chat_model = ignore_custom_event = ignore_retriever = ignore_retry = True

    def __init__(self) -> None:
        self.usage: dict[str, dict[str, int]] = {}
        self._new: dict[str, dict[str, int]] = {}
        self._lock = threading.Lock()

    def on_llm_end(self, response: LLMResult, *, tags: Sequence[str] | None = None, **kwargs: Any) -> None:
        """Count one call: memory's own by the step that its tags name, any other as the solver's."""
        counts = {"calls": 1}
        for used in usage_of(response):
            add_counts(counts, used)
        named = [tag.removeprefix(run_name("")) for tag in tags or () if tag.startswith(run_name(""))]
        self.count({named[0] if named and TAG in (tags or ()) else SOLVE: counts})

    def count(self, usage: Usage) -> None:
        """Add what was used."""
        with self._lock:
            self.usage, self._new = total_usage(self.usage, usage), total_usage(self._new, usage)

    def of(self, step: str) -> dict[str, int]:
        """Return what a step used so far."""
        return dict(self.usage.get(step, {}))

    def take(self) -> Usage:
        """Return what was counted since the last time, to be written down; `put_back` it if that fails."""
        with self._lock:
            taken, self._new = self._new, {}
        return taken

    def put_back(self, taken: Usage) -> None:
        """Have what was taken count as new again."""
        with self._lock:
            self._new = total_usage(taken, self._new)

    def config(self, step: str, config: RunnableConfig | None = None, **ids: Any) -> RunnableConfig:
        """Return a config to count and label a step with, by default made from that of the run around it."""
        more: RunnableConfig = {**labels(step, **ids), "callbacks": [self]}
        return merge_configs(ensure_config(config), more)
