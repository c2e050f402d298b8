"""`reasoningbank experiment` from end to end: what it writes, prints and returns, against a server on this machine."""

import json
import os
import signal
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.experiments import run as running
from reasoningbank_langgraph.experiments.results import Results
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.experiments import worlds
from tests.experiments.conftest import unrendered  # noqa: F401 - a fixture
from tests.experiments.fake_rows import needs_extra
from tests.openai_server import OpenAIServer
from tests.server_habits import Habits, completion, fails

pytestmark = [needs_extra, pytest.mark.slow, pytest.mark.network]

NO_SERVER = "http://127.0.0.1:9/v1"
STOPPED = "stopped: the same command continues the run"


def solves(ask):
    """Solve, judge and distil as the model of `worlds` does; asked to check a solution, solve again."""
    messages = [SimpleNamespace(text=message["content"]) for message in ask.body["messages"]]
    while "Someone has" not in messages[-1].text:
        messages.pop()
    return completion(ask, worlds.reply(messages).text)


@pytest.fixture
def server():
    with OpenAIServer(Habits(always=solves)) as running_server:
        yield running_server


@pytest.fixture
def experiment(server, tmp_path, monkeypatch):
    """Run the command with problems of `worlds` and a model of the server, in the folder `out`."""
    monkeypatch.setattr(running, "default_embeddings", HashEmbeddings)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, {"OPENAI_BASE_URL": server.url}.get(name, "none"))
    train = worlds.problems(tmp_path / "train.jsonl", 4)
    test = worlds.problems(tmp_path / "test.jsonl", 4, start=100)
    out = tmp_path / "out"

    def run(protocol, *more, **options):
        given = {"model": "m", "test": test, "out": out, "limit": 3, **options}
        if protocol != "stream":
            given = {"train": train, "train_limit": 3, **given}
        words = [f"--{name.replace('_', '-')}={value}" for name, value in given.items() if value is not None]
        return CliRunner().invoke(app, ["experiment", protocol, *words, *more], env={"COLUMNS": "200"})

    run.out, run.test = out, test
    return run


def last_line(done):
    return done.output.rstrip().splitlines()[-1]


def rows(out):
    """Rows by arm, each with what does not depend on the clock."""
    found = {}
    for row in Results(out).rows:
        found.setdefault(row.arm, []).append((row.seed, row.id, row.answer, row.right, row.error))
    return {arm: sorted(some) for arm, some in found.items()}


def counted(out):
    return {arm: len(some) for arm, some in rows(out).items()}


PROTOCOLS = {
    "phase1": (
        {"arms": "baseline, memory,shuffled,vote+memory", "bank_sizes": "2", "attempts": "2", "seeds": "0,1"},
        {"learning": 3, "baseline": 6, "memory": 6, "shuffled": 6, "memory-2": 6, "vote-2+memory": 6},
    ),
    "stream": ({"arms": "baseline,memory", "seeds": "4,5"}, {"baseline": 6, "memory": 6}),
    "scaling": (
        {"attempts": "1,2", "modes": "sequential", "limit": 2},
        {
            "learning": 3,
            "learning-checked-2": 3,
            **dict.fromkeys(("baseline", "memory", "checked-2"), 2),
            "checked-2+memory": 2,
            "checked-2+matts": 2,
        },
    ),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_protocol_ends_with_its_rows_its_summary_and_its_page(protocol, experiment):
    options, arms = PROTOCOLS[protocol]
    done = experiment(protocol, **options)
    assert done.exit_code == 0, done.output
    assert last_line(done) == f"report: {experiment.out / 'report.html'}"
    assert "model: m at http://127.0.0.1" in done.output
    assert f"{protocol}: done" in done.output
    assert counted(experiment.out) == arms
    summary = json.loads((experiment.out / "summary.json").read_text())
    assert summary["config"]["protocol"] == protocol
    assert [arm["arm"] for arm in summary["arms"]]
    assert (experiment.out / "report.html").read_text().startswith("<!")


def test_settings_reach_the_run(experiment, server):
    options = {"max_tokens": 77, "temperature": 0.5, "k": 2, "outcome": "success", "judge": "self", "judge_model": "c"}
    more = {
        "min_score": 0.25,
        "price_in": 2,
        "price_out": 3,
        "concurrency": 2,
        "seeds": "7",
        "train_limit": 2,
        "limit": 1,
    }
    assert experiment("phase1", **options, **more).exit_code == 0
    saved = json.loads((experiment.out / "config.json").read_text())
    told = {**options, **more, "seeds": [7], "model": "m"}
    assert {name: saved[name] for name in told} == told
    solving = [body for body in server.bodies if body["model"] == "m"]
    assert {(body["temperature"], body.get("max_tokens", body.get("max_completion_tokens"))) for body in solving} == {
        (0.5, 77)
    }
    assert {body["model"] for body in server.bodies} == {"m", "c"}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_ctrl_c_stops_a_run_and_the_same_command_ends_it_without_repeating_a_row(protocol, experiment, server):
    options = {**PROTOCOLS[protocol][0], "concurrency": None if protocol == "stream" else 1}

    def interrupting(_):
        if len(server.bodies) == 9:
            os.kill(os.getpid(), signal.SIGINT)

    server.habits.checks = interrupting
    stopped = experiment(protocol, **options)
    server.habits.checks = None
    assert stopped.exit_code == 130, stopped.output
    assert last_line(stopped) == STOPPED
    before = {arm: set(some) for arm, some in rows(experiment.out).items()}
    done = experiment(protocol, **options)
    assert done.exit_code == 0, done.output
    assert last_line(done) == f"report: {experiment.out / 'report.html'}"
    assert counted(experiment.out) == PROTOCOLS[protocol][1]
    after = rows(experiment.out)
    assert before
    assert all(some <= set(after[arm]) for arm, some in before.items())
    lines = [json.loads(line) for line in (experiment.out / "results.jsonl").read_text().splitlines()]
    assert len({(line["arm"], line["seed"], line["id"]) for line in lines}) == len(lines)
    asked = len(server.bodies)
    again = experiment(protocol, **options)
    assert (again.exit_code, len(server.bodies)) == (0, asked)


def test_the_page_of_a_run_that_was_stopped_can_be_written(experiment, server):
    server.habits.checks = lambda _: os.kill(os.getpid(), signal.SIGINT) if len(server.bodies) == 9 else None
    assert experiment("stream", arms="baseline", limit=4, seeds="0,1,2").exit_code == 130
    done = CliRunner().invoke(app, ["experiment", "report", f"--out={experiment.out}"])
    assert (done.exit_code, last_line(done)) == (0, f"report: {experiment.out / 'report.html'}")
    assert "the run has not ended" in (experiment.out / "report.html").read_text()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "test.jsonl: No such file or directory"),
        ("", "holds no problem"),
        ('{"problem": "1 + 1", "answer": "2"}\n{"problem":', "line 2: is not JSON"),
        ('{"answer": "2"}', "line 1: needs a text in 'problem'"),
        ('{"id": "open", "problem": "1 + 1"}', "problem 'open' has no answer: an experiment grades by known answers"),
    ],
)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_bad_file_is_named_with_its_line_before_a_model_is_asked(protocol, content, problem, experiment, server):
    experiment.test.unlink() if content is None else experiment.test.write_text(content)
    done = experiment(protocol)
    assert done.exit_code == 1
    assert problem in done.output
    assert "Traceback" not in done.output
    assert (server.bodies, experiment.out.exists()) == ([], False)


def test_a_folder_of_other_settings_is_refused_and_left_as_it_is(experiment, server):
    assert experiment("stream", arms="baseline", limit=1, seeds="0").exit_code == 0
    before, asked = (
        {path.name: path.read_bytes() for path in experiment.out.iterdir() if path.is_file()},
        len(server.bodies),
    )
    done = experiment("stream", arms="baseline", limit=1, seeds="0", max_tokens=9)
    assert done.exit_code == 1
    assert "belongs to a run with other settings: max_tokens (512 there, 9 here); choose another folder" in done.output
    assert {path.name: path.read_bytes() for path in experiment.out.iterdir() if path.is_file()} == before
    assert len(server.bodies) == asked


def test_a_server_that_is_not_there_is_named(experiment, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", NO_SERVER)
    done = experiment("stream", model=None)
    assert done.exit_code == 1
    assert f"Error: {NO_SERVER} (OPENAI_BASE_URL) does not list its models" in last_line(done)
    assert not experiment.out.exists()


def test_rows_that_failed_end_the_command_with_1_and_the_same_command_tries_them_again(experiment, server):
    server.habits.checks = fails(400, "no such model")
    done = experiment("stream", arms="baseline", seeds="0")
    assert done.exit_code == 1
    assert "no such model" in rows(experiment.out)["baseline"][0][-1]
    assert done.output.rstrip().splitlines()[-2:] == [
        f"report: {experiment.out / 'report.html'}",
        "Error: 3 rows failed: the same command tries them again",
    ]
    server.habits.checks = None
    again = experiment("stream", arms="baseline", seeds="0")
    assert (again.exit_code, last_line(again)) == (0, f"report: {experiment.out / 'report.html'}")


def test_a_run_is_repeated_from_its_settings(experiment, tmp_path):
    assert experiment("stream", arms="baseline", seeds="3").exit_code == 0
    again = tmp_path / "again"
    words = ["experiment", "repeat", f"--config={experiment.out / 'config.json'}", f"--out={again}"]
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, last_line(done)) == (0, f"report: {again / 'report.html'}")
    assert rows(again) == rows(experiment.out)


@pytest.mark.parametrize(
    ("config", "code", "problem"),
    [(None, 2, "No such file or directory"), ("{", 1, "Invalid JSON"), ('{"protocol": "stream"}', 1, "test")],
)
def test_settings_that_cannot_be_read_are_refused(config, code, problem, tmp_path):
    path = tmp_path / "config.json"
    if config is not None:
        path.write_text(config)
    done = CliRunner().invoke(app, ["experiment", "repeat", f"--config={path}"], env={"COLUMNS": "300"})
    assert done.exit_code == code
    assert problem in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("protocol", "options", "code", "problem"),
    [
        ("phase1", {"arms": "baseline,magic"}, 1, "no arm is called 'magic'"),
        ("phase1", {"seeds": "1,x"}, 2, "'1,x' is not a comma-separated list of integers"),
        ("phase1", {"bank_sizes": "3"}, 1, "bank_sizes are parts of train_limit"),
        ("phase1", {"limit": 0}, 2, "--limit"),
        ("stream", {"arms": "filler"}, 1, "filler needs a bank that does not change"),
        ("scaling", {"attempts": "two"}, 2, "--attempts"),
        ("scaling", {"train": None}, 2, "--train"),
        ("stream", {"test": None}, 2, "--test"),
    ],
)
def test_options_that_make_no_sense_are_refused(protocol, options, code, problem, experiment):
    done = experiment(protocol, **options)
    assert done.exit_code == code
    assert problem in done.output
    assert not experiment.out.exists()


def test_a_folder_without_a_run_has_no_report(tmp_path):
    done = CliRunner().invoke(app, ["experiment", "report", f"--out={tmp_path}"])
    assert done.exit_code == 1
    assert last_line(done) == f"Error: {tmp_path} is no folder of a run: it has no config.json"
