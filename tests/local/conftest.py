"""A server of a local model that is never started."""

import pytest

from reasoningbank_langgraph.local import model_choice
from reasoningbank_langgraph.testing import ScriptedChatModel


class FakeServer:
    """Stands where `start_local_model` would start one; the start itself is the subject of test_local."""

    def __init__(self, path, adapter):
        self.path, self.adapter, self.closed = path, adapter, False
        self.model_name = str(path or "packaged")

    def chat_model(self, **settings):
        self.settings = settings
        return ScriptedChatModel([])

    def close(self):
        self.closed = True


@pytest.fixture
def started(monkeypatch):
    servers = []

    def start(path, *, adapter):
        servers.append(FakeServer(path, adapter))
        return servers[-1]

    monkeypatch.setattr(model_choice, "start_local_model", start)
    return servers
