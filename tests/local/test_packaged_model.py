"""The packaged model behind the real server."""

import asyncio
import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Literal

import pytest
from pydantic import BaseModel

from reasoningbank_langgraph.chat.refusals import message_of, refuses_format
from reasoningbank_langgraph.errors import ModelServerError
from reasoningbank_langgraph.local import LocalModelServer, packaged_model_path, start_local_model
from reasoningbank_langgraph.local import model as local
from tests.local.test_model import is_running, parent_process, until

# The packaged model itself.

SCHEMA = {
    "type": "object",
    "properties": {"status": {"type": "string", "enum": ["success", "failure"]}},
    "required": ["status"],
}


@pytest.fixture(scope="module")
def smollm():
    # Variables that llama.cpp's server would take for settings.
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"LLAMA_ARG_HOST": "0.0.0.0", "AIP_MODE": "PREDICTION", "LLAMA_ARG_N_PREDICT": "3"}.items():
            patch.setenv(name, value)
        with start_local_model() as server:
            yield server


def asked(server, path, key=None, body=None):
    """Return status and text of a request as anyone on this machine can send it."""
    root = server.base_url.removesuffix("/local/v1")
    request = urllib.request.Request(root + path, data=body, headers={"Authorization": f"Bearer {key}"} if key else {})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


PATHS = [
    "/",
    "/health",
    "/v1/health",
    "/models",
    "/v1/models",
    "/props",
    "/slots",
    "/metrics",
    "/lora-adapters",
    "/tools",
]


@pytest.mark.real_model
@pytest.mark.parametrize("key", [None, "", "wrong"])
@pytest.mark.parametrize("path", [prefix + path for prefix in ("", "/local") for path in PATHS])
def test_nothing_is_told_without_the_key(smollm, path, key):
    status, text = asked(smollm, path, key)
    assert status in (401, 404)
    assert json.loads(text)["error"]["message"] in ("Invalid API Key", "File Not Found")


@pytest.mark.real_model
def test_what_others_asked_is_told_to_nobody(smollm):
    assert asked(smollm, "/local/slots", smollm.api_key)[0] == 501
    assert asked(smollm, "/local/v1/models", smollm.api_key)[0] == 200
    assert smollm.api_key not in smollm.log_tail()


@pytest.mark.real_model
def test_the_packaged_model_answers_within_its_cap(smollm):
    reply = smollm.chat_model().bind(max_tokens=12).invoke("Write a long story about a fox.")
    assert reply.text
    assert reply.usage_metadata["output_tokens"] <= 12
    assert reply.response_metadata["finish_reason"] == "length"
    assert smollm.n_ctx == 4096


@pytest.mark.real_model
def test_the_packaged_model_keeps_to_a_schema(smollm):
    for wanted in (
        {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}},
        {"type": "json_object", "schema": SCHEMA},
    ):
        reply = smollm.chat_model().bind(max_tokens=60, response_format=wanted).invoke("Did it work?")
        assert json.loads(reply.text)["status"] in ("success", "failure")


class Report(BaseModel):
    status: Literal["success", "failure"]
    tries: int


@pytest.mark.real_model
def test_structured_output_of_langchain_is_kept_to_by_the_packaged_model(smollm):
    asked_for = smollm.chat_model().with_structured_output(Report, method="json_schema")
    assert asked_for.invoke("Did it work?").status in ("success", "failure")


@pytest.mark.real_model
def test_the_seed_of_a_request_decides_what_is_sampled(smollm):
    def told(seed):
        return smollm.chat_model(temperature=1.0, seed=seed, max_tokens=25).invoke("Tell a story.").text

    assert len({told(seed) for seed in range(4)}) > 1
    assert told(1) == told(1)


@pytest.mark.real_model
async def test_requests_at_once_are_worked_on_together(smollm):
    model = smollm.chat_model(max_tokens=40)
    began, ended = set(), []

    async def read(name):
        async for _ in model.astream(f"Write a long story about a {name}."):
            began.add(name)
        ended.append(len(began))

    await asyncio.gather(*(read(name) for name in ("fox", "cat", "dog", "hen", "owl")))
    assert smollm.slots == 5
    assert ended[0] == 5  # the first to end was not the only one that had begun


@pytest.mark.real_model
async def test_more_requests_than_slots_are_all_answered(smollm):
    model = smollm.chat_model().bind(max_tokens=5)
    replies = await asyncio.gather(*(model.ainvoke(f"Count from {number}") for number in range(12)))
    assert [reply.usage_metadata["output_tokens"] for reply in replies] == [5] * 12


@pytest.mark.real_model
def test_a_reply_that_nobody_waits_for_any_more_is_dropped(smollm):
    address = smollm.base_url.removeprefix("http://").partition("/")[0]
    body = {"messages": [{"role": "user", "content": "Write."}], "max_tokens": 3500, "ignore_eos": True}
    connection = http.client.HTTPConnection(address)
    connection.request(
        "POST", "/local/v1/chat/completions", json.dumps(body), {"Authorization": f"Bearer {smollm.api_key}"}
    )
    time.sleep(0.5)
    connection.close()
    assert until(lambda: "cancel task" in smollm.log_tail(), 30.0)


@pytest.mark.real_model
async def test_a_stream_is_not_cut_off_by_the_next_request(smollm):
    model = smollm.chat_model(max_tokens=30)

    async def streamed():
        return [chunk async for chunk in model.astream("Write a long story about a fox.")]

    chunks, _ = await asyncio.gather(streamed(), model.ainvoke("hi"))
    assert len([chunk for chunk in chunks if chunk.text]) > 20


@pytest.mark.real_model
def test_a_prompt_longer_than_the_context_is_refused(smollm):
    import openai

    with pytest.raises(openai.BadRequestError, match=r"\(5031 tokens\) exceeds the available context size") as error:
        smollm.chat_model().invoke("word " * 5000)
    assert not refuses_format(error.value)  # any other form of the same prompt would be as long
    assert "4096 tokens" in message_of(error.value)


@pytest.mark.real_model
def test_a_context_too_large_for_the_memory_is_reported():
    with pytest.raises(ModelServerError, match=r"(?s)failed to allocate.*|was killed"):
        LocalModelServer(packaged_model_path(), n_ctx=20_000_000, slots=1, threads=1, timeout=120.0)


@pytest.mark.real_model
def test_a_damaged_model_is_reported(tmp_path):
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(packaged_model_path().read_bytes()[:3_000_000])
    with pytest.raises(
        ModelServerError, match=r"damaged ended with exit code 1; (.|\n)*It wrote:\n(.|\n)*failed to load"
    ):
        start_local_model(damaged)


@pytest.mark.real_model
def test_the_real_server_is_gone_after_its_parent_was_killed_while_it_wrote():
    with parent_process(local._PROGRAM, packaged_model_path(), "write") as parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    assert until(lambda: not is_running(pid))
