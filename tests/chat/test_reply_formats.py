"""Models behind the servers people have: asked in a way their server takes, capped, and what was refused is shown."""

import asyncio
import itertools
import json
import logging
from types import SimpleNamespace
from typing import NamedTuple

import httpx
import pytest
from langgraph.store.memory import InMemoryStore
from typer.testing import CliRunner

from reasoningbank_langgraph import create_reasoning_bank, embeddings
from reasoningbank_langgraph.chat.models import openai_model
from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.extraction import Judged, LessonExtractor
from reasoningbank_langgraph.judges import LLMJudge
from reasoningbank_langgraph.local import LocalModelServer, model_choice
from reasoningbank_langgraph.matts import Scaling
from reasoningbank_langgraph.records import Attempt, Verdict
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.loop_fakes import learner
from tests.openai_server import OpenAIServer
from tests.server_habits import SERVERS

pytestmark = pytest.mark.network


def wired(settings):
    """Clients that load no certificates, which takes longer than a test."""
    import openai

    quick = {"trust_env": False, "verify": False}
    clients = {
        "http_client": openai.DefaultHttpxClient(**quick),
        "http_async_client": openai.DefaultAsyncHttpxClient(**quick),
    }
    return {"max_retries": 0, **clients, **settings}


def langchains(url, **settings):
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="m", base_url=url, api_key="x", **wired(settings))


CLIENTS = {
    "ChatOpenAI": langchains,
    "BaseChatOpenAI": lambda url, **settings: openai_model("m", base_url=url, **wired(settings)),
}
ATTEMPT = Attempt(task="How long is a rope of two pieces?", messages=[("ai", "I add them.")], answer="long")
SCHEMA, TOOL, OBJECT, PLAIN = "json_schema", "tool_call", "json_object", "plain"


class Case(NamedTuple):
    """What a server is expected to lead to."""

    server: str
    formats: list[str]
    """How the model is asked, in this order, the first time."""
    reason: str | None = None
    """Why there is no verdict and no lesson; None where there is one."""
    refused: tuple[str, ...] = ()
    says: str = ""
    """Part of what is told where it is an error."""


CASES = [
    Case("llama-cpp-python", [SCHEMA, TOOL, OBJECT], refused=(SCHEMA, TOOL)),
    Case("llama-server", [SCHEMA]),
    Case("llama-server of 2024", [SCHEMA, TOOL, OBJECT], refused=(SCHEMA, TOOL)),
    Case("ollama", [SCHEMA]),
    Case("ollama of 2024", [SCHEMA]),
    Case("vllm", [SCHEMA]),
    Case("vllm, schema refused", [SCHEMA, TOOL, OBJECT], refused=(SCHEMA, TOOL)),
    Case("openai, strict", [SCHEMA, TOOL], refused=(SCHEMA,)),
    Case("openai, old model", [SCHEMA, TOOL], refused=(SCHEMA,)),
    Case("openai, reasoning", [SCHEMA, SCHEMA], refused=("max_tokens",)),
    Case("refuses", [SCHEMA], "refused"),
    Case("refuses, tools only", [SCHEMA, TOOL], "refused", refused=(SCHEMA,)),
    Case("filters", [SCHEMA], "refused"),
    Case("azure filter", [SCHEMA], "refused"),
    Case("errors with 200", [SCHEMA, TOOL, OBJECT], refused=(SCHEMA, TOOL)),
    Case("html", [SCHEMA], "error", says="text/html in place of JSON"),
    Case("closes", [SCHEMA], "error", says="Connection error"),
    Case("down", [SCHEMA], "error", says="503"),
    Case("too long", [SCHEMA], "error", says="maximum context length"),
    Case("spaces in json", [SCHEMA, TOOL, OBJECT, PLAIN], refused=(SCHEMA, TOOL, OBJECT)),
    Case("spaces", [SCHEMA, TOOL, OBJECT, PLAIN, PLAIN], "truncated", refused=(SCHEMA, TOOL, OBJECT)),
    Case("only tools ignored", [SCHEMA, TOOL, OBJECT, PLAIN]),
    Case("busy", [SCHEMA], "error", says="429"),
]


class Said(NamedTuple):
    """What came of asking, alike for judge and extractor."""

    good: bool
    reason: str | None
    told: str


def judge(model, **settings):
    asker = LLMJudge(model, **settings)
    return asker, ATTEMPT, lambda found: Said(found.status == "success", found.reason, found.rationale)


def extractor(model, **settings):
    asker = LessonExtractor(model, **settings)
    judged = Judged(ATTEMPT, Verdict(status="success", judge="x"))
    return asker, judged, lambda found: Said(len(found.items) == 2, found.reason, found.raw or "")


def ask(kind, asker, asked):
    return asker.invoke(asked) if kind == "sync" else asyncio.run(asker.ainvoke(asked))


def by_server(case):
    return case.server


@pytest.mark.parametrize("side", ["sync", "async"])
@pytest.mark.parametrize("make", [judge, extractor])
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("case", CASES, ids=by_server)
def test_each_server_is_asked_in_a_way_it_takes_and_what_it_lacks_is_remembered(case, client, make, side):
    with OpenAIServer(SERVERS[case.server]()) as server:
        asker, asked, read = make(CLIENTS[client](server.url))
        said = read(ask(side, asker, asked))
        assert (said.good, said.reason, server.formats) == (case.reason is None, case.reason, case.formats)
        assert case.says in said.told
        assert asker.caller.fallbacks == dict.fromkeys(case.refused, 1)
        before, remembered = len(server.bodies), bool(case.refused)
        ask(side, asker, asked)
        again = server.formats[before:]
    assert again[:1] == [case.formats[-1] if remembered else case.formats[0]]
    if case.reason is None and case.server != "only tools ignored":
        assert len(again) == 1
    most = 400 if make is judge else 700
    for body, written in zip(server.bodies, server.written, strict=True):
        assert most in (body.get("max_tokens"), body.get("max_completion_tokens"))
        assert written <= most


@pytest.mark.parametrize(
    ("kind", "spelling", "bad"),
    [
        ("forbids extra fields", "max_tokens", "max_completion_tokens"),
        ("openai", "max_completion_tokens", "max_tokens"),
    ],
)
def test_chat_openai_sends_the_cap_in_both_spellings_until_a_server_refuses_one(kind, spelling, bad):
    with OpenAIServer(SERVERS[kind]()) as server:
        asker, asked, read = judge(CLIENTS["ChatOpenAI"](server.url, max_tokens=50, extra_body={"top_k": 1}))
        assert read(asker.invoke(asked)).good
        assert read(asker.invoke(asked)).good
    assert [sorted({spelling, bad} & set(body)) for body in server.bodies] == [sorted([bad, spelling])] + [
        [spelling]
    ] * 2
    assert [body["top_k"] for body in server.bodies] == [1, 1, 1]
    assert (asker.caller.reply_format, asker.caller.fallbacks) == (SCHEMA, {bad: 1})


@pytest.mark.parametrize("kind", ["forbids extra fields", "openai"])
def test_the_models_made_here_send_the_spelling_that_servers_know(kind):
    with OpenAIServer(SERVERS[kind]()) as server:
        asker, asked, read = judge(CLIENTS["BaseChatOpenAI"](server.url, max_tokens=50))
        assert read(asker.invoke(asked)).good
    assert [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in server.bodies] == [(400, None)]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_reasoning_model_is_capped_in_the_one_spelling_it_takes(client):
    with OpenAIServer(SERVERS["openai, reasoning"]()) as server:
        asker, asked, read = judge(CLIENTS[client](server.url, max_tokens=50))
        assert read(asker.invoke(asked)).good
    assert [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in server.bodies[1:]] == [(None, 400)]


def test_openai_itself_is_sent_the_cap_once():
    server = OpenAIServer(SERVERS["openai"]())

    def deliver(request):
        reply = server.answer(json.loads(request.content))
        return httpx.Response(reply.status, json=reply.body)

    wire = httpx.Client(transport=httpx.MockTransport(deliver))
    asker, asked, read = judge(openai_model("gpt-4.1-mini", api_key="x", http_client=wire))
    assert read(asker.invoke(asked)).good
    (body,) = server.bodies
    assert (body.get("max_tokens"), body["max_completion_tokens"]) == (None, 400)


@pytest.mark.parametrize("make", [judge, extractor])
@pytest.mark.parametrize("side", ["sync", "async"])
def test_a_server_that_hangs_costs_the_time_limit_and_is_no_refusal(make, side):
    with OpenAIServer(SERVERS["hangs"]()) as server:
        asker, asked, read = make(CLIENTS["BaseChatOpenAI"](server.url), time_limit=0.5)
        said = read(ask(side, asker, asked))
    assert (said.reason, "within 0.5 s" in said.told) == ("error", True)
    assert (asker.caller.reply_format, asker.caller.fallbacks) == (SCHEMA, {})


@pytest.mark.parametrize("client", CLIENTS)
def test_too_many_requests_are_waited_out_by_the_client_and_are_no_refusal(client):
    with OpenAIServer(SERVERS["busy"]()) as server:
        asker, asked, read = judge(CLIENTS[client](server.url, max_retries=1))
        assert read(asker.invoke(asked)).good
    assert (server.formats, asker.caller.fallbacks) == ([SCHEMA, SCHEMA], {})


def test_a_server_nobody_listens_at_is_no_refusal():
    with OpenAIServer(SERVERS["openai"]()) as server:
        asker, asked, read = judge(CLIENTS["BaseChatOpenAI"](server.url))
    assert read(asker.invoke(asked)).reason == "error"
    assert asker.caller.fallbacks == {}
    assert asker.caller.asked_how() == {"asked": None, "fallbacks": {}}


@pytest.mark.parametrize(
    ("profile", "formats"),
    [
        ({"structured_output": False}, [TOOL, OBJECT]),
        ({"structured_output": False, "tool_calling": False}, [OBJECT]),
        ({"structured_output": False, "tool_choice": False}, [OBJECT]),
    ],
)
def test_what_the_profile_of_a_model_rules_out_is_not_tried(profile, formats):
    with OpenAIServer(SERVERS["ollama"]()) as server:
        asker, asked, read = judge(CLIENTS["BaseChatOpenAI"](server.url, profile=profile))
        assert read(asker.invoke(asked)).good
    assert server.formats == formats


def test_the_local_server_says_what_it_knows_so_that_nothing_is_tried_in_vain():
    with OpenAIServer(SERVERS["llama-server"]()) as server:
        local = SimpleNamespace(base_url=server.url, api_key="x", model_name="m", n_ctx=4096, parameters=7_000_000_000)
        local._refuse_if_dead, local._calls_tools, local._has_adapter = (lambda _=None: None), False, False
        model = LocalModelServer.chat_model(local)
        for make in (judge, extractor):
            asker, asked, read = make(model)
            read(asker.invoke(asked))
    assert server.formats[:2] == [SCHEMA, SCHEMA]
    assert asker.caller.asked_how() == {"asked": SCHEMA, "fallbacks": {}}


def test_all_who_speak_to_a_model_share_what_was_learned_of_it():
    with OpenAIServer(SERVERS["llama-cpp-python"]()) as server:
        model = CLIENTS["BaseChatOpenAI"](server.url)
        for make in (judge, extractor, judge):
            asker, asked, read = make(model)
            assert read(asker.invoke(asked)).good
    assert server.formats == [SCHEMA, TOOL, OBJECT, OBJECT, OBJECT]


@pytest.mark.parametrize("scaling", [None, Scaling(k=2)])
def test_events_the_state_and_one_line_of_the_log_show_how_the_model_is_asked(scaling, caplog):
    solved = itertools.count()
    with OpenAIServer(SERVERS["llama-cpp-python"]()) as server, caplog.at_level(logging.INFO):
        model = CLIENTS["BaseChatOpenAI"](server.url)
        built = create_reasoning_bank(lambda _: {"answer": f"long {next(solved)}"}, model=model, scaling=scaling)
        graph = built.compile(store=InMemoryStore())
        modes = list(graph.stream({"task": ATTEMPT.task}, stream_mode=["custom", "values"]))
    told = [part for mode, part in modes if mode == "custom" and "asked" in part]
    assert {part["event"] for part in told} >= ({"extracted"} if scaling else {"judged", "extracted"})
    for part in (*told, modes[-1][1]["extraction"]):
        assert (part["asked"], set(part["fallbacks"])) == (OBJECT, {SCHEMA, TOOL})
    logged = [record.getMessage() for record in caplog.records if record.name.startswith("reasoningbank_langgraph")]
    assert logged == ["m is asked in the format json_object: refused json_schema, tool_call"]


def test_a_judge_without_a_model_shows_that_none_was_asked():
    graph = create_reasoning_bank(
        lambda _: {"answer": "long"}, model=learner(), judge=lambda _: Verdict(status="success", judge="mine")
    )
    events = graph.compile(store=InMemoryStore()).stream({"task": ATTEMPT.task}, stream_mode="custom")
    told = [(event["asked"], event["fallbacks"]) for event in events if "asked" in event]
    assert told == [(None, {}), (PLAIN, {"structured": 1})]


def test_solve_says_how_the_model_was_asked(monkeypatch, tmp_path):
    with OpenAIServer(SERVERS["llama-cpp-python"]()) as server:
        chosen = model_choice.ResolvedModel(CLIENTS["BaseChatOpenAI"](server.url), "m at a server")
        monkeypatch.setattr(model_choice, "resolve_model", lambda *_, **__: chosen)
        monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
        command = ["solve", "What is 2 + 3?", "--bank", str(tmp_path / "bank"), "--thread", "mine"]
        first, again = (CliRunner().invoke(app, command, env={"COLUMNS": "200"}).output for _ in range(2))
    assert "json_object (refused: json_schema, tool_call)" in first.split("reply format")[1].splitlines()[0]
    assert "reply format" not in again  # it was done before, nothing was asked
