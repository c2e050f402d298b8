"""What is learned and what is held out, and which lines are refused."""

import json

import pytest

from reasoningbank_langgraph.errors import TuneError
from reasoningbank_langgraph.train import TuneSettings
from reasoningbank_langgraph.train.rows import read_rows
from reasoningbank_langgraph.train.trainer import curve, last_checkpoint


def said(role, content):
    return {"role": role, "content": content}


def write(path, *lines):
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def solved(number, answer):
    return {"messages": [said("user", f"task {number}"), said("assistant", answer)]}


def test_each_message_of_the_assistant_is_learned_after_all_that_was_said_before(tmp_path):
    told = [said("user", "1"), said("assistant", "2"), said("user", "3"), said("assistant", "4")]
    write(tmp_path / "train.jsonl", {"messages": told, "task_id": "t1"}, {"prompt": told[:3], "completion": told[3:]})
    write(tmp_path / "validation.jsonl", solved(1, "a"))
    rows = read_rows(tmp_path)
    whole = {"prompt": told[:3], "completion": told[3:]}
    assert rows.train == [{"prompt": told[:1], "completion": told[1:2]}, whole, whole]
    assert len(rows.validation) == 1


def test_a_line_counts_as_often_as_it_weighs(tmp_path):
    write(tmp_path / "train.jsonl", {**solved(1, "a"), "weight": 2}, solved(2, "b"))
    write(tmp_path / "validation.jsonl", solved(3, "a"))
    assert [row["completion"][0]["content"] for row in read_rows(tmp_path).train] == ["a", "a", "b"]


def test_of_a_single_file_a_tenth_of_the_tasks_is_held_out_with_all_their_samples(tmp_path):
    lines = [solved(number, answer) for number in range(20) for answer in ("a", "b")]
    rows = read_rows(write(tmp_path / "all.jsonl", *lines))
    held = {row["prompt"][0]["content"] for row in rows.validation}
    assert (len(held), len(rows.validation), len(rows.train)) == (2, 4, 36)
    assert held.isdisjoint(row["prompt"][0]["content"] for row in rows.train)
    assert rows == read_rows(tmp_path / "all.jsonl")


def test_the_digest_changes_with_the_data(tmp_path):
    one = read_rows(write(tmp_path / "all.jsonl", solved(1, "a"), solved(2, "a"))).sha256
    assert read_rows(write(tmp_path / "all.jsonl", solved(1, "a"), solved(2, "b"))).sha256 != one


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("no json", "is no conversation"),
        ("[]", "is no conversation"),
        ('{"text": "2 + 2 = 4"}', "KeyError: 'messages'"),
        ('{"messages": [{"role": "user", "content": "2"}]}', "the assistant answers nothing"),
        ('{"messages": [{"role": "assistant", "content": "2"}]}', "the assistant answers nothing"),
        ('{"messages": [{"role": "tool", "content": "2"}]}', "a message has a role of"),
        (
            '{"messages": [{"role": "user", "content": "2"}, {"role": "assistant", "content": "4"}], "weight": 0.5}',
            "Type",
        ),
        ('{"prompt": "2 + 2", "completion": "4"}', "is no conversation"),
        ('{"messages": [{"role": "user", "content": "2"}, {"role": "assistant", "content": " "}]}', "answers nothing"),
        ('{"messages": [{"role": "user", "content": "2"}, {"role": "assistant", "content": "\\ud83d"}]}', "surrogates"),
        (
            '{"messages": [{"role": "user", "content": "2"}, {"role": "assistant", "content": "4"}], "weight": -1}',
            "its weight of -1 is below 0",
        ),
        ("[" * 100_000, "Recursion"),
    ],
)
def test_a_line_that_is_no_conversation_is_named(tmp_path, line, problem):
    (tmp_path / "all.jsonl").write_text(json.dumps(solved(1, "a")) + "\n" + line)
    with pytest.raises(TuneError, match=rf"all\.jsonl, line 2 .*{problem}.*a line looks like"):
        read_rows(tmp_path / "all.jsonl")


def test_one_task_alone_cannot_be_learned_and_held_out(tmp_path):
    with pytest.raises(TuneError, match="0 rows to train on and 2 to validate with: both are needed"):
        read_rows(write(tmp_path / "all.jsonl", solved(1, "a"), solved(1, "b")))


def test_a_prompt_that_is_learned_does_not_tell_when_to_stop(tmp_path):
    write(tmp_path / "train.jsonl", solved(1, "a"), solved(2, "a"))
    write(tmp_path / "validation.jsonl", solved(2, "b"), solved(3, "a"))
    with pytest.raises(TuneError, match=r"1 prompts of validation\.jsonl are in train\.jsonl too"):
        read_rows(tmp_path)


def test_a_folder_without_validation_rows_is_refused_with_the_way_out(tmp_path):
    write(tmp_path / "train.jsonl", solved(1, "a"), solved(2, "a"))
    with pytest.raises(TuneError, match=r"has no validation\.jsonl: name its train\.jsonl, a tenth of whose tasks"):
        read_rows(tmp_path)
    assert read_rows(tmp_path / "train.jsonl").validation
    with pytest.raises(TuneError, match=r"none\.jsonl cannot be read: No such file"):
        read_rows(tmp_path / "none.jsonl")


def test_a_checkpoint_that_a_process_died_on_is_deleted_and_the_last_whole_one_is_taken(tmp_path):
    for step, state in ((2, "{}"), (10, "{}"), (12, '{"global'), (14, None)):
        (folder := tmp_path / f"checkpoint-{step}").mkdir()
        if state:
            (folder / "trainer_state.json").write_text(state)
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-10", "checkpoint-2"]
    assert last_checkpoint(tmp_path / "missing") is None


def test_a_curve_has_the_validations_with_the_last_loss_before_each():
    logged = [{"step": 0, "eval_loss": 9.0}, {"step": 1, "loss": 8.0}, {"step": 1, "eval_loss": 7.0}, {"step": 2}]
    assert curve(logged) == [(0, None, 9.0), (1, 8.0, 7.0)]


@pytest.mark.parametrize("changes", [{"rank": 0}, {"epochs": float("nan")}, {"learning_rate": float("inf")}])
def test_settings_of_a_training_are_numbers_above_zero(changes):
    with pytest.raises(ValueError, match="are above 0 and finite"):
        TuneSettings(**changes)


def test_a_seed_that_the_libraries_do_not_take_is_refused():
    for seed in (-1, 2**32):
        with pytest.raises(ValueError, match="the seed is 0 or more"):
            TuneSettings(seed=seed)


@pytest.mark.parametrize("targets", [("embed_tokens",), ("q_proj", "lm_head"), ("query",), ()])
def test_layers_that_llama_cpp_could_not_load_are_refused_before_they_are_trained(targets):
    with pytest.raises(ValueError, match=r"layers to adapt are some of q_proj, .*down_proj, got"):
        TuneSettings(targets=targets)
