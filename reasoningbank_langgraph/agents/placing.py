"""Where in a request to the model lessons and examples stand. None of it is kept in the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import BaseMessage, SystemMessage

from reasoningbank_langgraph.solvers.inserted_messages import LESSONS, inserted, inserted_example

Placement = Literal["trailing", "system"]
"""Where lessons stand in a request. `trailing`: in a message of the user after the conversation, so that what came
before stays in the provider's prompt cache; `system`: at the end of the system message, which gives them more weight
than text of unknown origin should have."""


def check_placement(placement: str) -> Placement:
    """Return the placement. Raises `ValueError` if there is no such one."""
    if placement not in ("trailing", "system"):
        raise ValueError(f"placement must be 'trailing' or 'system', got {placement!r}")
    return placement  # type: ignore[return-value]


def placed(
    request: ModelRequest[Any], shown: Mapping[str, Any], start_id: str | None, placement: Placement
) -> ModelRequest[Any]:
    """Return the request with the lessons, and with the example before the turn that begins with `start_id`."""
    messages: list[Any] = list(request.messages)
    block = shown.get("memory_prompt")
    if example := inserted_example(shown.get("memory_messages") or []):
        place = _turn(messages, start_id)
        messages[place:place] = example
    if block and placement == "system":
        return request.override(messages=messages, system_message=_extended(request.system_message, block))
    return request.override(messages=[*messages, *([inserted(LESSONS, block)] if block else [])])


def _turn(messages: Sequence[BaseMessage], start_id: str | None) -> int:
    """Return the index of the turn's first message, or of the last one of the user if that is gone."""
    starts = [place for place, message in enumerate(messages) if message.id is not None and message.id == start_id]
    users = [place for place, message in enumerate(messages) if message.type == "human"]
    return [0, *users, *starts][-1]


def _extended(system: SystemMessage | None, block: str) -> SystemMessage:
    if system is None:
        return SystemMessage(block)
    if isinstance(system.content, str):
        return SystemMessage(f"{system.content}\n\n{block}")
    return SystemMessage([*system.content, {"type": "text", "text": block}])
