"""An adapter is trained, stops in time, survives a kill, and its folder belongs to one training."""

import json
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from reasoningbank_langgraph.errors import TuneError
from reasoningbank_langgraph.experiments.folder import alone_in
from reasoningbank_langgraph.records import task_key
from reasoningbank_langgraph.train import Card, TuneSettings, tune
from reasoningbank_langgraph.train import tuning as module
from reasoningbank_langgraph.train.base import fitting, load_base
from reasoningbank_langgraph.train.trainer import alone, make_trainer
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.slow
SETTINGS = TuneSettings(learning_rate=0.01, batch=2, epochs=4.0)


def weights(folder):
    from peft import load_peft_weights

    return load_peft_weights(str(folder), device="cpu")


def assert_same_weights(one, other):
    import torch

    for name, tensor in weights(one).items():
        torch.testing.assert_close(tensor, weights(other)[name])


def test_the_command_trains_and_says_how_well_and_at_what_cost(trained):
    card = Card.read(trained.out)
    assert (card.train, card.validation, card.left_out, card.steps) == (8, 4, 0, 16)
    assert (card.data, card.tasks) == (str(trained.data), sorted(task_key(f"{number} + 1") for number in range(12)))
    assert card.after < card.before / 2
    assert card.after == min(point.validation_loss for point in card.curve)
    assert f"validation loss {card.before:.4f} without the adapter, {card.after:.4f} with it" in trained.printed
    assert "step 8 of 16: validation loss " in trained.printed
    assert f"{card.peak_bytes / 1e9:.2f} GB of memory at the peak" in trained.printed
    assert f"Try it with: --model {trained.out}\n" in trained.printed
    assert f"reasoningbank adapter accept {trained.out} --problems FILE\n" in trained.printed
    names = {"README.md", "adapter_config.json", "adapter_model.safetensors", "adds.gguf", "card.json", "settings.json"}
    names.add("writer.lock")
    assert {path.name for path in trained.out.iterdir()} == names


def times(folder):
    return {path: path.stat().st_mtime_ns for path in folder.iterdir() if path.name != "writer.lock"}


def test_a_finished_adapter_is_not_trained_again(trained):
    before = times(trained.out)
    done = trained.again()
    assert done.exit_code == 0
    assert "step 2" not in done.output
    assert times(trained.out) == before


def test_two_trainings_in_one_folder_are_kept_apart(trained, tmp_path):
    with alone_in(tmp_path), pytest.raises(TuneError, match=r"is in use by process .*choose another folder"):
        tune(trained.data, base=trained.base, out=tmp_path, settings=SETTINGS)


def test_a_folder_keeps_to_its_settings_data_and_base(trained, tmp_path):
    done = trained.again("--rank", "4")
    assert done.exit_code == 1
    assert "holds an adapter with other rank (8 there, 4 here): name another folder" in done.output
    (tmp_path / "of-the-user").touch()
    with pytest.raises(TuneError, match="is not empty and holds no adapter"):
        tune(trained.data, base=trained.base, out=tmp_path)


KILLED = """
import os, signal, sys
from reasoningbank_langgraph.train import TuneSettings, tune
settings = TuneSettings(learning_rate=0.01, batch=2, epochs=4.0)
def die(at):
    if at.step == 5:
        os.kill(os.getpid(), signal.SIGKILL)
tune(sys.argv[1], base=sys.argv[2], out=sys.argv[3], settings=settings, progress=die)
"""


def test_a_killed_training_goes_on_from_its_last_checkpoint_to_the_same_weights(trained, tmp_path):
    out = tmp_path / "adds"
    words = [sys.executable, "-c", KILLED, str(trained.data), str(trained.base), str(out)]
    killed = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    steps = []
    card = tune(trained.data, base=trained.base, out=out, settings=SETTINGS, progress=lambda at: steps.append(at.step))
    assert steps[0] == 5
    whole = Card.read(trained.out).curve
    assert [point.step for point in card.curve] == [point.step for point in whole]
    losses = [point.validation_loss for point in whole]
    assert [point.validation_loss for point in card.curve] == pytest.approx(losses, rel=1e-4)
    assert_same_weights(out, trained.out)


def _fail(*_):
    raise OSError("the disk is full")


def test_a_process_that_died_before_its_card_was_written_is_finished_by_the_next(trained, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Card, "write", _fail)
        with pytest.raises(OSError, match="disk is full"):
            tune(trained.data, base=trained.base, out=tmp_path / "adds", settings=SETTINGS)
    steps = []
    tune(trained.data, base=trained.base, out=tmp_path / "adds", settings=SETTINGS, progress=steps.append)
    assert steps == []
    assert_same_weights(tmp_path / "adds", trained.out)


def test_training_ends_where_the_validation_loss_does_and_keeps_the_best_weights_also_after_a_kill(
    trained, tmp_path, monkeypatch
):
    settings = TuneSettings(learning_rate=0.01, batch=8, epochs=60.0, patience=1)
    told = {"messages": [{"role": "user", "content": "8 + 1"}, {"role": "assistant", "content": "no, never: ~"}]}
    (data := tmp_path / "data").mkdir()
    (data / "train.jsonl").write_bytes((trained.data / "train.jsonl").read_bytes())
    (data / "validation.jsonl").write_text(json.dumps(told))
    card = tune(data, base=trained.base, out=tmp_path / "adds", settings=settings)
    assert card.best_step < card.steps < 60
    assert card.after == min(point.validation_loss for point in card.curve[1:])
    with monkeypatch.context() as patch:
        patch.setattr(Card, "write", _fail)
        with pytest.raises(OSError, match="disk is full"):
            tune(data, base=trained.base, out=tmp_path / "again", settings=settings)
    again = tune(data, base=trained.base, out=(tmp_path / "again").rename(tmp_path / "moved"), settings=settings)
    assert (again.curve, again.best_step, again.steps) == (card.curve, card.best_step, card.steps)
    assert_same_weights(tmp_path / "moved", tmp_path / "adds")


def test_only_what_the_assistant_says_is_learned_in_the_template_of_the_base(trained, tmp_path):
    told = [{"role": "user", "content": "12 + 1"}, {"role": "assistant", "content": "the 13"}]
    row = {"prompt": told[:1], "completion": told[1:]}
    with alone():
        base = load_base(trained.base)
        rows = make_trainer(base, [row], [row], SETTINGS, tmp_path, None).train_dataset
    labels, ids = rows[0]["labels"], rows[0]["input_ids"]
    assert base.tokenizer.decode([label for label in labels if label != -100]) == "the 13<|im_end|>\n"
    assert base.tokenizer.decode(ids) == base.tokenizer.apply_chat_template(told, tokenize=False)


def test_rows_longer_than_asked_for_are_left_out_whole(trained):
    with alone():
        tokenizer = load_base(trained.base).tokenizer
    rows = [
        {"prompt": [{"role": "user", "content": "1"}], "completion": [{"role": "assistant", "content": "a" * size}]}
        for size in (1, 300)
    ]
    assert fitting(rows, tokenizer, 200) == rows[:1]


def test_a_template_that_rewrites_a_prompt_once_it_is_answered_or_takes_no_such_row_is_refused(trained):
    with alone():
        tokenizer = load_base(trained.base).tokenizer
    tokenizer.chat_template = "{{ messages | length }}{{ messages[0]['content'] }}"
    row = {"prompt": [{"role": "user", "content": "1"}], "completion": [{"role": "assistant", "content": "2"}]}
    with pytest.raises(TuneError, match="writes a prompt in another way before its answer: '11' became '21'"):
        fitting([row], tokenizer, 200)
    tokenizer.chat_template = "{{ raise_exception('roles must alternate') }}"
    with pytest.raises(TuneError, match="the chat template of the base refuses a row: roles must alternate"):
        fitting([row], tokenizer, 200)


def test_a_folder_of_hugging_face_is_the_same_base(trained, tmp_path):
    import torch

    with alone():
        base = load_base(trained.base)
        base.model.save_pretrained(tmp_path)
        base.tokenizer.save_pretrained(tmp_path)
        again = load_base(tmp_path)
    ids = base.tokenizer("12 + 1 is the 13", return_tensors="pt")["input_ids"]
    torch.testing.assert_close(again.model(ids).logits, base.model(ids).logits)
    assert again.tokenizer.chat_template == base.tokenizer.chat_template


@pytest.mark.parametrize(("able", "bits"), [(True, 16), (False, 32)])
def test_a_processor_that_reckons_in_16_bits_is_given_weights_of_16_and_the_adapter_has_32(
    trained, tmp_path, monkeypatch, able, bits
):
    import torch

    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": able})
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert load_base(trained.base).model.dtype.itemsize * 8 == bits
    card = tune(trained.data, base=trained.base, out=tmp_path, settings=SETTINGS)
    assert card.after < card.before / 2
    assert {tensor.dtype for tensor in weights(tmp_path).values()} == {torch.float32}


def test_a_base_that_cannot_be_tuned_is_named_with_the_way_out(tmp_path):
    from tests.train.tiny import write_tiny_model

    mute = write_tiny_model(tmp_path / "mute.gguf", template=None)
    (other := tmp_path / "other").mkdir()
    (other / "config.json").write_text('{"model_type": "gpt2"}')
    (nothing := tmp_path / "nothing").mkdir()
    with alone():
        for base, problem in (
            (mute, "has no chat template: name an instruct model"),
            (other, "is a model of the kind 'gpt2': those that can be tuned are llama, mistral"),
            (nothing, "(?s)cannot be loaded by transformers .*: name a GGUF file, or a folder"),
        ):
            with pytest.raises(TuneError, match=problem):
                load_base(base)


def test_no_training_is_reported_to_anybody(trained, tmp_path, monkeypatch):
    from huggingface_hub.utils import _telemetry

    sent = []
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(_telemetry, "_start_telemetry_thread", lambda: None)
    monkeypatch.setattr(_telemetry, "_TELEMETRY_QUEUE", SimpleNamespace(put=sent.append))
    row = {"prompt": [{"role": "user", "content": "1"}], "completion": [{"role": "assistant", "content": "2"}]}
    with alone():
        make_trainer(load_base(trained.base), [row], [row], SETTINGS, tmp_path, None)
    assert sent == []


def test_the_settings_of_the_libraries_are_as_they_were_afterwards():
    from huggingface_hub import constants
    from transformers.utils import logging

    before = constants.HF_HUB_OFFLINE, logging.get_verbosity(), logging.is_progress_bar_enabled()
    with alone():
        assert constants.is_offline_mode()
        assert not logging.is_progress_bar_enabled()
    assert (constants.HF_HUB_OFFLINE, logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


def test_without_the_extra_its_name_is_said(monkeypatch, tmp_path):
    from reasoningbank_langgraph.errors import MissingDependencyError

    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "peft" else os)
    with pytest.raises(MissingDependencyError, match=r"peft is not installed: .*\[train\]"):
        tune(tmp_path, base=tmp_path, out=tmp_path)
