"""What an error or a reply means: a reply format refused, a reply cut off, or an outage."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.errors import ModelServerError
from reasoningbank_langgraph.messages import content_text

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_REFUSING = (400, 404, 422, 500, 501)
"""HTTP statuses of servers that do not support a kind of request."""
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|prompt is too long|`inputs`", re.IGNORECASE
)
"""A prompt that is too long for the model is refused with 400 too, and would be in any format."""
_CAP = r"(?P<{}>max_(?:completion_)?tokens)\b"
_BAD_CAP = re.compile(
    rf"(?:unsupported|unknown|unrecognized|unexpected|setting|forbidden)[^{{}}]{{0,60}}?\b{_CAP.format('after')}"
    rf"|\b{_CAP.format('before')}[^{{}}]{{0,60}}?(?:unsupported|not supported|not permitted|at the same time)",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"\b401\b|unauthori[sz]ed|(?:invalid|incorrect|missing|wrong)[ _-]api[ _-]?key", re.IGNORECASE)
_CUT, _FILTERED = {"length", "max_tokens"}, {"content_filter", "refusal", "safety"}
_RUN = 50
"""More white space in a row than JSON needs: in JSON mode a model that lost the thread writes it up to its cap."""


def underlying_error(error: Exception) -> Exception:
    """Return the error behind one that hides it: a server that stopped, a warning, or a web page in place of JSON."""
    if isinstance(error.__cause__, ModelServerError):
        return error.__cause__  # the local server has ended, which OpenAI's client calls a connection error
    if isinstance(error, Warning) and isinstance(error.__context__, Exception):
        return error.__context__  # where the program turns warnings into errors
    response: Any = getattr(error, "response", None)
    if hasattr(error, "status_code") or not hasattr(response, "headers"):
        return error
    kind = response.headers.get("content-type", "no content type")
    if "json" in kind:
        return error
    return ModelServerError(
        f"{response.url} answered with {kind} in place of JSON: check the address. It begins {response.text[:100]!r}"
    )


def message_of(error: Exception) -> str:
    """Return an error's message. OpenAI's client omits messages that a server sends in a form other than OpenAI's."""
    body = getattr(error, "body", None)
    complete = not body or (isinstance(body, dict) and isinstance(body.get("message"), str))
    return str(error) if complete else f"{error} - {body}"


def way_out(error: BaseException) -> str | None:
    """Return what to do about a failure, as the end of a sentence; None if nothing is known beyond its message."""
    status = getattr(error, "status_code", None)
    if status in (401, 403) or _NO_KEY.search(str(error)):
        return ": check the API key of this model, the variable it is read from, and what it may use"
    if status == 404:
        return ": check the model's name and the address of its server"
    if status == 429:
        return ": ask less often, with `rate_limiter=` or `max_retries=` of the chat model, or raise the quota"
    return None


def refuses_format(error: Exception) -> bool:
    """Say whether the error refuses a reply format; if not, the model or its server failed."""
    status = getattr(error, "status_code", None)
    if status is not None:
        return status in _REFUSING and not _TOO_LONG.search(message_of(error))
    return isinstance(error, (NotImplementedError, TypeError, ValueError, AttributeError, KeyError))


def refused_cap(error: Exception) -> str | None:
    """Return the name of the token cap that a server refused: `max_tokens` or `max_completion_tokens`."""
    if getattr(error, "status_code", None) not in _REFUSING or _TOO_LONG.search(message_of(error)):
        return None
    found = _BAD_CAP.search(message_of(error))
    return (found["after"] or found["before"]).lower() if found else None


def cut_reply(error: Exception) -> AIMessage | None:
    """Return the reply that an error hides: OpenAI's client raises if a cap or a filter cuts a structured reply."""
    from langchain_core.messages import AIMessage

    if type(error).__name__ == "ContentFilterFinishReasonError" or getattr(error, "code", None) == "content_filter":
        return AIMessage("", response_metadata={"finish_reason": "content_filter"})
    completion = getattr(error, "completion", None)
    if completion is None:
        return None
    choice = completion.choices[0]
    return AIMessage(choice.message.content or "", response_metadata={"finish_reason": choice.finish_reason})


def ignores_format(name: str, reply: AIMessage) -> bool:
    """Say whether a reply shows that the server ignores the reply format of this name."""
    return (name == "tool_call" and _lacks_call(reply)) or _runs_on(reply)


def _lacks_call(reply: AIMessage) -> bool:
    """Say whether the reply has no tool call although the model did not refuse: the server ignores tools."""
    called = reply.tool_calls or reply.invalid_tool_calls or reply.additional_kwargs.get("function_call")
    refused = reply.additional_kwargs.get("refusal") or _ending(reply) & _FILTERED
    return not called and not refused


def _runs_on(reply: AIMessage) -> bool:
    text = content_text(reply.content)
    stripped = text.rstrip()
    return len(text) - len(stripped) >= _RUN and not stripped.endswith("}") and bool(_ending(reply) & _CUT)


def _ending(reply: AIMessage) -> set[str]:
    metadata: dict[str, Any] = reply.response_metadata or {}
    return {str(metadata.get(name)).lower() for name in ("finish_reason", "stop_reason", "done_reason")}
