"""Which model a name or the environment leads to, and that nothing is chosen silently."""

import builtins
import http.server
import json
import threading

import pytest

from reasoningbank_langgraph.chat.context import context_tokens
from reasoningbank_langgraph.chat.models import chat_model, openai_model
from reasoningbank_langgraph.chat.parameters import is_weak
from reasoningbank_langgraph.errors import MissingDependencyError, ModelServerError, ModelUnavailableError
from reasoningbank_langgraph.local.model_choice import resolve_model
from reasoningbank_langgraph.local.model_files import MODEL_FILES
from reasoningbank_langgraph.testing import ScriptedChatModel
from tests.local.conftest import FakeServer

SERVER = "http://127.0.0.1:9/v1"  # nothing listens there


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """An empty home and no settings of OpenAI."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return monkeypatch


def payload(model, **bound):
    return model._get_request_payload("hi", **bound)


def test_with_nothing_set_up_the_packaged_model_is_used_and_called_tiny(started):
    with resolve_model(temperature=0.3) as choice:
        assert started[0].path is None
        assert started[0].settings == {"temperature": 0.3}
        assert "the packaged model, which is tiny" in choice.description
        assert "model pull" in choice.description
        assert "\n" not in choice.description
    assert started[0].closed


def test_a_server_whose_settings_are_refused_does_not_stay(started, monkeypatch):
    monkeypatch.setattr(FakeServer, "chat_model", lambda self, **settings: settings["nonsense"])
    with pytest.raises(KeyError):
        resolve_model()
    assert started[0].closed


@pytest.mark.parametrize("name", ["models/mine.gguf", "/a/B.GGUF"])
def test_a_gguf_path_is_served_here(started, environment, name):
    environment.setenv("OPENAI_BASE_URL", SERVER)
    assert resolve_model(name).description == f"{name} on this machine: the file you named"
    assert started[0].path == name


def test_a_pulled_name_is_served_here_even_with_a_server_set_up(started, environment):
    path = MODEL_FILES["Qwen3-0.6B"].path()
    path.parent.mkdir(parents=True)
    path.touch()
    environment.setenv("OPENAI_BASE_URL", SERVER)
    assert "downloaded earlier" in resolve_model("Qwen3-0.6B").description
    assert started[0].path == str(path)


def test_a_name_that_was_not_pulled_is_refused_with_the_command_to_run():
    with pytest.raises(ModelUnavailableError, match=r"run `reasoningbank model pull Qwen3-1\.7B` first"):
        resolve_model("Qwen3-1.7B")


@pytest.mark.parametrize("name", ["gpt-5-mini", "openai:gpt-5-mini"])
@pytest.mark.parametrize("base_url", [None, "", "https://api.openai.com/v1"])
def test_a_name_means_openai_where_no_server_is_set_up(environment, name, base_url):
    environment.setenv("OPENAI_API_KEY", "k")
    if base_url is not None:
        environment.setenv("OPENAI_BASE_URL", base_url)
    choice = resolve_model(name)
    assert choice.description == "gpt-5-mini at OpenAI: the model you named"
    assert str(choice.chat.root_client.base_url) == "https://api.openai.com/v1/"
    assert payload(choice.chat, max_tokens=5)["max_completion_tokens"] == 5


@pytest.mark.network
@pytest.mark.parametrize("name", ["qwen3:0.6b", "small"])
def test_a_name_means_the_server_that_is_set_up(environment, name):
    environment.setenv("OPENAI_BASE_URL", SERVER)
    choice = resolve_model(f"openai:{name}")
    assert choice.description == f"{name} at {SERVER}: the model you named"
    sent = payload(choice.chat, max_tokens=5)
    assert (sent["model"], sent["max_tokens"]) == (name, 5)
    assert "max_completion_tokens" not in sent
    choice.close()


def test_a_key_alone_means_openai(environment):
    environment.setenv("OPENAI_API_KEY", "k")
    assert resolve_model().description.startswith("gpt-4.1-mini at OpenAI: OPENAI_API_KEY is set")


def test_openai_without_a_key_is_refused_by_name():
    with pytest.raises(ModelUnavailableError, match="'gpt-5' cannot be used: OPENAI_API_KEY is not set"):
        resolve_model("gpt-5")


@pytest.fixture
def listing():
    """Return a server whose `/v1/models` answers with its attribute `answer`: (status, text)."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, text = self.server.answer
            self.server.key = self.headers["Authorization"]
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *args):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        server.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.network
@pytest.mark.parametrize(("key", "sent"), [(None, "Bearer none"), ("k", "Bearer k")])
def test_a_server_alone_means_its_first_model(listing, environment, key, sent):
    listing.answer = (200, json.dumps({"data": [{"id": "first"}, {"id": "second"}]}))
    environment.setenv("OPENAI_BASE_URL", listing.address)
    if key:
        environment.setenv("OPENAI_API_KEY", key)
    choice = resolve_model()
    assert choice.description.startswith(f"first at {listing.address}: the first model of the server")
    assert choice.chat.model_name == "first"
    assert listing.key == sent


@pytest.mark.network
@pytest.mark.parametrize("named", [None, "openai:mine"])
@pytest.mark.parametrize(
    ("model", "context"),
    [
        ({"id": "mine", "max_model_len": 4096}, 4096),
        ({"id": "mine", "meta": {"n_ctx": 2048, "n_ctx_train": 32768}}, 2048),
        ({"id": "mine", "meta": None}, None),
        ({"id": "mine", "max_model_len": "much"}, None),
    ],
)
def test_a_server_that_says_how_much_its_model_holds_is_believed(listing, environment, model, context, named):
    listing.answer = (200, json.dumps({"data": [model]}))
    environment.setenv("OPENAI_BASE_URL", listing.address)
    assert context_tokens(resolve_model(named).chat) == context


@pytest.mark.network
@pytest.mark.parametrize(("counted", "weak"), [(1_777_088_000, True), (70_000_000_000, False), (None, False)])
def test_a_server_that_counts_the_parameters_of_its_model_says_whether_it_is_weak(listing, environment, counted, weak):
    listing.answer = (200, json.dumps({"data": [{"id": "mine", "meta": {"n_params": counted}}]}))
    environment.setenv("OPENAI_BASE_URL", listing.address)
    assert is_weak(resolve_model().chat) is weak


@pytest.mark.network
def test_a_model_that_is_named_needs_no_list_of_its_server(listing, environment):
    listing.answer = (404, "")
    environment.setenv("OPENAI_BASE_URL", listing.address)
    assert resolve_model("mine").chat.model_name == "mine"


@pytest.mark.network
@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ((401, ""), "HTTP 401 .*set OPENAI_API_KEY"),
        ((200, "<html>"), "does not list its models"),
        ((200, "{}"), "does not list its models"),
        ((200, '{"data": null}'), "has no models"),
        ((200, '{"data": []}'), "has no models"),
        ((200, '{"data": [1]}'), "does not list its models"),
    ],
)
def test_a_server_that_lists_no_models_is_named(listing, environment, answer, problem):
    listing.answer = answer
    environment.setenv("OPENAI_BASE_URL", listing.address)
    with pytest.raises(ModelServerError, match=rf"{listing.address} \(OPENAI_BASE_URL\) .*{problem}.*--model"):
        resolve_model()


@pytest.mark.network
def test_a_server_that_is_not_there_is_named(environment):
    environment.setenv("OPENAI_BASE_URL", SERVER)
    with pytest.raises(ModelServerError, match=r"Connection refused.*start it, unset OPENAI_BASE_URL"):
        resolve_model()


def test_a_chat_model_is_returned_as_it_is():
    model = ScriptedChatModel([])
    assert chat_model(model) is model


def test_another_provider_is_left_to_langchain():
    pytest.importorskip("langchain")
    with pytest.raises(ModelUnavailableError, match=r"'qwen3:0\.6b' cannot be used: .*write 'openai:qwen3:0\.6b'"):
        resolve_model("qwen3:0.6b")


def test_without_langchain_another_provider_names_the_extra(monkeypatch):
    original = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("langchain."):
            raise ImportError(name)
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingDependencyError, match=r"langchain is not installed: .*\[agents\].*'openai:gpt-5'"):
        chat_model("gpt-5")


def test_an_address_given_wins_over_the_environment(environment):
    environment.setenv("OPENAI_BASE_URL", SERVER)
    assert openai_model("m", base_url="http://127.0.0.1:8/v1").openai_api_base == "http://127.0.0.1:8/v1"
