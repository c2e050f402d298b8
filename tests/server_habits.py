"""How real servers answer OpenAI's chat API, each wrong in its own way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from .loop_fakes import lessons, verdict

CONTEXT = 3_000
"""Tokens (here words) a model writes when nothing caps it."""


class Ask(NamedTuple):
    """One request, as the server understands it."""

    body: dict[str, Any]
    cap: int

    @property
    def way(self):
        if self.body.get("tools"):
            return "tool_call"
        return self.body.get("response_format", {}).get("type", "plain")

    @property
    def answer(self):
        judging = "You check whether" in self.body["messages"][0]["content"]
        return verdict() if judging else lessons("check the units", "draw a picture")


class Reply(NamedTuple):
    """What goes back over the wire; no body means that the connection is closed."""

    body: Any
    status: int = 200
    kind: str = "application/json"
    tokens: int = 0


Habit = Callable[[Ask], Reply]


def completion(ask, content, finish="stop", **message):
    """A chat completion, cut off where its words exceed the cap."""
    words = len(str(content).split(" "))
    if words > ask.cap:
        content, finish, words = " ".join(str(content).split(" ")[: ask.cap]), "length", ask.cap
    usage = {"prompt_tokens": 9, "completion_tokens": words, "total_tokens": 9 + words}
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    head = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m"}
    return Reply({**head, "choices": [choice], "usage": usage}, tokens=words)


def obeys(ask):
    return completion(ask, ask.answer)


def calls(ask):
    function = {"name": ask.body["tools"][0]["function"]["name"], "arguments": ask.answer}
    called = [{"id": "t1", "type": "function", "function": function}]
    return completion(ask, None, "tool_calls", tool_calls=called)


def talks(ask):
    return completion(ask, f"Let me see what there is to say.\n{ask.answer}\nI hope this helps!")


def fences(ask):
    return completion(ask, f"Sure, here you are:\n```json\n{ask.answer}\n```")


def thinks(ask):
    return completion(ask, ask.answer, reasoning_content='The user wants JSON. {"status": "failure"} would be wrong.')


def rambles(ask):
    return completion(ask, "and so on " * CONTEXT)


def rambles_without_schema(ask):
    return obeys(ask) if "schema" in ask.body["response_format"] else rambles(ask)


def writes_spaces(ask):
    return completion(ask, "{\n" + " " * CONTEXT)


def refuses(ask):
    return completion(ask, None, refusal="I'm sorry, I can't assist with that.")


def filters(ask):
    return completion(ask, "", "content_filter")


def fails(status, message, **more):
    return lambda ask: Reply({"error": {"message": message, "type": "server_error", "code": None, **more}}, status)


def vllm_fails(message):
    return lambda ask: Reply({"object": "error", "message": message, "type": "BadRequestError", "code": 400}, 400)


def errs_with_200(ask):
    return Reply({"error": {"message": "Provider returned error", "code": 400}})


def shows_page(ask):
    return Reply(b"<html><body>Welcome to the portal</body></html>", kind="text/html")


def closes(ask):
    return Reply(None)


@dataclass
class Habits:
    """How a server answers each way of asking, and what it makes of a token cap."""

    json_schema: Habit = obeys
    tool_call: Habit = calls
    json_object: Habit = obeys
    plain: Habit = talks
    always: Habit | None = None
    """Answers everything."""
    caps: tuple[str, ...] = ("max_tokens", "max_completion_tokens")
    """Spellings of the cap that are honoured; others are ignored."""
    checks: Habit | None = None
    """Looks at a request first; returns None where it has nothing to say."""
    hangs: bool = False


def knows_one_cap(ask):
    if {"max_tokens", "max_completion_tokens"} <= set(ask.body):
        said = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        return fails(400, said, param="max_tokens", code="invalid_parameter_combination")(ask)
    return None


def strict_schemas(ask):
    """OpenAI compiles a schema that is called strict, and refuses what it cannot enforce."""
    named = ask.body.get("response_format", {}).get("json_schema", {})
    return _LOOSE(ask) if named.get("strict") and "additionalProperties" not in named["schema"] else knows_one_cap(ask)


def reasons(ask):
    if "max_tokens" in ask.body:
        said = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return fails(400, said, param="max_tokens", code="unsupported_parameter")(ask)
    return None


def forbids_extra(ask):
    if "max_completion_tokens" in ask.body:
        found = {"type": "extra_forbidden", "loc": ["body", "max_completion_tokens"], "input": 400}
        return Reply({"detail": [{**found, "msg": "Extra inputs are not permitted"}]}, 422)
    return None


def busy(times):
    """Too many requests, so many times."""
    left = [fails(429, "Rate limit reached for requests")] * times
    return lambda ask: left.pop()(ask) if left else None


_LOOSE = fails(
    400,
    "Invalid schema for response_format 'reply': In context=(), 'additionalProperties' is required to be supplied and "
    "to be false.",
    param="response_format",
)
_NO_SCHEMA = fails(
    400,
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    param="response_format",
)
_ONLY_OBJECT = 'response_format type must be one of "text" or "json_object", but got: json_schema'
_XGRAMMAR = "The provided JSON schema contains features not supported by xgrammar."
_AUTO_TOOLS = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'

SERVERS: dict[str, Callable[[], Habits]] = {
    "llama-cpp-python": lambda: Habits(
        json_schema=fails(500, "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}]"),
        tool_call=rambles,
        json_object=rambles_without_schema,
        caps=("max_tokens",),
    ),
    "llama-server": lambda: Habits(tool_call=fails(500, "tools param requires --jinja flag")),
    "llama-server of 2024": lambda: Habits(
        json_schema=fails(500, _ONLY_OBJECT), tool_call=fails(500, "Unsupported param: tools"), caps=("max_tokens",)
    ),
    "ollama": lambda: Habits(tool_call=fails(400, "registry.ollama.ai/library/m does not support tools")),
    "ollama of 2024": lambda: Habits(
        json_schema=fences,
        json_object=fences,
        plain=fences,
        tool_call=fails(400, "m does not support tools"),
        caps=("max_tokens",),
    ),
    "vllm": lambda: Habits(json_schema=thinks, tool_call=vllm_fails(_AUTO_TOOLS), plain=thinks),
    "vllm, schema refused": lambda: Habits(
        json_schema=vllm_fails(_XGRAMMAR), tool_call=vllm_fails(_AUTO_TOOLS), json_object=thinks
    ),
    "openai": lambda: Habits(checks=strict_schemas),
    "openai, strict": lambda: Habits(json_schema=_LOOSE),
    "openai, old model": lambda: Habits(json_schema=_NO_SCHEMA),
    "openai, reasoning": lambda: Habits(checks=reasons),
    "forbids extra fields": lambda: Habits(checks=forbids_extra),
    "refuses": lambda: Habits(always=refuses),
    "refuses, tools only": lambda: Habits(json_schema=_NO_SCHEMA, tool_call=refuses),
    "filters": lambda: Habits(always=filters),
    "azure filter": lambda: Habits(
        always=fails(400, "The response was filtered due to the prompt triggering", code="content_filter")
    ),
    "errors with 200": lambda: Habits(json_schema=errs_with_200, tool_call=errs_with_200),
    "html": lambda: Habits(always=shows_page),
    "closes": lambda: Habits(always=closes),
    "hangs": lambda: Habits(hangs=True),
    "down": lambda: Habits(always=fails(503, "Service Unavailable")),
    "spaces in json": lambda: Habits(json_schema=writes_spaces, json_object=writes_spaces, tool_call=rambles),
    "spaces": lambda: Habits(always=writes_spaces),
    "too long": lambda: Habits(
        always=fails(400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens")
    ),
    "only tools ignored": lambda: Habits(
        json_schema=fails(400, "no"), tool_call=talks, json_object=fails(400, "no"), plain=fails(500, "no")
    ),
    "busy": lambda: Habits(checks=busy(1)),
}
