"""An experiment writes every row once, whatever stops it and however many problems it works on at once."""

import io
import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from rich.console import Console

from reasoningbank_langgraph.experiments import calls
from reasoningbank_langgraph.experiments import run as running
from reasoningbank_langgraph.experiments.results import Results
from reasoningbank_langgraph.local import model_choice
from reasoningbank_langgraph.local.model_choice import ResolvedModel
from reasoningbank_langgraph.testing import HashEmbeddings

from . import worlds

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("protocol", ["phase1", "stream", "scaling"])
@pytest.mark.parametrize("after", [1, 6, 11])
def test_a_run_that_was_stopped_goes_on_and_ends_like_one_that_was_not(protocol, after, tmp_path):
    arms = ("baseline", "memory") if protocol == "stream" else ("baseline", "memory", "shuffled")
    settings = worlds.config(tmp_path, protocol, arms=arms, limit=4, train_limit=4)
    whole = worlds.carry_out(settings, tmp_path / "whole")
    calls = []

    def failing(messages):
        calls.append(1)
        if len(calls) == after:
            raise KeyboardInterrupt
        return worlds.reply(messages)

    with pytest.raises(KeyboardInterrupt):
        worlds.carry_out(settings, tmp_path / "cut", worlds.model(failing))
    resumed = worlds.model()
    again = worlds.carry_out(settings, tmp_path / "cut", resumed)
    strip = {"seconds", "shown", "tokens_in", "tokens_out"}
    told = [sorted(row.model_dump_json(exclude=strip) for row in run.results.rows) for run in (whole, again)]
    assert told[0] == told[1]
    lines = [json.loads(line) for line in again.results.path.read_text().splitlines()]
    assert len({(row["arm"], row["seed"], row["id"]) for row in lines}) == len(lines)


def test_a_problem_that_fails_is_noted_and_run_again_on_resume(tmp_path):
    settings = worlds.config(tmp_path, arms=("baseline",))
    down = worlds.carry_out(settings, tmp_path / "out", worlds.model(lambda _: ConnectionError("gone")))
    assert [row.error for row in down.results.rows] == ["ConnectionError: gone"] * 6
    up = worlds.carry_out(settings, tmp_path / "out")
    assert [row.error for row in up.results.rows] == [None] * 6
    assert sum(row.right for row in up.results.rows) == 3


def test_a_line_that_a_kill_cut_off_is_dropped(tmp_path):
    settings = worlds.config(tmp_path, arms=("baseline",))
    run = worlds.carry_out(settings, tmp_path / "out")
    whole = run.results.path.read_bytes()
    run.results.path.write_bytes(whole[:-20])
    again = worlds.carry_out(settings, tmp_path / "out")
    assert len(again.results.rows) == 6
    assert len(again.results.path.read_bytes().splitlines()) == 6


def test_reading_rows_leaves_a_line_that_is_being_written_alone(tmp_path):
    settings = worlds.config(tmp_path, arms=("baseline",))
    run = worlds.carry_out(settings, tmp_path / "out")
    whole = run.results.path.read_bytes()
    run.results.path.write_bytes(whole[:-20])
    assert len(Results(tmp_path / "out").rows) == 5
    with run.results.path.open("ab") as file:
        file.write(whole[-20:])
    assert len(Results(tmp_path / "out").rows) == 6


def test_workers_at_the_same_time_write_the_same_rows(tmp_path):
    settings = worlds.config(tmp_path, arms=("baseline", "memory", "random"))
    one = worlds.carry_out(settings, tmp_path / "one")
    many = worlds.carry_out(settings.model_copy(update={"concurrency": 4}), tmp_path / "many")
    rows = [{row.key: (row.answer, row.memory) for row in run.results.rows} for run in (one, many)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(("slots", "wanted", "at_once"), [(4, None, 4), (4, 2, 2), (None, None, 1)])
def test_a_model_on_this_machine_is_given_as_many_problems_as_it_works_on_at_once(
    slots, wanted, at_once, tmp_path, monkeypatch
):
    server = slots and SimpleNamespace(slots=slots, close=lambda: None)
    chosen = ResolvedModel(worlds.model(), "a model", server)
    pools = []
    monkeypatch.setattr(model_choice, "resolve_model", lambda *_, **__: chosen)
    monkeypatch.setattr(running, "default_embeddings", HashEmbeddings)
    monkeypatch.setattr(calls, "ThreadPoolExecutor", lambda count: pools.append(count) or ThreadPoolExecutor(count))
    settings = worlds.config(tmp_path, arms=("baseline",), concurrency=wanted)
    running.run_experiment(settings, tmp_path / "out", console=Console(file=io.StringIO()))
    assert pools == [at_once]
