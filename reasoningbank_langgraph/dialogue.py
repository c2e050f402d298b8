"""Talks with a language model in which what to ask and how to read the reply are pure functions.

A dialogue is a generator: it yields a `Request`, is sent the reply, and returns its result. `Speaker.run` and
`Speaker.arun` carry the requests to a model, so every dialogue works sync and async and is tested without either.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from langgraph.errors import GraphBubbleUp

from reasoningbank_langgraph.errors import ModelCallError, ModelError, ModelTimeoutError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
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
Dialect = Callable[["BaseChatModel", Request], "Runnable[Any, Any]"]


class Speaker:
    """Carries dialogues to one model, with a token cap and a time limit on every call.

    The way of asking for JSON is settled by the first calls and remembered: a schema the server enforces where it
    can, a plain request where it cannot.

    Args:
        model: any chat model; none of tools, JSON mode or structured output is required.
        purpose: names the calls in traces and errors, for example `"judge"`.
        time_limit: seconds one call may take.

    Attributes:
        fallbacks: how often a way of asking was refused by the model or its server, by name.
    """

    def __init__(self, model: BaseChatModel, purpose: str, *, time_limit: float = 120.0) -> None:
        self.model, self.purpose, self.time_limit = model, purpose, time_limit
        self.fallbacks: dict[str, int] = {}
        self._dialects = _dialects_of(model)

    @property
    def model_name(self) -> str:
        """What the model calls itself."""
        named = getattr(self.model, "model_name", None) or getattr(self.model, "model", None)
        return str(named or type(self.model).__name__)

    @property
    def dialect(self) -> str:
        """The way of asking in use: `json_schema`, `json_object`, `structured` or `plain`."""
        return self._dialects[0][0]

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
        refused: list[str] = []
        ways = self._dialects  # as they are now: another thread may settle on one meanwhile
        while True:
            name, dialect = ways[len(refused)]
            try:
                ask = partial(self._prepared(dialect, request).invoke, request.messages, config)
                return self._settled(refused, _raw(within(self.time_limit, self.purpose, ask)))
            except Exception as error:  # noqa: BLE001 - sorted out below
                if (cut := _cut_reply(error)) is not None:
                    return self._settled(refused, cut)
                refused.append(self._refused(name, error))

    async def _aask(self, request: Request, config: RunnableConfig | None) -> AIMessage:
        refused: list[str] = []
        ways = self._dialects  # as they are now: another thread may settle on one meanwhile
        while True:
            name, dialect = ways[len(refused)]
            try:
                call = self._prepared(dialect, request)
                reply = await asyncio.wait_for(call.ainvoke(request.messages, config), self.time_limit)
                return self._settled(refused, _raw(reply))
            except TimeoutError:
                raise ModelTimeoutError(self.purpose, self.time_limit) from None
            except Exception as error:  # noqa: BLE001 - sorted out below
                if (cut := _cut_reply(error)) is not None:
                    return self._settled(refused, cut)
                refused.append(self._refused(name, error))

    def _settled(self, refused: list[str], reply: AIMessage) -> AIMessage:
        """Remember what was refused, now that another way worked: an outage of everything teaches nothing."""
        for name in refused:
            self.fallbacks[name] = self.fallbacks.get(name, 0) + 1
        if refused:
            self._dialects = [way for way in self._dialects if way[0] not in refused]
        return reply

    def _prepared(self, dialect: Dialect, request: Request) -> Runnable[Any, Any]:
        call = dialect(self.model, request)
        return call.with_config(tags=[f"reasoningbank:{self.purpose}", "nostream"], run_name=self.purpose)

    def _refused(self, name: str, error: Exception) -> str:
        """Return the name of a way of asking that was refused; raise if it is the model that failed."""
        if isinstance(error, (ModelError, GraphBubbleUp, AssertionError)):
            raise error
        if name == "plain" or not _is_refusal(error):
            raise ModelCallError(self.purpose, error) from error
        return name


def _cut_reply(error: Exception) -> AIMessage | None:
    """OpenAI's client raises where a structured reply is cut by its cap or a filter; that is a reply, not an outage."""
    from langchain_core.messages import AIMessage

    if type(error).__name__ == "ContentFilterFinishReasonError":
        return AIMessage("", response_metadata={"finish_reason": "content_filter"})
    completion = getattr(error, "completion", None)
    if completion is None:
        return None
    choice = completion.choices[0]
    return AIMessage(choice.message.content or "", response_metadata={"finish_reason": choice.finish_reason})


def _is_refusal(error: Exception) -> bool:
    """A server that cannot do a kind of request says so with 400, 404, 422, 500 or 501; a client by these types.

    A prompt that is too long for the model is refused with 400 as well, and would be in any other form.
    """
    status = getattr(error, "status_code", None)
    if status is not None:
        return status in (400, 404, 422, 500, 501) and "context" not in str(error).lower()
    return isinstance(error, (NotImplementedError, TypeError, ValueError, AttributeError))


def within(seconds: float, purpose: str, call: Callable[[], Any]) -> Any:
    """Run the call in a thread of its own, because no chat model promises to keep a time limit."""
    future: Future[Any] = Future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            future.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001 - handed to the waiting thread
            future.set_exception(error)

    threading.Thread(target=work, daemon=True, name=f"reasoningbank-{purpose}").start()
    try:
        return future.result(seconds)
    except FutureTimeoutError:
        if future.done():
            raise
        raise ModelTimeoutError(purpose, seconds) from None


def _raw(reply: Any) -> AIMessage:
    """`with_structured_output(include_raw=True)` wraps the message; the other ways return it."""
    message: AIMessage = reply["raw"] if isinstance(reply, dict) else reply
    return message


def _dialects_of(model: BaseChatModel) -> list[tuple[str, Dialect]]:
    if _speaks_openai(model):
        return [("json_schema", _json_schema), ("json_object", _json_object), ("plain", _plain)]
    return [("structured", _structured), ("plain", _plain)]


def _speaks_openai(model: BaseChatModel) -> bool:
    return any(cls.__name__ == "BaseChatOpenAI" for cls in type(model).__mro__)


def _json_schema(model: BaseChatModel, request: Request) -> Runnable[Any, Any]:
    named = {"name": "reply", "schema": request.schema}
    return model.bind(
        **token_cap(model, request.max_tokens), response_format={"type": "json_schema", "json_schema": named}
    )


def _json_object(model: BaseChatModel, request: Request) -> Runnable[Any, Any]:
    """The schema inside the format is what llama.cpp's server enforces; others take it for plain JSON mode."""
    return model.bind(
        **token_cap(model, request.max_tokens), response_format={"type": "json_object", "schema": request.schema}
    )


def _structured(model: BaseChatModel, request: Request) -> Runnable[Any, Any]:
    named = {"title": "reply", "description": "The reply.", **request.schema}
    return model.with_structured_output(named, include_raw=True)


def _plain(model: BaseChatModel, request: Request) -> Runnable[Any, Any]:
    return model.bind(**token_cap(model, request.max_tokens))


def token_cap(model: BaseChatModel, max_tokens: int) -> dict[str, Any]:
    """Return what to `bind` to a model to cap its reply, named as the model's class does.

    `ChatOpenAI` sends it as `max_completion_tokens`, which servers other than OpenAI's may not know.
    """
    fields = type(model).model_fields
    caps: dict[str, Any] = {
        name: max_tokens for name in ("max_tokens", "num_predict", "max_output_tokens") if name in fields
    }
    if type(model).__name__ == "ChatOpenAI" and getattr(model, "openai_api_base", None):
        extra = getattr(model, "extra_body", None) or {}
        caps = {**caps, "extra_body": {**extra, "max_tokens": max_tokens}}
    return caps
