"""An outage costs time and nothing else: rows that failed are run again, and only a whole bank is compared with."""

import io
import json

import pytest
from rich.console import Console
from tenacity import wait_none

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.errors import ExperimentError, FrozenBankError, UnlearnedProblemsError
from reasoningbank_langgraph.experiments import calls
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.folder import alone_in
from reasoningbank_langgraph.experiments.report import write_report
from reasoningbank_langgraph.experiments.results import Results
from reasoningbank_langgraph.experiments.run import Models, Run
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings

from . import worlds
from .fake_rows import needs_extra, row

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(calls, "WAIT", wait_none())


def settings_of(tmp_path, protocol="phase1", **changes):
    values = {"train": worlds.problems(tmp_path / "train.jsonl", 4), "train_limit": 4, "limit": 2}
    test = worlds.problems(tmp_path / "test.jsonl", 4, start=100)
    return ExperimentConfig(protocol=protocol, test=test, **{**values, **changes})


def start(settings, out, script=worlds.reply):
    chat = worlds.model(script)
    return Run(settings, out, Models(chat, chat, HashEmbeddings()), Console(file=io.StringIO()))


def down_where(is_down, error=None):
    error = error or TimeoutError("no answer")
    return lambda messages: error if is_down(messages) else worlds.reply(messages)


def about(number):
    return lambda messages: any(f"has {number + 20} " in message.text for message in messages)


def digests(run):
    return {row.arm: row.bank_digest for row in run.results.rows if row.bank_digest}


def test_an_attempt_that_fails_fails_its_row_which_is_run_again(tmp_path):
    settings, counted = settings_of(tmp_path, arms=("baseline", "vote")), []

    def second_attempt_down(messages):
        counted.append(messages)
        return TimeoutError("no answer") if len(counted) == 3 else worlds.reply(messages)

    run = start(settings, tmp_path / "out", second_attempt_down)
    run.carry_out()
    errors = {row.key: row.error for row in run.results.rows}
    assert errors[("vote-3", 0, "p100")] == "TimeoutError: no answer (rollout 1)"
    assert [key for key, error in errors.items() if error] == [("vote-3", 0, "p100")]
    again = start(settings, tmp_path / "out")
    again.carry_out()
    assert not any(row.error for row in again.results.rows)


def test_a_model_that_is_away_for_a_moment_is_asked_again_in_every_arm(tmp_path):
    asked = {}

    def away_at_first(messages):
        text = "".join(message.text for message in messages)
        asked[text] = asked.get(text, 0) + 1
        first = asked[text] == 1 and not is_distilling(messages)
        return ConnectionError("gone") if first else worlds.reply(messages)

    run = start(settings_of(tmp_path, arms=("baseline", "memory")), tmp_path / "out", away_at_first)
    run.carry_out()
    assert [row.error for row in run.results.rows] == [None] * 8
    assert sum(row.learned for row in run.results.rows) == 4


def is_distilling(messages):
    return "teach problem solving" in messages[0].text


def is_judging(messages):
    return "You check whether" in messages[0].text


class RateLimitError(Exception):
    """Named like the error of a client whose server is busy."""


@pytest.mark.parametrize("where", ["solving", "judging", "distilling"])
@pytest.mark.parametrize(
    ("error", "tries"), [(RateLimitError("slow down"), 3), (TimeoutError("after a ConnectionError"), 1)], ids=repr
)
@pytest.mark.parametrize("arms", [("memory",), ("vote+matts",)])
def test_a_row_is_begun_again_where_the_failure_may_pass_and_only_there(where, error, tries, arms, tmp_path):
    steps = {"judging": is_judging, "distilling": is_distilling}
    counted = []

    def failing(messages):
        is_step = steps.get(where, lambda messages: not is_judging(messages) and not is_distilling(messages))
        if not is_step(messages):
            return worlds.reply(messages)
        counted.append(messages)
        return error

    settings = settings_of(tmp_path, arms=arms, train_limit=1, judge="self", attempts=(2,))
    with pytest.raises(UnlearnedProblemsError):
        start(settings, tmp_path / "out", failing).carry_out()
    rounds = len(counted) / (1 if arms == ("memory",) or where == "distilling" else 2)
    assert rounds == tries
    start(settings, tmp_path / "out").carry_out()


@pytest.mark.parametrize("where", ["solving", "distilling"])
def test_nothing_is_compared_before_all_is_learned(where, tmp_path):
    settings, hit = settings_of(tmp_path), about(2)
    down = down_where(lambda messages: hit(messages) and is_distilling(messages) is (where == "distilling"))
    run = start(settings, tmp_path / "out", down)
    with pytest.raises(UnlearnedProblemsError, match=r"1 of 4 problems failed \(p2: .*--leave-out-failed") as told:
        run.carry_out()
    assert list(told.value.failures) == ["p2"]
    assert {row.arm for row in run.results.rows} == {"learning"}
    again, whole = start(settings, tmp_path / "out"), start(settings, tmp_path / "whole")
    for one in (again, whole):
        one.carry_out()
    assert digests(again) == digests(whole)


@needs_extra
def test_a_bank_that_was_declared_incomplete_stays_as_it_is(tmp_path):
    settings = settings_of(tmp_path, leave_out_failed=True)
    run = start(settings, tmp_path / "out", down_where(about(2)))
    run.carry_out()
    frozen = digests(run)
    assert {row.bank for row in run.results.rows if row.arm == "memory"} == {3}
    lines = run.results.path.read_text().splitlines()
    run.results.path.write_text("\n".join(lines[:-1]) + "\n")
    again = start(settings, tmp_path / "out")
    again.carry_out()
    assert len(again.results.rows) == len(lines)
    assert digests(again) == frozen
    assert [row.id for row in again.results.rows if row.error] == ["p2"]
    assert any("would have taught: p2" in note for note in write_report(tmp_path / "out").notes)


def test_a_bank_that_changed_after_its_first_row_is_refused(tmp_path):
    settings = settings_of(tmp_path)
    start(settings, tmp_path / "out").carry_out()
    for path in (tmp_path / "out" / "learning").iterdir():
        path.unlink()
    with pytest.raises(FrozenBankError, match=r"arm 'learning' .*bring back the folders .*another folder"):
        start(settings, tmp_path / "out").carry_out()
    rows = tmp_path / "out" / "results.jsonl"
    start(settings, tmp_path / "other").carry_out()
    text = (tmp_path / "other" / "results.jsonl").read_text()
    digest = next(iter(digests(start(settings, tmp_path / "other")).values()))
    (tmp_path / "other" / rows.name).write_text(text.replace(digest, "0" * 16))
    with pytest.raises(FrozenBankError, match=f"is {digest} and its rows were made with another one"):
        start(settings, tmp_path / "other").carry_out()


def test_near_copies_are_noted_whole_or_not_at_all(tmp_path, monkeypatch):
    run = start(settings_of(tmp_path), tmp_path / "out")

    def kill(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr("os.fsync", kill)
        with pytest.raises(KeyboardInterrupt):
            run.carry_out()
    assert not (tmp_path / "out" / "duplicates.json").exists()


def test_two_runs_do_not_work_in_one_folder_at_once(tmp_path):
    run = start(settings_of(tmp_path), tmp_path / "out")
    with alone_in(run.out), pytest.raises(ExperimentError, match=r"out is in use by process \d+ .*: let that run end"):
        run.carry_out()
    assert (run.results.rows, (run.out / "learning").exists()) == ([], False)
    with alone_in(run.out):
        pass


def test_many_learn_at_once_and_leave_the_bank_that_one_leaves(tmp_path):
    arms = ("memory", "vote+matts")
    runs = [start(settings_of(tmp_path, arms=arms, concurrency=count), tmp_path / str(count)) for count in (1, 4)]
    for run in runs:
        run.carry_out()
    assert digests(runs[0]) == digests(runs[1])
    rows = [{row.key: (row.shown, row.answer) for row in run.results.rows} for run in runs]
    assert rows[0] == rows[1]


def test_a_stream_goes_on_at_the_row_that_failed(tmp_path):
    settings = settings_of(tmp_path, "stream", arms=("memory",), limit=4)
    run = start(settings, tmp_path / "out", down_where(about(101)))
    run.carry_out()
    assert [row.id for row in run.results.rows if row.error] == ["p101"]
    last = max(row.position for row in run.results.rows)
    assert next(row.position for row in run.results.rows if row.error) == last
    ends_as_one_that_was_not_stopped(settings, tmp_path)


def test_a_stream_that_was_killed_after_it_wrote_lessons_and_before_their_row_has_that_row(tmp_path, monkeypatch):
    settings = settings_of(tmp_path, "stream", arms=("memory",), limit=4)
    append = Results.append

    def killed(results, row):
        if row.position == 2:
            raise KeyboardInterrupt
        append(results, row)

    with monkeypatch.context() as kill:
        kill.setattr(Results, "append", killed)
        with pytest.raises(KeyboardInterrupt):
            start(settings, tmp_path / "out").carry_out()
    ends_as_one_that_was_not_stopped(settings, tmp_path)


def ends_as_one_that_was_not_stopped(settings, tmp_path):
    again, whole = start(settings, tmp_path / "out"), start(settings, tmp_path / "whole")
    for one in (again, whole):
        one.carry_out()
    told = [[(row.id, row.position, row.bank, row.learned, row.memory, row.answer)
             for row in one.results.rows if row.error is None]
            for one in (again, whole)]  # fmt: skip
    assert told[0] == told[1]


def test_the_bank_of_matts_is_learned_from_the_contrast_of_its_attempts(tmp_path):
    run = start(settings_of(tmp_path, arms=("vote+memory", "vote+matts")), tmp_path / "out")
    run.carry_out()
    by_arm = {}
    for one in run.results.rows:
        by_arm.setdefault(one.arm, []).append(one)
    assert {one.attempts for one in by_arm["learning-vote-3"]} == {3}
    assert {one.attempts for one in by_arm["learning"]} == {1}
    assert [one.attempts for one in by_arm["vote-3+matts"]] == [one.attempts for one in by_arm["vote-3+memory"]]
    with ChromaStore.from_path(tmp_path / "out" / "banks", embeddings=HashEmbeddings()) as store:
        taught = MemoryBank(store, ("experiment", "learning-vote-3-all")).items()
        ordinary = MemoryBank(store, ("experiment", "learning-all")).items()
    assert {item.outcome for item in taught} == {"contrast"}
    assert "contrast" not in {item.outcome for item in ordinary}
    groups = {item.experience_id: item.task_id for item in taught}
    assert sorted(groups.values()) == ["p0", "p1", "p2", "p3"]


@needs_extra
@pytest.mark.parametrize(("protocol", "now"), [("phase1", "vote-3+memory"), ("stream", "vote-3+matts")])
def test_files_of_earlier_versions_are_read_with_the_names_of_now(protocol, now, tmp_path):
    config = settings_of(tmp_path, protocol).to_json() | {"arms": ["baseline", "matts", "matts+memory"]}
    del config["leave_out_failed"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    rows = [row(arm, f"p{n}").to_json() for n in range(3)
            for arm in ("baseline", "matts-parallel-3", "matts-parallel-3+memory")]  # fmt: skip
    for entry in rows:
        del entry["bank_digest"]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in rows))
    assert [arm.arm for arm in write_report(tmp_path).arms if arm.compared] == ["baseline", "vote-3", now]
