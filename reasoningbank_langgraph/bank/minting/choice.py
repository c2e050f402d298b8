"""Whether a policy suits a bank, and how similar near copies are by the embedder of its store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from reasoningbank_langgraph.embeddings import embedder_name, model_of
from reasoningbank_langgraph.errors import UnmeasuredEmbedderError
from reasoningbank_langgraph.policies import MEASURED, Policy, PolicyLike, as_policy

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

    from reasoningbank_langgraph.bank.item_values import Match


def check_policy(policy: PolicyLike, match: Match) -> Policy:
    """Return a policy.

    Raises:
        ValueError: there is no such policy, or it compares what the bank does not embed.
        TypeError: it is no policy.
    """
    chosen = as_policy(policy)
    if chosen.copies == "link" and match == "task":
        raise ValueError(
            "linking compares titles and descriptions, which match='task' does not embed: use match='both'"
        )
    return chosen


def for_embedder(policy: Policy, store: BaseStore) -> Policy:
    """Return a policy with the similarity of near copies that was measured for the store's embedder.

    Raises:
        UnmeasuredEmbedderError: it was not measured, and the policy needs it and names none.
    """
    embedder = getattr(store, "embeddings", None)
    if policy.copies != "link" or policy.similarity is not None or not isinstance(embedder, Embeddings):
        return policy
    measured = MEASURED.get((model_of(embedder) or "").rpartition("/")[2])
    if measured is None:
        raise UnmeasuredEmbedderError(embedder_name(embedder))
    return replace(policy, similarity=measured)
