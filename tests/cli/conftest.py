"""A bank of one lesson, for commands that serve it."""

import pytest

from reasoningbank_langgraph import ChromaStore, MemoryBank, embeddings
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.small_bank import NAMESPACE, lesson


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Its folder, made with the embedder that commands find."""
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    with ChromaStore.from_path(tmp_path / "bank", embeddings=HashEmbeddings()) as store:
        MemoryBank(store, NAMESPACE).add([lesson()])
    return tmp_path / "bank"
