"""Adapters of random models, each trained once for all tests of this folder, by the command."""

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.train.adapters import trial
from tests.train.adapted import Servers, problems_in

ABSENT = [name for name in ("datasets", "gguf", "peft", "torch", "trl", "xllamacpp") if find_spec(name) is None]


def pytest_collection_modifyitems(items):
    """Run what trains in one process, which imports the libraries once."""
    for item in items:
        if item.path.parent == Path(__file__).parent and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.xdist_group("train"))
            if ABSENT:
                item.add_marker(pytest.mark.skip(reason=f"not installed: {', '.join(ABSENT)}"))


class Trained(NamedTuple):
    """A base, the folder of its adapter, and what the command printed."""

    base: Path
    data: Path
    out: Path
    printed: str

    def again(self, *options, out=None):
        """Run the same command once more; other options come last and win."""
        return tune_command(self.base, self.data, out or self.out, *options)


def tune_command(base, data, out, *options):
    words = ["--data", data, "--base", base, "--out", out, "--learning-rate", "0.01", "--batch", "2", "--epochs", "4"]
    return CliRunner().invoke(app, ["tune", *map(str, words), *options])


def conversation(number):
    told = [{"role": "user", "content": f"{number} + 1"}, {"role": "assistant", "content": f"the {number + 1}"}]
    return json.dumps({"messages": told})


@pytest.fixture(scope="session")
def train_once(tmp_path_factory):
    """Return what trains an adapter of a model of this architecture, the first time it is asked for."""
    from tests.train.tiny import write_tiny_model

    @cache
    def train(architecture):
        folder = tmp_path_factory.mktemp(architecture)
        base = write_tiny_model(folder / "tiny.gguf", architecture)
        (data := folder / "data").mkdir()
        for name, numbers in (("train", range(8)), ("validation", range(8, 12))):
            (data / f"{name}.jsonl").write_text("\n".join(map(conversation, numbers)))
        done = tune_command(base, data, folder / "adds")
        assert done.exit_code == 0, done.output
        return Trained(base, data, folder / "adds", done.output)

    return train


@pytest.fixture(scope="session")
def trained(train_once):
    return train_once("llama")


@pytest.fixture
def adapters(tmp_path):
    return tmp_path / "adapters"


@pytest.fixture
def validation(tmp_path):
    return problems_in(tmp_path / "validation.jsonl", range(20))


@pytest.fixture
def served(monkeypatch):
    """Return what says which weights are right on which problems."""

    def serve(**right):
        servers = Servers(**right)
        monkeypatch.setattr(trial, "start_local_model", servers.start)
        return servers

    return serve
