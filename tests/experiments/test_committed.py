"""The reports that are kept with the project say what the texts around them say."""

import html
import json
import runpy
import subprocess
import sys

import pytest

from reasoningbank_langgraph import embeddings
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.experiments.results import Results
from reasoningbank_langgraph.experiments.stats import detectable, mean_difference
from reasoningbank_langgraph.experiments.summarise import summarise
from reasoningbank_langgraph.experiments.summary import Origin, Summary
from reasoningbank_langgraph.experiments.wording import heading, headline, points, points_interval, sentence
from reasoningbank_langgraph.testing import HashEmbeddings

from ..conftest import REPOSITORY, table_cells  # noqa: TID252 - the folder of the tests
from .fake_rows import needs_extra

EXAMPLES = REPOSITORY / "examples" / "experiments"
PUBLISHED = EXAMPLES / "multiarith-qwen2.5-coder-0.5b-tips"
RUNS = sorted(path.parent for path in EXAMPLES.glob("*/summary.json"))


@pytest.fixture(params=RUNS, ids=lambda path: path.name)
def run(request):
    return request.param, Summary.model_validate_json((request.param / "summary.json").read_bytes())


def test_a_run_is_whole_and_names_its_models(run):
    path, summary = run
    assert summary.config == ExperimentConfig.model_validate_json((path / "config.json").read_bytes())
    assert summary.origin == Origin.model_validate_json((path / "origin.json").read_bytes())
    page = (path / "report.html").read_text(encoding="utf-8")
    assert f"model {summary.origin.solver}<" in page
    assert f"<h1>{html.escape(heading(summary.comparisons))}</h1>" in page
    assert (path / "accuracy.png").read_bytes().startswith(b"\x89PNG")


def figures(summary):
    """Return what a summary says, without the last digits, which differ with the version of scipy."""
    return json.loads(summary.model_dump_json(), parse_float=lambda number: f"{float(number):.12g}")


@needs_extra
def test_a_run_says_what_the_code_makes_of_its_figures_and_whether_it_can_be_recomputed(run):
    path, summary = run
    assert [found.says for found in summary.comparisons] == [sentence(found) for found in summary.comparisons]
    assert summary.headline == headline(summary.comparisons)
    page = (path / "report.html").read_text(encoding="utf-8")
    if (path / "results.jsonl").exists():
        recomputed = summarise(Results(path).rows, summary.config, summary.leaks.near_duplicates, summary.origin,
                               summary.leaks, summary.adapters)  # fmt: skip
        assert figures(recomputed) == figures(summary)
    else:
        assert "rows of this run were not kept, so its figures cannot be recomputed" in summary.notes[0]
        assert page.count("figures cannot be recomputed") == 2


@needs_extra
def test_the_intervals_of_a_run_follow_from_its_counts(run):
    _, summary = run
    for found in summary.comparisons:
        same = found.problems - found.better - found.worse
        differences = [1.0] * found.better + [-1.0] * found.worse + [0.0] * same
        if len(summary.config.seeds) == 1:
            assert found.difference == mean_difference(differences)
            assert found.detectable == pytest.approx(detectable(differences, 0.05 / found.tests), abs=1e-3)


def test_the_table_of_the_runs_has_their_figures(run):
    path, summary = run
    told = {
        row[1]: row[2:]
        for row in table_cells((EXAMPLES / "README.md").read_text(encoding="utf-8"))
        if row[0] == path.name
    }
    right = {arm.arm: str(arm.right) for arm in summary.arms if arm.compared}
    assert {arm: cells[0] for arm, cells in told.items()} == right
    for found in summary.comparisons:
        if found.against == summary.config.arms[0]:
            difference = points_interval(found.difference).replace(" points", "")
            assert told[found.arm][1:] == [difference, str(len(found.fixed)), str(len(found.broken))]


def test_the_measurements_have_the_figures_of_their_run():
    summary = Summary.model_validate_json((PUBLISHED / "summary.json").read_bytes())
    told = {tuple(row) for row in table_cells((REPOSITORY / "docs" / "measurements.md").read_text(encoding="utf-8"))}
    right = {arm.arm: arm.right for arm in summary.arms}
    for found in summary.comparisons:
        if found.against == "baseline":
            parts = (found.difference.value, found.difference.low, found.difference.high)
            value, low, high = (points(part).removesuffix(".0") for part in parts)
            p = "< 0.001" if found.p_holm < 0.001 else f"{found.p_holm:.3f}"
            assert any(row[1:] == (str(right[found.arm]), f"{value} [{low}, {high}]", p) for row in told), found.arm


def test_the_readme_says_what_the_memory_cost_in_its_run():
    summary = Summary.model_validate_json((PUBLISHED / "summary.json").read_bytes())
    (found,) = [each for each in summary.comparisons if (each.arm, each.against) == ("memory", "baseline")]
    parts = (found.difference.value, found.difference.low, found.difference.high)
    value, low, high = (points(part).removesuffix(".0") for part in parts)
    readme = " ".join((REPOSITORY / "README.md").read_text(encoding="utf-8").split())
    assert f"({value} points, 95 % interval {low} to {high}, exact McNemar p {found.p_holm:.3f})" in readme


def test_problems_are_split_by_a_seed_and_no_problem_is_in_both(tmp_path):
    every = [json.dumps({"id": str(number), "problem": "p", "answer": "1"}) for number in range(9)]
    (tmp_path / "all.jsonl").write_text("\n".join(every))
    asked = ["--problems", tmp_path / "all.jsonl", "--train", "4", "--test", "5", "--out", tmp_path]
    for _ in range(2):
        subprocess.run([sys.executable, EXAMPLES / "split.py", *asked], check=True, capture_output=True)
        train, test = ((tmp_path / f"all-{name}.jsonl").read_text().splitlines() for name in ("train", "test"))
        assert (len(train), len(test)) == (4, 5)
        assert sorted([*train, *test]) == sorted(every)
    assert train != every[:4]


def test_no_problem_that_is_drawn_apart_from_others_gives_one_of_them_away(tmp_path, monkeypatch):
    monkeypatch.setattr(embeddings, "default_embeddings", HashEmbeddings)
    texts = [f"Ann has {number} pears and eats {number + 3}0 nuts. How many?" for number in range(9)]
    every = [json.dumps({"id": str(number), "problem": text, "answer": "1"}) for number, text in enumerate(texts)]
    (tmp_path / "all.jsonl").write_text("\n".join(every))
    (tmp_path / "held-out.jsonl").write_text(json.dumps({"id": "x", "problem": "A train goes west.", "answer": "7"}))
    asked = ["--problems", tmp_path / "all.jsonl", "--train", "9", "--test", "0", "--out", tmp_path]
    asked += ["--apart-from", tmp_path / "held-out.jsonl"]
    monkeypatch.setattr(sys, "argv", ["split.py", *map(str, asked)])
    runpy.run_path(str(EXAMPLES / "split.py"), run_name="__main__")
    assert sorted((tmp_path / "all-train.jsonl").read_text().splitlines()) == sorted(every)
    (tmp_path / "held-out.jsonl").write_text(every[0])
    with pytest.raises(SystemExit):
        runpy.run_path(str(EXAMPLES / "split.py"), run_name="__main__")
