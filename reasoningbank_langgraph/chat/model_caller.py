"""Carries dialogues to a model, with a token cap and a time limit on every call."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from langgraph.errors import GraphBubbleUp

from reasoningbank_langgraph.chat.dialogue import Dialogue, Request
from reasoningbank_langgraph.chat.models import ModelLike, chat_model, model_name_of
from reasoningbank_langgraph.chat.outages import Outages
from reasoningbank_langgraph.chat.refusals import (
    cut_reply,
    ignores_format,
    message_of,
    refused_cap,
    refuses_format,
    underlying_error,
)
from reasoningbank_langgraph.chat.reply_formats import KnownFormats, known_formats, plain_text
from reasoningbank_langgraph.chat.streams import acall_unstreamed, call_unstreamed
from reasoningbank_langgraph.chat.threads import call_within
from reasoningbank_langgraph.chat.token_caps import capped
from reasoningbank_langgraph.chat.tracing import labels, run_name
from reasoningbank_langgraph.driver import adrive, drive
from reasoningbank_langgraph.errors import ModelCallError, ModelError, ModelTimeoutError, ScriptError

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import Runnable, RunnableConfig

Result = TypeVar("Result")


class ModelCaller:
    """Carries dialogues to one model, with a token cap and a time limit on every call.

    The first calls to a model decide in which format it is asked for JSON: structured output, a tool call, JSON mode or
    plain text, whichever the model and its server accept first. A model whose profile says that it has no
    `structured_output` or no `tool_calling` is not asked for it.

    Args:
        model: any chat model or its name; it need not support tools, JSON mode or structured output.
        purpose: names the calls in traces and errors, for example `"judge"`.
        time_limit: seconds one call may take.
        plain: whether to ask for plain text only, whatever the model accepts.
    """

    def __init__(self, model: ModelLike, purpose: str, *, time_limit: float = 120.0, plain: bool = False) -> None:
        if time_limit <= 0:
            raise ValueError(f"time_limit must be seconds above 0, got {time_limit}")
        self.model, self.purpose, self.time_limit = chat_model(model), purpose, time_limit
        self._known_formats = plain_text(self.model) if plain else known_formats(self.model)
        self._outages = Outages()

    @property
    def model_name(self) -> str:
        """The model's name for itself."""
        return model_name_of(self.model)

    @property
    def reply_format(self) -> str:
        """The reply format in use: `json_schema`, `tool_call`, `json_object`, `structured` or `plain`."""
        return self._known_formats.formats[0].name

    @property
    def fallbacks(self) -> dict[str, int]:
        """How often the model or its server refused each reply format and each name of the token cap."""
        return dict(self._known_formats.refused)

    def asked_how(self) -> dict[str, Any]:
        """Return what events show: `asked`, the reply format in use (None before the first reply), and `fallbacks`."""
        return self._known_formats.asked_how()

    def run(self, dialogue: Dialogue[Result], config: RunnableConfig | None = None) -> Result:
        """Hold the dialogue and return its result.

        Raises:
            ModelError: a call failed or took too long, and the dialogue did not handle it.
        """
        return drive(dialogue, lambda request: drive(self._tries(request), partial(self._call, config)))

    async def arun(self, dialogue: Dialogue[Result], config: RunnableConfig | None = None) -> Result:
        """Hold the dialogue without blocking the loop. Raises like `run`."""
        return await adrive(dialogue, lambda request: adrive(self._tries(request), partial(self._acall, config)))

    def _call(self, config: RunnableConfig | None, call: _Call) -> Any:
        invoke = partial(call.model.invoke, call.messages)
        return call_within(self.time_limit, self.purpose, partial(call_unstreamed, invoke, config))

    async def _acall(self, config: RunnableConfig | None, call: _Call) -> Any:
        try:
            invoke = partial(call.model.ainvoke, call.messages)
            return await asyncio.wait_for(acall_unstreamed(invoke, config), self.time_limit)
        except TimeoutError:
            raise ModelTimeoutError(self.purpose, self.time_limit) from None

    def _tries(self, request: Request) -> Generator[_Call, Any, AIMessage]:
        """Yield calls in one reply format after another until one of them returns a reply."""
        pending = _PendingRequest(self._known_formats, request, self.purpose, self._outages)
        while pending.reply is None:
            try:
                pending.take_reply((yield _Call(pending.next_model(), request.messages)))
            except Exception as error:  # noqa: BLE001 - sorted out there
                pending.handle_error(error)
        return pending.reply


class _Call(NamedTuple):
    model: Runnable[Any, Any]
    messages: Sequence[BaseMessage]


class _PendingRequest:
    """One request that waits for its reply: which format to ask for next, and what was refused so far."""

    def __init__(self, known: KnownFormats, request: Request, purpose: str, outages: Outages) -> None:
        self.known_formats, self.request, self.purpose, self.outages = known, request, purpose, outages
        self.formats, self.bad_cap = known.formats, known.bad_cap  # as they are now: another thread may change them
        self.refused: list[str] = []
        self.reply: AIMessage | None = None
        self._fallback: AIMessage | None = None

    def next_model(self) -> Runnable[Any, Any]:
        """Return the model to invoke with the messages."""
        model = capped(self.known_formats.model, self.request.max_tokens, self.bad_cap)
        call = self.formats[0].bind(model, self.request.schema)
        return call.with_config({**labels(self.purpose), "run_name": run_name(self.purpose)})

    def take_reply(self, raw: Any) -> None:
        """Take a reply; one that ignores the reply format is only a fallback, and the next format is tried."""
        reply: AIMessage = raw["raw"] if isinstance(raw, dict) else raw  # `with_structured_output(include_raw=True)`
        if len(self.formats) > 1 and ignores_format(self.formats[0].name, reply):
            self._fallback = reply if self._fallback is None else self._fallback
            self._next_format()
        else:
            self.known_formats.record(self.refused, self.bad_cap)
            self.reply = reply

    def handle_error(self, error: Exception) -> None:
        """Try another format or name of the cap if one was refused; raise if the model failed."""
        if isinstance(error, (GraphBubbleUp, ScriptError)):
            raise error
        cause = underlying_error(error)
        if (cut := cut_reply(cause)) is not None:
            self.take_reply(cut)
        elif self.bad_cap is None and (name := refused_cap(cause)):
            self.bad_cap = name
        elif len(self.formats) > 1 and refuses_format(cause):
            self._next_format()
        elif self._fallback is not None:
            self.reply = self._fallback
        else:
            self.outages.report(f"{self.purpose}, model {model_name_of(self.known_formats.model)},", cause)
            raise (
                cause if isinstance(cause, ModelError) else ModelCallError(self.purpose, cause, message_of(cause))
            ) from cause

    def _next_format(self) -> None:
        self.refused.append(self.formats[0].name)
        self.formats = [candidate for candidate in self.formats[1:] if candidate.name not in self.known_formats.refused]
