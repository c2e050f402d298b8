"""The examples are what they say."""

import importlib.util
import json

import pytest
from langgraph.store.memory import InMemoryStore

from .conftest import REPOSITORY


@pytest.mark.real_model
async def test_the_graph_that_langgraph_json_names_solves_and_learns(monkeypatch):
    pytest.importorskip("llama_cpp", reason="needs the extra `local`")
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    settings = json.loads((REPOSITORY / "langgraph.json").read_text())
    path, name = settings["graphs"]["math_solver"].split(":")
    assert settings["store"]["index"]["embed"] == f"{path}:embed"
    spec = importlib.util.spec_from_file_location("math_solver_graph", REPOSITORY / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        assert getattr(module, name).name == "math_solver"
        store = InMemoryStore(index={"dims": 384, "embed": module.embed, "fields": ["lesson"]})
        result = await module.builder.compile(store=store).ainvoke({"task": "What is 10 + 10?", "reference": "20"})
        assert result["verdict"]["judge"] == "reference"
        assert len(result["written"]) == len(store.search(("math",)))
    finally:
        module.model.close()
