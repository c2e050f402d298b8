"""Failures of the past, shown to the model before a call that may do harm."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage
from langchain_core.runnables import ensure_config
from langgraph.errors import GraphBubbleUp

from reasoningbank_langgraph.bank import MemoryBank, Where, ids_of_branch
from reasoningbank_langgraph.chat.threads import is_plain
from reasoningbank_langgraph.nodes._base import Context
from reasoningbank_langgraph.nodes._outage import is_outage, log_outage
from reasoningbank_langgraph.records import RetrievedMemory, has_visible_text
from reasoningbank_langgraph.solvers.inserted_messages import LESSONS, inserted
from reasoningbank_langgraph.text import redact_secrets, render_memories

RiskyCall = Callable[[Mapping[str, Any]], str]
"""From the arguments of a call to what it does, in plain words: failures are looked up by this text."""
logger = logging.getLogger(__name__)
_LESSONS = 3
_DECIDE = "You are about to call {tools}, which has not happened yet. Decide again, knowing what failed before.\n\n"


def check_risky(tools: Mapping[str, RiskyCall]) -> dict[str, RiskyCall]:
    """Return the tools. Raises `TypeError` if what a call does is not told by a plain function."""
    for tool, tell in tools.items():
        if not is_plain(tell):
            raise TypeError(
                f"check_before[{tool!r}] must be a plain function of the call's arguments, got {tell!r:.80}"
            )
    return dict(tools)


class Check:
    """A look for failures before the calls that a response of the model asks for.

    Args:
        request: the request to the model.
        calls: name of the tool and what the call does, in words, of each call.
        template: labels of the bank.
        where: which lessons, beside that they are failures.
    """

    def __init__(
        self, request: ModelRequest[Any], calls: Sequence[tuple[str, str]], template: Sequence[str], where: Where | None
    ) -> None:
        state = request.state
        context = Context.here("check_before", ensure_config(), state)
        self.request, self.calls = request, calls
        self.bank = MemoryBank(context.store, context.namespace(template))
        attempt: Mapping[str, Any] = state["attempt"]  # type: ignore[typeddict-item]
        self.asked: dict[str, Any] = {
            "task_id": attempt["task_id"],
            "k": _LESSONS,
            "max_items": _LESSONS,
            "where": {**(where or {}), "outcome": "failure"},
            "thread_id": context.thread_id,
            "written": ids_of_branch(state),
            "attempt": attempt,
        }

    @classmethod
    def before(
        cls,
        tools: Mapping[str, RiskyCall],
        request: ModelRequest[Any],
        response: ModelResponse[Any],
        template: Sequence[str],
        where: Where | None,
    ) -> Self | None:
        """Return the look that a response calls for; None if it calls none of these tools."""
        asked = [call for message in response.result if isinstance(message, AIMessage) for call in message.tool_calls]
        calls = [(name, _told(tools[name], call)) for call in asked if (name := call["name"]) in tools]
        return cls(request, calls, template, where) if calls else None

    def failures(self, shown: Iterable[Mapping[str, Any]]) -> list[RetrievedMemory]:
        """Return failures that fit the calls and that the model was not shown in this turn."""
        try:
            return _new((self.bank.search(text, **self.asked) for _, text in self.calls), shown)
        except Exception as error:
            if not is_outage(error):
                raise
            log_outage("check_before", error)
            return []

    async def afailures(self, shown: Iterable[Mapping[str, Any]]) -> list[RetrievedMemory]:
        """Async form of `failures`."""
        try:
            return _new([await self.bank.asearch(text, **self.asked) for _, text in self.calls], shown)
        except Exception as error:
            if not is_outage(error):
                raise
            log_outage("check_before", error)
            return []

    def again(self, failures: Sequence[RetrievedMemory]) -> ModelRequest[Any]:
        """Return the request in which the model decides again."""
        tools = ", ".join(dict.fromkeys(tool for tool, _ in self.calls))
        text = _DECIDE.format(tools=tools) + render_memories(failures)
        return self.request.override(messages=[*self.request.messages, inserted(LESSONS, text)])


def _told(tell: RiskyCall, call: Mapping[str, Any]) -> str:
    """Return what a call does, in words; a model may call a tool in a way that its function does not expect."""
    try:
        words = tell(call["args"])
        if isinstance(words, str) and has_visible_text(words):
            return words
        problem = f"it returned {words!r:.80}"
    except GraphBubbleUp:
        raise
    except Exception as error:  # noqa: BLE001 - whatever wrong arguments lead to; the tool itself will refuse them
        problem = redact_secrets(f"{type(error).__name__}: {error}"[:300]).text
    logger.warning("check_before[%r] fails, and failures are looked up by the call itself: %s", call["name"], problem)
    return f"{call['name']} {call['args']}"


def _new(found: Iterable[Iterable[RetrievedMemory]], shown: Iterable[Mapping[str, Any]]) -> list[RetrievedMemory]:
    known = {memory["item"]["id"] for memory in shown}
    fitting = {memory.item.id: memory for memories in found for memory in memories}
    return [memory for name, memory in fitting.items() if name not in known][:_LESSONS]
