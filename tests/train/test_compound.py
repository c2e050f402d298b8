"""Cycles of learn, harvest, tune and accept: each from what the last one left, each step once, and an end in time."""

import json
import shutil

import pytest

from reasoningbank_langgraph.errors import ExperimentError, HarvestError, ReasoningBankError, UnlearnedProblemsError
from reasoningbank_langgraph.experiments.report.report_files import read_cycles, write_report
from reasoningbank_langgraph.experiments.stats import share
from reasoningbank_langgraph.experiments.summarise import summarise
from tests.experiments import worlds
from tests.experiments.conftest import unrendered  # noqa: F401 - a fixture
from tests.experiments.fake_rows import needs_extra
from tests.train import improving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A whole run of three cycles, of which the second brought an adapter: its folder, its workshop and its run."""
    folder = tmp_path_factory.mktemp("compounding")
    bench = improving.Bench(better=("cycle-2",))
    return folder / "out", bench, improving.go_through(improving.compound(folder), folder / "out", bench)


def test_a_cycle_starts_from_the_bank_and_the_model_that_the_last_one_left(done):
    out, bench, run = done
    arms, cycles = worlds.by_arm(run), read_cycles(out)
    assert [(one.cycle, one.accepted, one.reason) for one in cycles] == [
        (1, False, "not better"),
        (2, True, "accepted"),
        (3, False, "not better than the adapter in use"),
    ]
    assert {name: len(rows) for name, rows in arms.items()} == {
        **dict.fromkeys(("cycle-0", "cycle-1", "cycle-2", "cycle-3"), 3),
        **dict.fromkeys(("learning-1", "learning-2", "learning-3"), 4),
    }
    assert arms["learning-1"][0].bank == 0
    assert arms["learning-2"][0].bank == cycles[0].bank
    assert [one.bank for one in cycles] == [rows[0].bank for rows in (arms[f"cycle-{n}"] for n in (1, 2, 3))]
    assert cycles[0].bank < cycles[2].bank
    assert not any(row.memory for row in arms["cycle-0"])
    assert all("counting" in row.memory for row in arms["cycle-3"])
    solved = [row.right for name in ("cycle-2", "cycle-3", "learning-3") for row in arms[name]]
    assert all(solved)
    assert bench.served == ["cycle-2"] * 3
    assert list(bench.trained) == ["cycle-1", "cycle-2", "cycle-3"]


def test_a_model_that_says_one_thing_only_is_seen_to_collapse(done):
    cycles = read_cycles(done[0])
    assert [one.attempts for one in cycles] == [8, 8, 8]
    assert cycles[2].repeated == 0.5 > cycles[0].repeated
    assert cycles[2].distinct == 1 < cycles[0].distinct
    assert cycles[2].reply_length > 0


def test_an_adapter_learns_what_all_cycles_so_far_have_solved(done):
    _, bench, _ = done
    said = [
        {row["completion"][0]["content"] for row in (*rows.train, *rows.validation)} for rows in bench.trained.values()
    ]
    assert said[0] < said[2]
    assert [len(texts) for texts in said] == sorted(len(texts) for texts in said)


def outcomes(out, run):
    strip = {"seconds", "shown", "scores", "tokens_in", "tokens_out", "bank_digest"}
    rows = sorted(row.model_dump_json(exclude=strip) for row in run.results.rows)
    return read_cycles(out), rows


@pytest.mark.parametrize(
    ("step", "name"),
    [("tune", "cycle-1"), ("accept", "cycle-1"), ("tune", "cycle-2"), ("accept", "cycle-2"), ("serve", "cycle-2")],
)
def test_a_run_that_dies_at_a_step_goes_on_there_and_ends_like_one_that_did_not(step, name, tmp_path, done):
    def die(at, adapter):
        if (at, adapter) == (step, name):
            raise KeyboardInterrupt

    settings = improving.compound(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        improving.go_through(settings, tmp_path / "out", improving.Bench(die, better=("cycle-2",)))
    bench = improving.Bench(better=("cycle-2",))
    run = improving.go_through(settings, tmp_path / "out", bench)
    assert outcomes(tmp_path / "out", run) == outcomes(done[0], done[2])


@pytest.mark.parametrize("call", [2, 8, 15, 22, 30])
def test_a_run_that_dies_in_a_call_of_the_base_ends_like_one_that_did_not(call, tmp_path, done):
    settings, bench = improving.compound(tmp_path), improving.Bench(better=("cycle-2",))
    with pytest.raises(KeyboardInterrupt):
        improving.go_through(settings, tmp_path / "out", bench, improving.dying(call))
    run = improving.go_through(settings, tmp_path / "out", bench)
    assert outcomes(tmp_path / "out", run) == outcomes(done[0], done[2])


def test_two_cycles_in_a_row_that_bring_no_adapter_end_the_run_also_when_it_is_started_again(tmp_path):
    settings, bench = improving.compound(tmp_path, cycles=5), improving.Bench()
    improving.go_through(settings, tmp_path / "out", bench)
    chat = improving.base()
    improving.go_through(settings, tmp_path / "out", bench, chat)
    assert [one.accepted for one in read_cycles(tmp_path / "out")] == [False, False]
    assert (list(bench.trained), chat.sampled) == (["cycle-1", "cycle-2"], [])


def test_a_model_that_solves_nothing_is_not_trained_and_the_reason_is_kept(tmp_path):
    bench = improving.Bench()
    wrong = worlds.seeded(lambda messages, seed: improving.told(messages, lambda _: False, (seed or 0) % 3))
    improving.go_through(improving.compound(tmp_path), tmp_path / "out", bench, wrong)
    assert bench.trained == {}
    for one in read_cycles(tmp_path / "out"):
        assert (one.accepted, one.rows, one.right, one.distinct) == (False, 0, 0, 0)
        assert one.reason.startswith("nothing ")


def test_no_problem_of_test_or_validation_is_learned_by_an_adapter(tmp_path):
    settings = improving.compound(tmp_path, train_limit=8)
    kept_away = [json.loads(path.read_text().splitlines()[1]) for path in (settings.test, settings.validation)]
    copies = [
        {**one, "id": f"copy-{one['id']}", "problem": one["problem"].replace("gets", "takes")} for one in kept_away
    ]
    settings.train.write_text("".join(json.dumps(one) + "\n" for one in copies) + settings.train.read_text())
    bench = improving.Bench()
    run = improving.go_through(settings.model_copy(update={"cycles": 1}), tmp_path / "out", bench)
    solved = {row.problem for row in run.results.rows if row.arm == "learning-1"}
    learned = {
        row["prompt"][-1]["content"] for rows in bench.trained.values() for row in (*rows.train, *rows.validation)
    }
    assert {one["problem"] for one in copies} <= solved
    assert learned
    assert not learned & {one["problem"] for one in (*copies, *kept_away)}


@needs_extra
def test_the_curves_follow_from_the_rows_and_the_page_shows_them(done):
    out, _, run = done
    summary = write_report(out)
    accuracy = {arm.arm: arm.accuracy for arm in summary.arms}
    for name, rows in worlds.by_arm(run).items():
        if name.startswith("cycle-"):
            assert accuracy[name] == share({(row.seed, row.id): row.right for row in rows})
    pairs = {(one.arm, one.against): one for one in summary.comparisons}
    assert pairs["cycle-2", "cycle-1"].group == pairs["cycle-3", "cycle-2"].group == "cycle"
    assert {against for arm, against in pairs if arm == "cycle-3"} == {"cycle-0", "cycle-2"}
    assert summary.cycles == tuple(read_cycles(out))
    assert (out / "cycles.png").read_bytes()
    page = (out / "report.html").read_text()
    assert "Accuracy, changes, bank and variety by cycle: cycle 0 " in page
    assert "3 → 9 of 9, p = 0.03" in page
    assert "Someone has" not in (out / "cycles.jsonl").read_text()


def failing_once(where):
    """The base, out of order in the first call that this is true of."""
    solve, failed = improving.base().script, []

    def reply(messages, seed):
        if not failed and where(" ".join(message.text for message in messages)):
            failed.append(1)
            raise RuntimeError("out of order")
        return solve(messages, seed)

    return worlds.seeded(reply)


def test_a_cycle_whose_test_problems_failed_is_measured_before_the_next_one_begins(tmp_path, done):
    settings, bench = improving.compound(tmp_path), improving.Bench(better=("cycle-2",))
    down = failing_once(lambda text: "Someone has 121 " in text and "notes" in text)
    with pytest.raises(UnlearnedProblemsError, match=r"cycle-1: 1 of 3 problems failed \(p101: RuntimeError"):
        improving.go_through(settings, tmp_path / "out", bench, down)
    assert read_cycles(tmp_path / "out") == []
    run = improving.go_through(settings, tmp_path / "out", bench)
    assert outcomes(tmp_path / "out", run) == outcomes(done[0], done[2])


@pytest.mark.parametrize(
    ("lost", "problem"),
    [
        ("stream/bank", "the bank of arm 'learning-2' holds 0 lessons, and the last cycle left"),
        ("adapters", "the base is in use, and the cycles before this one left the adapter cycle-1: bring"),
    ],
)
def test_a_cycle_does_not_begin_from_less_than_the_last_one_left(lost, problem, tmp_path):
    settings, bench = improving.compound(tmp_path, cycles=1), improving.Bench(better=("cycle-1",))
    improving.go_through(settings, tmp_path / "out", bench)
    shutil.rmtree(tmp_path / "out" / lost)
    rows = (tmp_path / "out" / "results.jsonl").read_bytes()
    with pytest.raises(ExperimentError, match=problem):
        improving.go_through(settings.model_copy(update={"cycles": 2}), tmp_path / "out", bench)
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == rows


def test_a_rollback_while_a_cycle_is_measured_does_not_mix_two_models_in_it(tmp_path):
    def die(at, adapter):
        if bench.trained.keys() >= {"cycle-2"} and at == "serve":
            raise KeyboardInterrupt

    settings, bench = improving.compound(tmp_path, cycles=2), improving.Bench(die, better=("cycle-1",))
    with pytest.raises(KeyboardInterrupt):
        improving.go_through(settings, tmp_path / "out", bench)
    (tmp_path / "out" / "adapters" / "in-use").unlink()
    with pytest.raises(ExperimentError, match="the base is in use"):
        improving.go_through(settings, tmp_path / "out", improving.Bench(better=("cycle-1",)))


@needs_extra
def test_what_a_cycle_left_out_is_not_learned_behind_its_harvest_and_named(tmp_path):
    def die(at, adapter):
        if at == "accept":
            raise KeyboardInterrupt

    settings, bench = improving.compound(tmp_path, leave_out_failed=True, cycles=1), improving.Bench()
    down = failing_once(lambda text: "Someone has 23 " in text)
    with pytest.raises(KeyboardInterrupt):
        improving.go_through(settings, tmp_path / "out", improving.Bench(die), down)
    run = improving.go_through(settings, tmp_path / "out", bench)
    assert [(row.id, row.error) for row in worlds.by_arm(run)["learning-1"]][-1][0] == "p3"
    assert worlds.by_arm(run)["learning-1"][-1].error.startswith("RuntimeError")
    notes = summarise(run.results.rows, settings).notes
    assert "No solutions of these problems were learned from in learning-1: p3." in notes


def test_what_stands_in_the_way_of_a_harvest_is_no_cycle_in_vain(tmp_path):
    (tmp_path / "out" / "training" / "cycle-1").mkdir(parents=True)
    (tmp_path / "out" / "training" / "cycle-1" / "train.jsonl").write_text("by hand")
    with pytest.raises(HarvestError, match=r"cycle-1 holds other things \(train\.jsonl\)"):
        improving.go_through(improving.compound(tmp_path), tmp_path / "out", improving.Bench())
    assert read_cycles(tmp_path / "out") == []


def test_all_adapters_of_a_run_are_tuned_from_one_file(tmp_path):
    settings, out = improving.compound(tmp_path, cycles=1), tmp_path / "out"
    (out / "adapters" / "cycle-0").mkdir(parents=True)
    (out / "adapters" / "cycle-0" / "settings.json").write_text('{"base_sha256": "that of another file"}')
    (out / "base.gguf").write_text("replaced")
    bench = improving.Bench()
    with pytest.raises(ExperimentError, match=r"base\.gguf is not the file that cycle-0 was tuned on: bring that back"):
        improving.go_through(settings, out, bench)
    assert bench.trained == {}


def test_a_test_problem_that_would_choose_adapters_is_refused_and_so_are_too_few_and_unanswered_ones(tmp_path):
    settings = improving.compound(tmp_path)
    few = improving.problems(tmp_path / "few.jsonl", 3, start=600)
    lines = [json.loads(line) for line in settings.validation.read_text().splitlines()]
    (twice := tmp_path / "twice.jsonl").write_text(
        "".join(json.dumps({**one, "id": f"{one['id']} {copy}"}) + "\n" for one in lines[:4] for copy in (1, 2))
    )
    (unanswered := tmp_path / "unanswered.jsonl").write_text(
        settings.validation.read_text() + '{"problem": "How high is the sky?"}\n'
    )
    for validation, problem in (
        (settings.test, "is a test problem too"),
        (settings.train, "every train problem is in .*, or decides on adapters"),
        (few, "3 problems can show nothing"),
        (twice, "4 problems can show nothing"),
        (unanswered, "has no answer: a trial grades by known answers"),
    ):
        with pytest.raises(ReasoningBankError, match=problem):
            improving.go_through(settings.model_copy(update={"validation": validation}), tmp_path / "out", None)
        assert not (tmp_path / "out").exists()
