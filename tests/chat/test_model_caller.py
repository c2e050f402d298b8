"""How models are asked: capped, timed, in the form their server understands."""

import asyncio
import time

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from reasoningbank_langgraph.chat.dialogue import Request
from reasoningbank_langgraph.chat.model_caller import ModelCaller
from reasoningbank_langgraph.chat.refusals import refused_cap
from reasoningbank_langgraph.chat.token_caps import token_cap
from reasoningbank_langgraph.errors import ModelCallError, ModelTimeoutError
from reasoningbank_langgraph.testing import ScriptedChatModel

SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}


def dialogue(rounds=1):
    texts = []
    for number in range(rounds):
        reply = yield Request([HumanMessage(f"round {number}")], SCHEMA, 20)
        texts.append(reply.text)
    return texts


class RefusedError(Exception):
    """What a server answers to a request it cannot read."""

    def __init__(self, status_code, text="no such format"):
        self.status_code = status_code
        super().__init__(text)


class BaseChatOpenAI(ScriptedChatModel):
    """Named like the class all OpenAI-compatible models share; keeps the options of every call."""

    max_tokens: int | None = None
    options: list = []

    def _generate(self, messages, stop=None, run_manager=None, **options):
        self.options.append({**options, "max_tokens": self.max_tokens})
        kind = options.get("response_format", {}).get("type")
        if kind in self.metadata["refuses"]:
            raise self.metadata["error"]
        return super()._generate(messages, stop, run_manager)


def server(*refuses, error=None, script=lambda _: "{}"):
    return BaseChatOpenAI(script, options=[], metadata={"refuses": refuses, "error": error or RefusedError(500)})


def test_a_dialogue_is_carried_to_the_model_round_by_round():
    model = ScriptedChatModel(["a", "b"])
    assert ModelCaller(model, "judge").run(dialogue(2)) == ["a", "b"]
    assert [call[0].text for call in model.calls] == ["round 0", "round 1"]


async def test_a_dialogue_is_carried_the_same_in_async_code():
    assert await ModelCaller(ScriptedChatModel(["a", "b"]), "judge").arun(dialogue(2)) == ["a", "b"]


@pytest.mark.parametrize(
    ("refuses", "reply_format"),
    [((), "json_schema"), (("json_schema",), "json_object"), (("json_schema", "json_object"), "plain")],
)
def test_the_first_way_of_asking_that_the_server_takes_is_remembered(refuses, reply_format):
    model = server(*refuses)
    caller = ModelCaller(model, "judge")
    caller.run(dialogue(3))
    assert caller.reply_format == reply_format
    assert caller.fallbacks == dict.fromkeys(refuses, 1)
    assert len(model.options) == 3 + len(refuses)


def test_an_outage_that_looks_like_a_refusal_everywhere_teaches_nothing():
    caller = ModelCaller(server("json_schema", "json_object", None), "judge")
    with pytest.raises(ModelCallError):
        caller.run(dialogue())
    assert (caller.reply_format, caller.fallbacks) == ("json_schema", {})


def test_a_model_without_structured_output_is_asked_plainly():
    caller = ModelCaller(ScriptedChatModel(["{}"]), "judge")
    caller.run(dialogue())
    assert (caller.reply_format, caller.fallbacks) == ("plain", {"structured": 1})


@pytest.mark.parametrize(
    "error",
    [
        ConnectionError("down"),
        RefusedError(429),
        RefusedError(401),
        RefusedError(400, "Requested tokens exceed the context window"),
    ],
)
def test_a_failure_of_the_server_is_no_refusal_of_the_form(error):
    caller = ModelCaller(server("json_schema", error=error), "judge")
    with pytest.raises(ModelCallError, match="judge"):
        caller.run(dialogue())
    assert caller.reply_format == "json_schema"


def test_a_reply_cut_by_its_cap_is_a_reply_although_the_client_raises():
    from openai import ContentFilterFinishReasonError, LengthFinishReasonError
    from openai.types.chat import ChatCompletion

    message = {"role": "assistant", "content": '{"x": "beg'}
    cut = ChatCompletion.model_validate(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "finish_reason": "length", "message": message}],
        }
    )
    replies = []

    def reading():
        replies.append((yield Request([HumanMessage("x")], SCHEMA, 5)))

    caller = ModelCaller(
        server(script=[LengthFinishReasonError(completion=cut), ContentFilterFinishReasonError()]), "judge"
    )
    caller.run(reading())
    caller.run(reading())
    assert [reply.response_metadata["finish_reason"] for reply in replies] == ["length", "content_filter"]
    assert replies[0].text == '{"x": "beg'
    assert caller.reply_format == "json_schema"


def test_every_call_is_capped():
    model = server()
    ModelCaller(model, "judge").run(dialogue(2))
    assert [options["max_tokens"] for options in model.options] == [20, 20]


def test_a_chat_model_of_openai_on_another_server_gets_the_cap_in_both_spellings(monkeypatch):
    from langchain_openai import ChatOpenAI

    own = ChatOpenAI(model="m", base_url="http://127.0.0.1:9/v1", api_key="x", extra_body={"top_k": 1})
    assert token_cap(own, 7) == {"max_tokens": 7, "extra_body": {"top_k": 1, "max_tokens": 7}}
    assert token_cap(ScriptedChatModel([]), 7) == {}
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert token_cap(ChatOpenAI(model="m", api_key="x"), 7) == {"max_tokens": 7, "extra_body": {"max_tokens": 7}}


@pytest.mark.parametrize(
    ("said", "spelling"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", "max_tokens"),
        ("max_tokens and max_completion_tokens cannot be set at the same time", "max_tokens"),
        ("Unrecognized request argument supplied: max_completion_tokens", "max_completion_tokens"),
        ("property 'max_completion_tokens' is unsupported", "max_completion_tokens"),
        ("{'type': 'extra_forbidden', 'loc': ['body', 'max_completion_tokens']}", "max_completion_tokens"),
        ("{'type': 'extra_forbidden', 'loc': ['body', 'tools'], 'input': {'max_tokens': 5}}", None),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", None),
        ("'max_tokens' is too large: this model's maximum context length is 4096 tokens", None),
        ("Unsupported parameter: 'response_format'", None),
    ],
)
def test_a_refused_spelling_of_the_cap_is_told_from_a_refused_cap(said, spelling):
    assert refused_cap(RefusedError(400, said)) == spelling
    assert refused_cap(RefusedError(401, said)) is None


@pytest.mark.parametrize("base_url", [None, "https://api.openai.com/v1", "https://x.openai.azure.com/openai/v1/"])
def test_openai_itself_gets_the_cap_in_one_spelling(base_url):
    from langchain_openai import ChatOpenAI

    assert token_cap(ChatOpenAI(model="m", base_url=base_url, api_key="x"), 7) == {"max_tokens": 7}


class Particular(ScriptedChatModel):
    """A model of another provider: its cap is a field of its own, and no call takes it."""

    num_predict: int | None = None
    seen: list = []
    tools: str = "any"
    """Whether it answers a forced tool call by one."""

    def bind_tools(self, tools, *, tool_choice=None, **options):
        return self.bind(tools=tools, tool_choice=tool_choice)

    def with_structured_output(self, *args, **options):
        raise NotImplementedError

    def _generate(self, messages, stop=None, run_manager=None, *, tools=(), tool_choice=None):
        self.seen.append((tool_choice, self.num_predict))
        done = super()._generate(messages, stop, run_manager)
        if tools and tool_choice == self.tools:
            done.generations[0].message.tool_calls = [{"name": "reply", "args": {"x": "y"}, "id": "1"}]
        return done


def test_a_model_of_another_provider_is_capped_by_its_own_field_and_stays_as_it_was():
    model = Particular(lambda _: "{}", seen=[])
    caller = ModelCaller(model, "judge")
    caller.run(dialogue(2))
    assert model.seen == [("any", 20), ("any", 20)]
    assert (caller.reply_format, caller.fallbacks, model.num_predict) == ("tool_call", {"structured": 1}, None)


def test_structured_output_is_capped_as_well():
    class Structured(Particular):
        def with_structured_output(self, schema, *, include_raw):
            return self | (lambda message: {"raw": message})

    model = Structured(lambda _: "{}", seen=[])
    ModelCaller(model, "judge").run(dialogue())
    assert model.seen == [(None, 20)]


def test_a_forced_tool_call_answered_by_text_is_asked_for_another_way():
    model = Particular(["of no use", "second"], seen=[], tools="never")
    caller = ModelCaller(model, "judge")
    assert caller.run(dialogue()) == ["second"]
    assert (caller.reply_format, caller.fallbacks) == ("plain", {"structured": 1, "tool_call": 1})


@pytest.mark.parametrize("error", [ConnectionError("down"), RefusedError(400)])
def test_a_reply_that_was_put_aside_is_taken_where_nothing_else_works(error):
    caller = ModelCaller(Particular(["aside", error], seen=[], tools="never"), "judge")
    assert caller.run(dialogue()) == ["aside"]
    assert (caller.reply_format, caller.fallbacks) == ("structured", {})


def test_models_share_nothing_with_models_that_only_equal_them():
    one, other = Particular(lambda _: "{}", seen=[]), Particular(lambda _: "{}", seen=[])
    caller = ModelCaller(one, "judge")
    caller.run(dialogue())
    assert ModelCaller(one, "extract").fallbacks == caller.fallbacks == {"structured": 1}
    assert ModelCaller(other, "extract").fallbacks == {}


def test_a_call_that_takes_too_long_is_given_up():
    caller = ModelCaller(ScriptedChatModel(lambda _: "late", delay=5), "judge", time_limit=0.05)
    started = time.monotonic()
    with pytest.raises(ModelTimeoutError, match=r"0\.05 s"):
        caller.run(dialogue())
    assert time.monotonic() - started < 5


async def test_a_call_that_takes_too_long_is_given_up_in_async_code():
    class Slow(ScriptedChatModel):
        async def _agenerate(self, *args, **options):
            await asyncio.sleep(5)

    with pytest.raises(ModelTimeoutError):
        await ModelCaller(Slow([]), "judge", time_limit=0.05).arun(dialogue())


def test_a_script_that_runs_out_is_a_failing_test_not_an_outage():
    with pytest.raises(AssertionError, match="no reply for call 1"):
        ModelCaller(ScriptedChatModel([]), "judge").run(dialogue())


def test_the_reply_keeps_what_the_server_says_about_it():
    reply = AIMessage("{", response_metadata={"finish_reason": "length"})
    seen = []

    def reading():
        seen.append((yield Request([HumanMessage("x")], SCHEMA, 5)))

    ModelCaller(ScriptedChatModel([reply]), "judge").run(reading())
    assert seen[0].response_metadata["finish_reason"] == "length"
