"""`reasoningbank experiment self-improve` and `compound`: options are settings, and bad ones end the run at once."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.experiments.config import IMPROVING
from reasoningbank_langgraph.train import improvement
from reasoningbank_langgraph.train.improvement import self_improve as module
from tests.experiments import worlds


@pytest.fixture
def begun(monkeypatch):
    """What would be run."""
    runs = []
    monkeypatch.setattr(improvement, "run_self_improve", lambda config, out, console: runs.append(config) or out)
    return runs


def command(tmp_path, protocol="self-improve", **options):
    given = {"train": worlds.problems(tmp_path / "train.jsonl", 4), "out": tmp_path / "out", **options}
    given["test"] = worlds.problems(tmp_path / "test.jsonl", 4, start=100)
    words = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
    return CliRunner().invoke(app, ["experiment", protocol, *words], env={"COLUMNS": "300"})


def test_options_are_the_settings_of_the_run_and_of_its_adapters(tmp_path, begun):
    done = command(
        tmp_path, model="b.gguf", samples=3, seeds="4,5", rank=2, epochs=1.5, learning_rate=0.001, longest=99
    )
    assert done.exit_code == 0, done.output
    (config,) = begun
    assert (config.protocol, config.model, config.samples, config.seeds) == ("self-improve", "b.gguf", 3, (4, 5))
    assert config.tune == {
        "rank": 2, "epochs": 1.5, "learning_rate": 0.001, "batch": 8, "longest": 99, "patience": 2,
    }  # fmt: skip


def test_the_control_of_other_problems_is_there_where_there_are_some(tmp_path, begun):
    command(tmp_path)
    command(tmp_path, other_train=tmp_path / "other.jsonl")
    assert [config.arms for config in begun] == [tuple(arm for arm in IMPROVING if arm != "adapter-other"), IMPROVING]


def test_a_saved_run_is_repeated_with_its_adapters(tmp_path, begun):
    command(tmp_path, model="b.gguf", rank=2)
    (path := tmp_path / "config.json").write_text(json.dumps(begun[0].to_json()))
    done = CliRunner().invoke(app, ["experiment", "repeat", f"--config={path}", f"--out={tmp_path / 'again'}"])
    assert done.exit_code == 0, done.output
    assert begun[1] == begun[0]


def test_the_options_of_cycles_are_their_settings(tmp_path, monkeypatch):
    runs, validation = [], worlds.problems(tmp_path / "validation.jsonl", 4, start=200)
    monkeypatch.setattr(improvement, "run_compound", lambda config, out, console: runs.append(config) or out)
    done = command(tmp_path, "compound", validation=validation, cycles=5, patience=1, model="b.gguf")
    assert done.exit_code == 0, done.output
    (config,) = runs
    assert (config.protocol, config.validation, config.cycles, config.tune["patience"]) == (
        "compound",
        validation,
        5,
        1,
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"model": "openai:gpt-4.1-mini"}, "openai:gpt-4.1-mini is no GGUF file on this disk"),
        ({"learning_rate": 0}, "the settings of the adapters cannot be used: numbers of a training"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_a_model_is_asked(options, problem, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "require_libraries", lambda: None)
    done = command(tmp_path, **options)
    assert done.exit_code == 1
    assert problem in done.output
    assert not Path(tmp_path / "out").exists()
