"""A folder belongs to one experiment: its settings, its models and its problems."""

from pathlib import Path

import pytest

from reasoningbank_langgraph.errors import ExperimentError, InvalidRecordError
from reasoningbank_langgraph.experiments.config import ExperimentConfig
from reasoningbank_langgraph.testing import ScriptedChatModel

from . import worlds

pytestmark = pytest.mark.slow


def test_a_folder_belongs_to_one_configuration(tmp_path):
    settings = worlds.config(tmp_path, arms=("baseline",))
    worlds.carry_out(settings, tmp_path / "out")
    with pytest.raises(ExperimentError, match=r"max_tokens \(512 there, 64 here\)"):
        worlds.carry_out(settings.model_copy(update={"max_tokens": 64}), tmp_path / "out")
    worlds.carry_out(settings.model_copy(update={"concurrency": 2}), tmp_path / "out")
    saved = ExperimentConfig.model_validate_json((tmp_path / "out" / "config.json").read_text())
    assert saved == settings.model_copy(update={"concurrency": 2})


def test_a_folder_belongs_to_its_models_and_problems(tmp_path):
    settings = worlds.config(tmp_path, arms=("baseline",))
    worlds.carry_out(settings, tmp_path / "out")
    with pytest.raises(
        ExperimentError, match=r"other models or problems: solver \('ScriptedChatModel' there, 'M' here"
    ):
        worlds.carry_out(settings, tmp_path / "out", Named(worlds.reply, model_name="M"))
    worlds.problems(tmp_path / "test.jsonl", 8, start=101)
    with pytest.raises(ExperimentError, match=r"other models or problems: problems \("):
        worlds.carry_out(settings, tmp_path / "out")


class Named(ScriptedChatModel):
    model_name: str


def test_train_problems_are_taken_out_of_the_test(tmp_path):
    same = worlds.problems(tmp_path / "all.jsonl", 8)
    run = worlds.carry_out(
        worlds.config(tmp_path, train=same, test=same, train_limit=5, arms=("baseline",)), tmp_path / "out"
    )
    assert [row.id for row in run.results.rows] == ["p5", "p6", "p7"]
    with pytest.raises(ExperimentError, match="nothing is left"):
        worlds.carry_out(
            worlds.config(tmp_path, train=same, test=same, train_limit=8, arms=("baseline",)), tmp_path / "none"
        )


def test_a_problem_without_an_answer_is_refused(tmp_path):
    path = tmp_path / "open.jsonl"
    path.write_text('{"id": "q", "problem": "What is 1 + 1?"}\n')
    with pytest.raises(ExperimentError, match="'q' has no answer"):
        worlds.carry_out(worlds.config(tmp_path, test=path), tmp_path / "out")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"arms": ("baseline", "magic")}, "no arm is called 'magic'"),
        ({"arms": ()}, "at least one arm"),
        ({"arms": ("memory", "memory")}, "once only"),
        ({"seeds": ()}, "at least one arm and one seed"),
        ({"train": None}, "give train="),
        ({"protocol": "stream", "arms": ("baseline", "random")}, "random needs a bank that does not change"),
        ({"protocol": "stream", "arms": ("baseline", "gated")}, "gated needs a bank that does not change"),
        ({"arms": ("baseline", "guarded")}, "rows of baseline and memory"),
        ({"arms": ("baseline", "memory", "guarded+recurring")}, "rows of baseline and recurring"),
        ({"arms": ("baseline", "gated"), "attempts": (2,)}, "attempts of 3 or more"),
        ({"arms": ("baseline", "half"), "attempts": (1,)}, "attempts of 2 or more"),
        ({"agreement": 0}, "agreement"),
        ({"arms": ("baseline", "vote+matts"), "attempts": (1,)}, "vote.matts needs attempts of 2 or more"),
        ({"bank_sizes": (8,)}, "parts of train_limit"),
        ({"protocol": "stream", "bank_sizes": (2,)}, "learned first"),
        ({"protocol": "stream", "outcome": "success"}, "learned first"),
        ({"bank": Path("bank"), "namespace": ("a",), "train": None, "outcome": "failure"}, "outcome='both'"),
        ({"limit": 0}, "limit"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, problem, tmp_path):
    with pytest.raises(InvalidRecordError, match=problem):
        worlds.config(tmp_path, **changes)
