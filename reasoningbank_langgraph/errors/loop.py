"""Graphs whose nodes cannot do their work."""

from __future__ import annotations

from reasoningbank_langgraph.errors.base import ReasoningBankError


class MissingStoreError(ReasoningBankError):
    """A node needs a store and the graph has none."""

    def __init__(self, node: str) -> None:
        self.node = node
        super().__init__(
            f"node {node!r} found no store: compile the graph with compile(store=...), or make the agent with "
            "create_agent(..., store=...), for example ChromaStore.from_path('./bank')"
        )


class MissingStateError(ReasoningBankError):
    """A node needs a channel that an earlier node should have filled."""

    def __init__(self, node: str, channel: str, earlier: str) -> None:
        self.node, self.channel, self.earlier = node, channel, earlier
        super().__init__(
            f"node {node!r} found nothing in channel {channel!r}: run {earlier!r} before it; where `task`, `answer` or "
            "`messages` is a function, the graph's state has to include ReasoningBankState"
        )


class CachedNodeError(ReasoningBankError, ValueError):
    """A node that reads or writes memory is cached, or a node around it, though its result depends on the bank too."""

    def __init__(self, node: str) -> None:
        self.node = node
        super().__init__(
            f"node {node!r}, or a node or task around it, has a cache policy: a cache would hand one tenant's memory "
            "to another and keep lessons from being written; leave cache_policy out there, and if "
            "set_node_defaults() sets it for all nodes, set it on your own with add_node(..., cache_policy=...)"
        )


class TooFewAttemptsError(ReasoningBankError):
    """Fewer rollouts of a task finished than `min_attempts` asks for."""

    def __init__(self, ended: int, needed: int, failures: dict[int, str], kind: str = "other") -> None:
        self.ended, self.needed, self.failures, self.kind = ended, needed, failures, kind
        causes = "; ".join(f"rollout {number}: {cause}" for number, cause in sorted(failures.items()))
        super().__init__(
            f"{ended} rollouts finished and min_attempts asks for {needed} ({causes}): "
            "remove the cause and run the task again, or lower min_attempts"
        )


class JudgeError(ReasoningBankError, TypeError):
    """An object given as a judge does not answer like one: a mistake in the program, so it ends the run."""
