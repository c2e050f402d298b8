"""Protocols that train in earnest: harvests, trainings, trials and servers of a tiny model."""

import io

import pytest
from rich.console import Console

from reasoningbank_langgraph.experiments.calls import Models
from reasoningbank_langgraph.experiments.report.report_files import read_cycles
from reasoningbank_langgraph.experiments.run import Run
from reasoningbank_langgraph.testing import HashEmbeddings
from reasoningbank_langgraph.train import Card
from reasoningbank_langgraph.train.improvement.adapters import Adapters
from reasoningbank_langgraph.train.improvement.compound import Compound
from reasoningbank_langgraph.train.improvement.workshop import Workshop
from tests.experiments import worlds
from tests.train import improving

pytestmark = [pytest.mark.slow, pytest.mark.network]
TUNE = {"learning_rate": 0.01, "batch": 2, "epochs": 8.0}


def test_adapters_of_equal_size_are_trained_and_answer_the_problems_each_from_its_own_server(tmp_path):
    from tests.train.tiny import write_tiny_model

    base, out = write_tiny_model(tmp_path / "tiny.gguf", context=2048), tmp_path / "out"
    settings = improving.without_others(tmp_path, tune=TUNE, max_tokens=8, limit=2, model=str(base))
    adapters = Adapters(settings, out, base, HashEmbeddings(), Workshop())
    models = Models(improving.base(), improving.base(), HashEmbeddings(), tuned=adapters.model)
    run = Run(settings, out, models, Console(file=io.StringIO()))
    run.carry_out()
    arms = worlds.by_arm(run)
    replies = {name: [row.reply for row in arms[name]] for name in ("adapter", "adapter+memory", "adapter-wrong")}
    assert [row.error for name in replies for row in arms[name]] == [None] * 6
    assert replies["adapter"] != replies["adapter-wrong"]
    cards = [Card.read(out / "adapters" / name) for name in ("adapter", "adapter-wrong")]
    assert cards[0].train == cards[1].train > 0
    assert cards[0].data_sha256 != cards[1].data_sha256
    assert all(card.after < card.before for card in cards)


def test_a_cycle_trains_an_adapter_and_tries_it_beside_its_base_on_the_validation_problems(tmp_path):
    from tests.train.tiny import write_tiny_model

    base, out = write_tiny_model(tmp_path / "tiny.gguf", context=2048), tmp_path / "out"
    validation = improving.problems(tmp_path / "tried.jsonl", 6, start=500)
    more = {"validation": validation, "tune": {**TUNE, "epochs": 1.0}, "max_tokens": 8, "cycles": 1}
    settings = improving.compound(tmp_path, model=str(base), **more)
    models = Models(improving.base(), improving.base(), HashEmbeddings())
    Compound(settings, out, models, base, Workshop(), Console(file=io.StringIO())).carry_out()
    (cycle,) = read_cycles(out)
    assert Card.read(out / "adapters" / "cycle-1").train > 0
    assert (cycle.accepted, cycle.reason, cycle.tried, cycle.tried_right, cycle.base_right) == (
        False,
        "not better",
        6,
        0,
        0,
    )
    assert cycle.p == 1
