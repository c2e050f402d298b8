"""Memory, an adapter, both and their controls on the same problems: each learned as much, in steps that resume."""

import json

import pytest

from reasoningbank_langgraph.errors import (
    ExperimentError,
    InvalidRecordError,
    ModelServerError,
    TuneError,
    UnlearnedProblemsError,
)
from reasoningbank_langgraph.experiments.report.report_files import write_report
from reasoningbank_langgraph.experiments.results import Results
from reasoningbank_langgraph.local import model_choice
from reasoningbank_langgraph.train.base import gguf_of
from reasoningbank_langgraph.train.improvement.workshop import on_this_machine, settings_of
from tests.experiments import worlds
from tests.experiments.conftest import unrendered  # noqa: F401 - a fixture
from tests.experiments.fake_rows import needs_extra
from tests.train import improving

pytestmark = pytest.mark.slow
COMPOUND = {"protocol": "compound", "arms": ("baseline",), "other_train": None, "validation": "validation.jsonl"}
ADAPTERS = ["adapter", "adapter-other", "adapter-wrong"]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A whole run: its folder, its workshop and its rows by arm."""
    folder = tmp_path_factory.mktemp("improving")
    bench = improving.Bench()
    run = improving.carry_out(improving.config(folder), folder / "out", bench)
    return folder / "out", bench, worlds.by_arm(run)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_arm_answers_every_problem_with_its_own_model_and_memory(done):
    _, bench, arms = done
    assert {name: len(rows) for name, rows in arms.items()} == {
        "learning": 8,
        "learning-samples": 8,
        "learning-other": 8,
        **dict.fromkeys(improving.IMPROVING, 6),
    }
    assert [sum(row.right for row in arms[name]) for name in ADAPTERS] == [6, 0, 0]
    assert bench.served == ADAPTERS
    assert all("counting" in row.memory for name in ("memory", "adapter+memory") for row in arms[name])
    assert not any(row.memory for name in ("baseline", *ADAPTERS) for row in arms[name])
    assert len(bench.models["adapter"].calls) == 12


def test_samples_are_several_attempts_the_first_of_them_as_the_comparison_is_made(tmp_path):
    chat = improving.base()
    improving.carry_out(improving.without_others(tmp_path), tmp_path / "out", chat=chat)
    solving = [told["temperature"] for messages, told in chat.sampled if worlds.is_solving(messages)]
    assert sorted(solving) == [0.0] * (8 + 8 + 6 + 6) + [0.7] * 24


def test_all_adapters_learn_as_many_rows_of_about_the_same_length(done):
    out, bench, _ = done
    sizes = {name: (len(rows.train), len(rows.validation)) for name, rows in bench.trained.items()}
    assert list(sizes) == ADAPTERS
    assert len({*sizes.values()}) == 1
    characters = [entry["characters"] for entry in json.loads((out / "adapters.json").read_text())]
    assert max(characters) < 1.1 * min(characters)
    weights = [sorted(row["weight"] for row in lines(out / "training" / name / "train.jsonl")) for name in ADAPTERS]
    assert weights[0] == weights[1] == weights[2]


def test_each_adapter_learns_solutions_of_its_own_kind(done):
    out, bench, _ = done
    right = {row.problem: row.reference for row in Results(out).rows}
    learned = {name: [*rows.train, *rows.validation] for name, rows in bench.trained.items()}
    tasks = {name: {row["prompt"][-1]["content"] for row in rows} for name, rows in learned.items()}
    others = {row.problem for row in Results(out).rows if row.arm == "learning-other"}
    assert tasks["adapter-other"] <= others
    assert not (tasks["adapter"] | tasks["adapter-wrong"]) & others
    for name, rows in learned.items():
        boxed = [f"\\boxed{{{right[row['prompt'][-1]['content']]}}}" in row["completion"][0]["content"] for row in rows]
        assert boxed == [name != "adapter-wrong"] * len(rows)


def test_a_problem_of_the_test_and_its_near_copy_are_learned_by_no_adapter(tmp_path):
    settings = improving.without_others(tmp_path)
    test = lines(settings.test)
    copies = [{**one, "id": f"copy-{one['id']}", "problem": one["problem"].replace("gets", "takes")} for one in test]
    given = [*lines(settings.train), *copies[:2], {**test[3], "id": "same"}]
    settings.train.write_text("".join(json.dumps(one) + "\n" for one in given))
    bench = improving.Bench()
    run = improving.carry_out(settings.model_copy(update={"train_limit": 11}), tmp_path / "out", bench)
    kept_away = {one["problem"] for one in (*test, *copies)}
    for rows in bench.trained.values():
        assert not {row["prompt"][-1]["content"] for row in (*rows.train, *rows.validation)} & kept_away
    told = json.loads((tmp_path / "out" / "adapters.json").read_text())
    assert told[0]["left_out"]["near copy"] > 0
    assert test[3]["id"] not in {row.id for row in run.results.rows if row.arm == "baseline"}


@pytest.mark.parametrize("step", ["serve", "tune"])
@pytest.mark.parametrize("name", ["adapter", "adapter-wrong"])
def test_a_run_that_dies_at_a_training_or_a_server_goes_on_there(step, name, tmp_path, done):
    def die(at, adapter):
        if (at, adapter) == (step, name):
            raise KeyboardInterrupt

    settings = improving.config(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        improving.carry_out(settings, tmp_path / "out", improving.Bench(die))
    chat, bench = improving.base(), improving.Bench()
    again = improving.carry_out(settings, tmp_path / "out", bench, chat)
    assert chat.sampled == []
    assert bench.served == ADAPTERS[ADAPTERS.index(name) :]
    assert rows_of(again.results.rows) == rows_of(row for rows in done[2].values() for row in rows)


@pytest.mark.parametrize("call", [5, 20, 60, 90])
def test_a_run_that_dies_in_a_call_of_the_base_ends_like_one_that_did_not(call, tmp_path, done):
    settings = improving.config(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        improving.carry_out(settings, tmp_path / "out", chat=improving.dying(call))
    bench = improving.Bench()
    again = improving.carry_out(settings, tmp_path / "out", bench)
    assert rows_of(again.results.rows) == rows_of(row for rows in done[2].values() for row in rows)
    assert bench.trained == done[1].trained


def rows_of(rows):
    strip = {"seconds", "shown", "scores", "tokens_in", "tokens_out"}
    return sorted(row.model_dump_json(exclude=strip) for row in rows)


def test_a_finished_run_asks_trains_and_serves_nothing(done, tmp_path):
    out, _, _ = done
    chat, bench = improving.base(), improving.Bench()
    settings = improving.config(out.parent)
    improving.carry_out(settings, out, bench, chat)
    assert (chat.sampled, bench.trained, bench.served) == ([], {}, [])


def test_a_sample_that_failed_stops_the_run_before_anything_is_trained(tmp_path):
    def failing(messages, seed):
        return ConnectionError("gone") if "105 figs" in messages[-1].text else improving.base().script(messages, seed)

    bench = improving.Bench()
    settings = improving.config(tmp_path)
    text = settings.train.read_text().replace("26 plums", "105 figs").replace("46 plums", "125 figs")
    settings.train.write_text(text.replace("plums is that", "figs is that"))
    with pytest.raises(UnlearnedProblemsError):
        improving.carry_out(settings, tmp_path / "out", bench, worlds.seeded(failing))
    assert bench.trained == {}


@needs_extra
def test_the_page_counts_what_was_learned_what_was_newly_solved_and_what_newly_broken(done):
    out, _, arms = done
    summary = write_report(out)
    found = {one.arm: one for one in summary.retests}
    missed = sum(not row.right for row in arms["baseline"])
    assert (found["adapter"].missed, found["adapter"].solved.value, found["adapter"].broken.value) == (missed, 1, 0)
    assert (found["adapter-wrong"].solved.value, found["adapter-wrong"].broken.value) == (0, 1)
    groups = {(one.arm, one.against): one.group for one in summary.comparisons}
    assert groups["adapter", "adapter-wrong"] == groups["adapter", "adapter-other"] == "control"
    assert groups["adapter+memory", "memory"] == groups["adapter+memory", "adapter"] == "both"
    assert summary.headline.startswith("Adapter gained on baseline") or "adapter and baseline" in summary.headline
    page = (out / "report.html").read_text()
    assert "newly solved" in page
    assert f"{summary.adapters[0].train} + {summary.adapters[0].validation}" in page
    for name in ("adapters.json", "results.jsonl", "summary.json", "config.json", "origin.json", "tries.jsonl"):
        assert "Someone has" not in (out / name).read_text()
    ignored = (out / ".gitignore").read_text().splitlines()
    assert {"/training/", "/adapters/"} <= {*ignored}


def test_without_other_problems_their_control_is_left_out_and_that_is_said(tmp_path):
    run = improving.carry_out(improving.without_others(tmp_path), tmp_path / "out")
    assert "adapter-other" not in worlds.by_arm(run)
    notes = write_report(tmp_path / "out").notes
    assert any("No adapter learned right solutions of other problems" in note for note in notes)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"protocol": "phase1"}, "adapter is a model with an adapter: use protocol 'self-improve'"),
        ({"other_train": None}, "adapter-other and other_train belong together"),
        ({"arms": ("baseline", "adapter"), "other_train": None}, r"needs the arms adapter\+memory, .*, memory too"),
        ({"train": None}, "makes its bank from train problems"),
        ({"samples": 1}, "samples"),
        ({**COMPOUND, "judge": "self"}, "trains on what a check called right"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(changes, problem, tmp_path):
    with pytest.raises(InvalidRecordError, match=problem):
        improving.config(tmp_path, **changes)


@pytest.mark.parametrize("tune", [{"ranks": 4}, {"rank": 0}])
def test_settings_of_a_training_that_make_no_sense_are_refused(tune, tmp_path):
    with pytest.raises(ExperimentError, match="settings of the adapters cannot be used"):
        settings_of(improving.config(tmp_path, tune=tune))


def test_problem_files_that_leave_an_adapter_nothing_to_learn_are_refused_before_anything_is_asked(tmp_path):
    settings = improving.config(tmp_path)
    settings.test.write_text(settings.train.read_text() + settings.test.read_text())
    with pytest.raises(ExperimentError, match=r"every train problem is in .*test\.jsonl too"):
        improving.carry_out(settings, tmp_path / "out")
    settings = improving.config(tmp_path)
    with pytest.raises(ExperimentError, match=r"every problem of .*train\.jsonl is among the others"):
        improving.carry_out(settings.model_copy(update={"other_train": settings.train}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_model_that_is_tuned_solves_whatever_the_environment_offers(tmp_path, monkeypatch):
    started = []

    def start(path, **_):
        started.append(path)
        raise ModelServerError("not started here")

    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setattr(model_choice, "start_local_model", start)
    with pytest.raises(ModelServerError, match="not started here"):
        model_choice.resolve_model(on_this_machine(improving.config(tmp_path, model=None)).model)
    assert started == [None]
    assert on_this_machine(settings := improving.config(tmp_path)) == settings


def test_a_file_that_would_be_taken_for_a_model_elsewhere_is_not_tuned(tmp_path):
    (tmp_path / "base.bin").write_bytes(b"GGUF")
    with pytest.raises(TuneError, match="is no GGUF file on this disk"):
        gguf_of(str(tmp_path / "base.bin"))
