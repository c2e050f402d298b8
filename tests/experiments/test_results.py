"""The rows can be published: they hold no text, and the figures follow from them alone."""

import json
import shutil

import pytest

from reasoningbank_langgraph.errors import ExperimentError
from reasoningbank_langgraph.experiments.folder import claim_folder
from reasoningbank_langgraph.experiments.report import write_report
from reasoningbank_langgraph.experiments.results import ResultRow, Results
from reasoningbank_langgraph.experiments.summary import Origin

from .fake_rows import MEMORY, config, needs_extra, row, rows, stream_rows

RUNS = {
    "two arms": (config(arms=("baseline", "memory", "filler")), {"baseline": 0.4, "memory": 0.7, "filler": 0.5}),
    "stream": (config(protocol="stream", train=None, seeds=(0, 1)), {"baseline": 0.5, "memory": 0.6}),
}


def written(out, given):
    results = Results(out)
    for one in given:
        results.append(one)
    return results


def test_a_row_on_disk_holds_ids_and_counts_and_no_text(tmp_path):
    told = row(memory=MEMORY, error="TimeoutError: no answer to 'How many rolls?' in 600 s", pass_at_k=True)
    results = written(tmp_path, [told])
    (line,) = results.path.read_text().splitlines()
    for text in (told.problem, told.reply, "Convert units", "How many rolls", told.answer):
        assert text[:40] not in line
    entry = json.loads(line)
    assert (entry["reply_length"], entry["memory_length"]) == (len(told.reply), len(MEMORY))
    assert (entry["id"], entry["right"], entry["tokens_in"], entry["error"]) == ("p0", True, 390, "TimeoutError")
    assert (entry["shown"], entry["sources"], entry["prompt_hash"]) == (["m1"], ["t1"], told.prompt_hash)


def test_rows_are_read_with_their_texts_where_those_are_there_and_without_them_where_not(tmp_path):
    told = [row(id="p0", error="ValueError: bad"), row("baseline", "p1")]
    results = written(tmp_path, told)
    assert Results(tmp_path).rows == told
    results.texts.unlink()
    (failed, plain) = Results(tmp_path).rows
    assert (failed.problem, failed.memory, failed.error, failed.has_texts) == ("", "", "ValueError", False)
    assert plain == told[1].model_copy(update=dict.fromkeys(("problem", "reference", "answer", "reply", "memory"), ""))
    assert Results(tmp_path).has("baseline", 0, "p1")
    assert not Results(tmp_path).has("memory", 0, "p0")


def test_rows_of_an_older_run_that_hold_their_texts_are_read_and_measured(tmp_path):
    old = row(id="p0")
    entry = old.model_dump(mode="json", exclude={"reply_length", "memory_length"})
    (tmp_path / "results.jsonl").write_text(json.dumps(entry) + "\n")
    assert Results(tmp_path).rows == [old]
    assert (old.reply_length, old.memory_length) == (len(old.reply), len(old.memory))


def test_texts_that_a_killed_run_wrote_without_their_row_are_not_those_of_the_row_before(tmp_path):
    results = written(tmp_path, [row(error="TimeoutError: gone", right=False, reply="", answer="")])
    with results.texts.open("a") as texts:
        texts.write(json.dumps(row(reply="solved").texts()) + "\n")
    (found,) = Results(tmp_path).rows
    assert (found.error, found.reply) == ("TimeoutError", "")
    assert not Results(tmp_path).has(*found.key)


def test_an_error_that_begins_with_no_name_is_kept_without_a_word_of_it(tmp_path):
    (line,) = written(tmp_path, [row(error="3 of 3 tries: 'secret'")]).path.read_text().splitlines()
    assert json.loads(line)["error"] == "error"


@pytest.mark.parametrize("name", ["results.jsonl", "texts.jsonl"])
@pytest.mark.parametrize("line", ['{"arm": [1], "seed": 0, "id": "p"}', "[]", "{", '{"what": 1}'])
def test_a_line_that_is_no_row_is_named(tmp_path, name, line):
    written(tmp_path, [row()])
    (tmp_path / name).write_text(line + "\n")
    if (name, line) == ("texts.jsonl", '{"what": 1}'):
        assert not Results(tmp_path).rows[0].has_texts
        return
    with pytest.raises(ExperimentError, match="results.jsonl, line 1: " if name == "results.jsonl" else name):
        assert Results(tmp_path)


@pytest.mark.slow
@needs_extra
@pytest.mark.parametrize("run", RUNS)
def test_the_summary_and_the_pictures_follow_from_the_rows_alone(tmp_path, run):
    settings, chances = RUNS[run]
    out, public = tmp_path / "out", tmp_path / "public"
    out.mkdir()
    public.mkdir()
    made = stream_rows(chances, 20) if run == "stream" else rows(chances, 40)
    written(out, made)
    (out / "config.json").write_text(json.dumps(settings.to_json()))
    write_report(out)
    for name in ("config.json", "results.jsonl", "leaks.json"):
        shutil.copy(out / name, public)
    summary = write_report(public)
    assert summary.leaks.rows == sum(bool(one.memory) for one in made)
    for name in ("summary.json", "accuracy.png", "leaks.json"):
        assert (public / name).read_bytes() == (out / name).read_bytes()
    pages = [(folder / "report.html").read_text() for folder in (out, public)]
    assert ["a baker sells" in page for page in pages] == [True, False]
    assert ["Convert units" in page for page in pages] == [True, False]
    assert "The texts of this run are not here" in pages[1]
    assert f"Reply of {made[0].reply_length} characters." in pages[1]


@needs_extra
def test_rows_without_texts_and_without_an_audit_say_that_nobody_looked_for_leaks(tmp_path):
    results = written(tmp_path, [row("baseline", right=False), row()])
    results.texts.unlink()
    (tmp_path / "config.json").write_text(json.dumps(config().to_json()))
    summary = write_report(tmp_path)
    assert summary.leaks is None
    assert not (tmp_path / "leaks.json").exists()
    assert any("nobody looked" in note for note in summary.notes)
    assert "No row was shown a memory" not in (tmp_path / "report.html").read_text()
    assert [arm.shown for arm in summary.arms] == [0, 1]


def test_what_says_whose_folder_it_is_stays_whole_when_a_run_is_killed_over_it(tmp_path, monkeypatch):
    origin = Origin(solver="small", critic="small", problems="0f")
    claim_folder(tmp_path, config(), origin, [])
    there = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def killed(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as power:
        power.setattr("os.fsync", killed)
        with pytest.raises(KeyboardInterrupt):
            claim_folder(tmp_path, config(concurrency=2), origin, [])
    assert {name: (tmp_path / name).read_bytes() for name in there} == there
    claim_folder(tmp_path, config(concurrency=2), origin, [])
    assert json.loads((tmp_path / "config.json").read_text())["concurrency"] == 2
    assert {path.name for path in tmp_path.iterdir()} == {*there}


def test_a_row_is_what_it_was_after_json():
    one = row(pass_at_k=False, dropped=("m9",))
    assert ResultRow.model_validate({**one.without_texts(), **one.texts()}) == one
