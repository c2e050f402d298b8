"""A published run holds no text, and nobody goes on with it by an empty bank."""

import shutil
import subprocess

import pytest

from reasoningbank_langgraph.errors import FrozenBankError
from reasoningbank_langgraph.experiments.arms import LEARNING
from reasoningbank_langgraph.experiments.results import ROWS, Results

from . import worlds

pytestmark = pytest.mark.slow
RUNS = {"phase1": ("baseline", "memory", "vote+matts"), "stream": ("baseline", "memory")}


@pytest.fixture(params=RUNS)
def run(request, tmp_path):
    settings = worlds.config(tmp_path, request.param, arms=RUNS[request.param], limit=2, train_limit=2)
    return worlds.carry_out(settings, tmp_path / "out")


def published(out):
    """Return the names of the files that git would take."""
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=out, check=True, capture_output=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=out, check=True, capture_output=True, text=True)
    return [name for name in listed.stdout.split("\0") if name]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("earlier", [None, "/texts.jsonl\n/learning/\n/mine.txt"])
def test_what_git_takes_of_a_run_holds_no_text(run, earlier):
    if earlier is not None:
        (run.out / ".gitignore").write_text(earlier)
        worlds.carry_out(run.config, run.out)
        assert "/mine.txt" in (run.out / ".gitignore").read_text().splitlines()
    files = {name: (run.out / name).read_bytes() for name in published(run.out)}
    assert {"config.json", "origin.json", "results.jsonl", "duplicates.json"} <= files.keys()
    assert [name for name, content in files.items() if b"Someone has" in content or b"counting" in content] == []


def copy_of(run, tmp_path, keeps=lambda row: True):
    """Return a copy of a run without its banks, with only some of its rows."""
    clone = tmp_path / "clone"
    clone.mkdir()
    for name in ("config.json", "origin.json", "duplicates.json"):
        shutil.copy(run.out / name, clone)
    kept = Results(clone)
    for row in filter(keeps, run.results.rows):
        kept.append(row)
    kept.texts.unlink()
    return clone


@pytest.mark.parametrize("rows", ["all", "those that were learned from and the first arm's"])
def test_a_copy_without_its_banks_is_refused_each_time_and_gets_no_row(run, rows, tmp_path):
    first = {LEARNING, "learning-vote-3", "baseline"}
    stream = run.config.protocol == "stream"
    clone = copy_of(run, tmp_path, lambda row: rows == "all" or row.arm in first or (stream and row.position == 0))
    before = (clone / ROWS).read_bytes()
    for _ in range(2):
        with pytest.raises(FrozenBankError, match=r"holds 0 lessons and its rows say .*begin again in another folder"):
            worlds.carry_out(run.config, clone)
    assert (clone / ROWS).read_bytes() == before


def test_a_copy_in_which_nothing_was_learned_yet_is_gone_on_with(run, tmp_path):
    clone = copy_of(run, tmp_path, lambda row: row.arm == "baseline")
    again = worlds.carry_out(run.config, clone)
    assert {row.key: row.answer for row in again.results.rows if row.answer} == {
        row.key: row.answer for row in run.results.rows if row.arm != "baseline"
    }
