"""The local model server: start, failure, stop and orphanhood, with a fake program."""

import asyncio
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

import pytest

from reasoningbank_langgraph.chat.refusals import underlying_error
from reasoningbank_langgraph.errors import ModelServerError
from reasoningbank_langgraph.local import LocalModelServer
from reasoningbank_langgraph.local import model as local

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
        self.reply({{"chat_template_caps": {{"supports_tool_calls": True}}, "data": [{{"meta": {{"n_params": 7}}}}]}})

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
        [sys.executable, "-c", PARENT, str(program_path), str(model), then], stdout=subprocess.PIPE, text=True, cwd=ROOT
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
