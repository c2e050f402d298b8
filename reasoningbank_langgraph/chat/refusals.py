"""What an error or a reply means: a reply format refused, a reply cut off, or an outage."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

from reasoningbank_langgraph.errors import ModelServerError
from reasoningbank_langgraph.messages import content_text
from reasoningbank_langgraph.records import FailureKind

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
_STATUSES: dict[int, FailureKind] = {401: "key", 403: "key", 404: "not_found", 408: "timeout", 429: "busy"}
_CLASSES: dict[FailureKind, set[str]] = {
    "timeout": {"TimeoutError", "APITimeoutError", "TimeoutException", "Timeout", "ModelTimeoutError"},
    "busy": {"RateLimitError"},
    "unreachable": {
        *("ConnectionError", "APIConnectionError", "TransportError", "InternalServerError"),
        *("ServiceUnavailableError", "OverloadedError"),
    },
}
"""Names of classes of errors, in the order in which they are looked for: some timeouts are connection errors too."""
_WAYS_OUT: dict[FailureKind, str] = {
    "key": ": check the API key of this model, the variable it is read from, and what it may use",
    "not_found": ": check the model's name and the address of its server",
    "busy": ": ask less often, with `rate_limiter=` or `max_retries=` of the chat model, or raise the quota",
}
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
    return _WAYS_OUT.get(kind_of_failure(error))


def kind_of_failure(error: BaseException) -> FailureKind:
    """Return what kind of failure an error stands for, told by itself or by what caused it.

    An error that is raised again and again may be among its own causes.
    """
    cause: BaseException | None = error
    seen = set[int]()
    while cause is not None and id(cause) not in seen:
        if (kind := _kind_of_one(cause)) is not None:
            return kind
        seen.add(id(cause))
        cause = cause.__cause__
    return "other"


def _kind_of_one(error: BaseException) -> FailureKind | None:
    """An error of ours may say it. Those of clients have no class in common: their status or classes' names do."""
    known: FailureKind | None = getattr(error, "kind", None)
    if known in get_args(FailureKind):
        return known
    status = getattr(error, "status_code", None)
    if status in _STATUSES:
        return _STATUSES[status]
    if _NO_KEY.search(_said(error)):
        return "key"
    if isinstance(status, int):
        return "unreachable" if status >= 500 else None
    names = {kind.__name__ for kind in type(error).__mro__}
    return next((kind for kind, known in _CLASSES.items() if names & known), None)


def _said(error: BaseException) -> str:
    """Return what an error says; the text of a foreign error is foreign code, which may fail."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - as above
        return ""


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
