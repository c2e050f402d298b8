"""What an error of a client means is told by its class, its status or what caused it."""

import httpx
import openai
import pytest

from reasoningbank_langgraph.chat.refusals import kind_of_failure, way_out
from reasoningbank_langgraph.errors import ModelCallError, ModelServerError, ModelTimeoutError, TooFewAttemptsError
from reasoningbank_langgraph.judges import LLMJudge
from reasoningbank_langgraph.matts.records import Failure
from reasoningbank_langgraph.records import Attempt
from reasoningbank_langgraph.testing import ScriptedChatModel

REQUEST = httpx.Request("POST", "http://127.0.0.1:9/v1")


def status(code, kind=openai.APIStatusError, said="no"):
    return kind(said, response=httpx.Response(code, request=REQUEST), body=None)


class OverloadedError(Exception):
    """As another client names it."""


def caused(cause):
    error = ModelCallError("judge", cause)
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (openai.APIConnectionError(request=REQUEST), "unreachable"),
        (openai.APITimeoutError(REQUEST), "timeout"),
        (status(429, openai.RateLimitError), "busy"),
        (status(500, openai.InternalServerError), "unreachable"),
        (status(503), "unreachable"),
        (status(408), "timeout"),
        (status(401, openai.AuthenticationError), "key"),
        (status(403), "key"),
        (status(404, openai.NotFoundError), "not_found"),
        (status(400, said="ConnectionError: RateLimitError"), "other"),
        (httpx.ConnectError("gone"), "unreachable"),
        (httpx.RemoteProtocolError("gone"), "unreachable"),
        (httpx.ReadTimeout("late"), "timeout"),
        (ConnectionResetError("gone"), "unreachable"),
        (TimeoutError("late"), "timeout"),
        (ModelTimeoutError("judge", 1), "timeout"),
        (OverloadedError(), "unreachable"),
        (ModelServerError("the address answered with a page"), "other"),
        (TooFewAttemptsError(0, 1, {0: "RateLimitError: no"}, "busy"), "busy"),
        (TooFewAttemptsError(0, 1, {0: "ConnectionError: no"}), "other"),
        (ValueError("the prompt speaks of a ConnectionError"), "other"),
        (ValueError("Incorrect API key provided"), "key"),
    ],
    ids=repr,
)
def test_an_error_is_of_the_same_kind_by_itself_and_as_a_cause(error, kind):
    assert kind_of_failure(error) == kind
    assert kind_of_failure(caused(error)) == kind
    assert Failure.of(error).kind == kind
    assert (way_out(error) is not None) is (kind in ("key", "not_found", "busy"))


def test_a_verdict_keeps_what_kind_of_failure_it_was():
    attempt = Attempt(task="one", answer="1")
    for error, kind in ((ConnectionError("gone"), "unreachable"), (status(429), "busy"), (KeyError("x"), "other")):
        verdict = LLMJudge(ScriptedChatModel(lambda _, error=error: error))(attempt)
        assert (verdict.status, verdict.reason, verdict.failure) == ("indeterminate", "error", kind)


def test_an_error_among_its_own_causes_has_a_kind():
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    assert kind_of_failure(first) == "other"
