"""Fakes of the models, servers and databases that the pages of the documentation use."""

from contextlib import ExitStack, closing, contextmanager

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings, ScriptedChatModel, ScriptedToolModel
from tests.loop_fakes import lessons, verdict

EMBEDDER = "reasoningbank_langgraph.{}.default_embeddings"


class Adder(ScriptedChatModel):
    """Answers 5, judges every attempt a success, and distils a lesson. Any arguments of a chat model will do."""

    def __init__(self, *_, **__):
        super().__init__(_reply)


class ToolAdder(ScriptedToolModel):
    """The same, for agents: tools can be bound to it."""

    def __init__(self, *_, **__):
        super().__init__(_reply)


def _reply(messages):
    if "You check whether" in messages[0].text:
        return verdict()
    return lessons("add up") if "teach problem solving" in messages[0].text else "2 + 3 = \\boxed{5}"


class Server:
    """Stands in for the server of a local model."""

    chat_model = ToolAdder
    close = __exit__ = lambda *_: None

    def __enter__(self):
        return self


@contextmanager
def saver(*_):
    saver = InMemorySaver()
    saver.setup = lambda: None
    yield saver


@contextmanager
def postgres_store(*_, index, pool_config):
    yield type("Postgres", (InMemoryStore,), {"setup": lambda _: None})(index=index)


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """Work in an empty folder, with fakes of everything outside it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "no-call-is-made")
    embedder = HashEmbeddings(384)
    for module in ("embeddings", "store.indexing"):
        monkeypatch.setattr(EMBEDDER.format(module), lambda: embedder)
    monkeypatch.setattr("langchain.chat_models.init_chat_model", ToolAdder)
    monkeypatch.setattr("reasoningbank_langgraph.local.start_local_model", lambda *_, **__: Server())
    monkeypatch.setattr("reasoningbank_langgraph.local.adapter_in_use", lambda _: ("model.gguf", None))
    monkeypatch.setattr("langgraph.checkpoint.postgres.PostgresSaver.from_conn_string", saver)
    monkeypatch.setattr("langgraph.store.postgres.PostgresStore.from_conn_string", postgres_store)
    monkeypatch.setattr(ChromaStore, "from_server", lambda *_: ChromaStore.from_path("server"))
    with ExitStack() as stores:  # examples leave theirs open, and the next one may work in a folder of the same name
        from_path = ChromaStore.from_path

        def opened(*args, **settings):
            return stores.enter_context(closing(from_path(*args, **settings)))

        monkeypatch.setattr(ChromaStore, "from_path", opened)
        yield
