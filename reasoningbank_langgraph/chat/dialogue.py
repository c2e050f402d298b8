"""Talks with a language model in which what to ask and how to read the reply are pure functions.

A dialogue is a generator: it yields a `Request`, is sent the reply, and returns its result. `Speaker.run` and
`Speaker.arun` carry the requests to a model, so every dialogue works sync and async and is tested without either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from langgraph.errors import GraphBubbleUp

from reasoningbank_langgraph.chat.models import ModelLike, chat_model
from reasoningbank_langgraph.chat.outages import Outages
from reasoningbank_langgraph.chat.refusals import cut_reply, explained, is_ignored, is_refusal, refused_cap, said_by
from reasoningbank_langgraph.chat.reply_formats import Manners, capped, manners_of, name_of
from reasoningbank_langgraph.chat.streams import aunheard, unheard
from reasoningbank_langgraph.chat.threads import within
from reasoningbank_langgraph.errors import ModelCallError, ModelError, ModelTimeoutError, ScriptError

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import Runnable, RunnableConfig

Result = TypeVar("Result")


class Request(NamedTuple):
    """One question to a model."""

    messages: Sequence[BaseMessage]
    schema: dict[str, Any]
    """JSON schema of the reply, passed on to servers that can enforce it."""
    max_tokens: int
    """Cap on the tokens of the reply: a small model that loses the thread must not fill its context."""


Dialogue = Generator[Request, "AIMessage", Result]


class Speaker:
    """Carries dialogues to one model, with a token cap and a time limit on every call.

    The way of asking for JSON is settled by the first calls to the model and remembered: structured output, a tool
    call, JSON mode, plain text, the first of them that the model and its server take. A model whose profile says that
    it has no `structured_output` or no `tool_calling` is not asked for it.

    Args:
        model: any chat model or its name; none of tools, JSON mode or structured output is required.
        purpose: names the calls in traces and errors, for example `"judge"`.
        time_limit: seconds one call may take.
    """

    def __init__(self, model: ModelLike, purpose: str, *, time_limit: float = 120.0) -> None:
        if time_limit <= 0:
            raise ValueError(f"time_limit must be seconds above 0, got {time_limit}")
        self.model, self.purpose, self.time_limit = chat_model(model), purpose, time_limit
        self._manners, self._outages = manners_of(self.model), Outages()

    @property
    def model_name(self) -> str:
        """What the model calls itself."""
        return name_of(self.model)

    @property
    def dialect(self) -> str:
        """The way of asking in use: `json_schema`, `tool_call`, `json_object`, `structured` or `plain`."""
        return self._manners.ways[0].name

    @property
    def fallbacks(self) -> dict[str, int]:
        """How often what was refused by the model or its server: a way of asking, or a spelling of the token cap."""
        return dict(self._manners.refused)

    def facts(self) -> dict[str, Any]:
        """Return what events and reports show: `asked`, the way in use (None before a reply), and `fallbacks`."""
        return self._manners.facts()

    def run(self, dialogue: Dialogue[Result], config: RunnableConfig | None = None) -> Result:
        """Hold the dialogue. Raises `ModelError` when a call fails or takes too long."""
        request = next(dialogue)
        while True:
            reply = self._ask(request, config)
            try:
                request = dialogue.send(reply)
            except StopIteration as stop:
                result: Result = stop.value
                return result

    async def arun(self, dialogue: Dialogue[Result], config: RunnableConfig | None = None) -> Result:
        """Hold the dialogue without blocking the loop. Raises like `run`."""
        request = next(dialogue)
        while True:
            reply = await self._aask(request, config)
            try:
                request = dialogue.send(reply)
            except StopIteration as stop:
                result: Result = stop.value
                return result

    def _ask(self, request: Request, config: RunnableConfig | None) -> AIMessage:
        turn = _Turn(self._manners, request, self.purpose, self._outages)
        while turn.reply is None:
            try:
                ask = partial(turn.call().invoke, request.messages)
                turn.answered(within(self.time_limit, self.purpose, partial(unheard, ask, config)))
            except Exception as error:  # noqa: BLE001 - sorted out there
                turn.failed(error)
        return turn.reply

    async def _aask(self, request: Request, config: RunnableConfig | None) -> AIMessage:
        turn = _Turn(self._manners, request, self.purpose, self._outages)
        while turn.reply is None:
            try:
                ask = partial(turn.call().ainvoke, request.messages)
                turn.answered(await asyncio.wait_for(aunheard(ask, config), self.time_limit))
            except TimeoutError:
                turn.failed(ModelTimeoutError(self.purpose, self.time_limit))
            except Exception as error:  # noqa: BLE001 - sorted out there
                turn.failed(error)
        return turn.reply


class _Turn:
    """One request on its way to a reply: which way is tried next, and what that showed."""

    def __init__(self, manners: Manners, request: Request, purpose: str, outages: Outages) -> None:
        self.manners, self.request, self.purpose, self.outages = manners, request, purpose, outages
        self.ways, self.bad_cap = manners.ways, manners.bad_cap  # as they are now: another thread may change them
        self.refused: list[str] = []
        self.reply: AIMessage | None = None
        self._spare: AIMessage | None = None

    def call(self) -> Runnable[Any, Any]:
        """Return what to invoke with the messages."""
        model = capped(self.manners.model, self.request.max_tokens, self.bad_cap)
        call = self.ways[0].bind(model, self.request.schema)
        tag = f"reasoningbank:{self.purpose}"
        return call.with_config(tags=[tag], run_name=tag)

    def answered(self, raw: Any) -> None:
        """Take a reply, or keep it for the worst case where it shows that the way of asking was ignored."""
        reply: AIMessage = raw["raw"] if isinstance(raw, dict) else raw  # `with_structured_output(include_raw=True)`
        if len(self.ways) > 1 and is_ignored(self.ways[0].name, reply):
            self._spare = reply if self._spare is None else self._spare
            self._next_way()
        else:
            self.manners.learn(self.refused, self.bad_cap)
            self.reply = reply

    def failed(self, error: Exception) -> None:
        """Go on to another spelling or way where it was refused; raise if it is the model that failed."""
        if isinstance(error, (GraphBubbleUp, ScriptError)):
            raise error
        cause = explained(error)
        if (cut := cut_reply(cause)) is not None:
            self.answered(cut)
        elif self.bad_cap is None and (spelling := refused_cap(cause)):
            self.bad_cap = spelling
        elif len(self.ways) > 1 and is_refusal(cause):
            self._next_way()
        elif self._spare is not None:
            self.reply = self._spare
        else:
            self.outages.tell(f"{self.purpose}, model {name_of(self.manners.model)},", cause)
            raise (
                cause if isinstance(cause, ModelError) else ModelCallError(self.purpose, cause, said_by(cause))
            ) from cause

    def _next_way(self) -> None:
        self.refused.append(self.ways[0].name)
        self.ways = [way for way in self.ways[1:] if way.name not in self.manners.refused]
