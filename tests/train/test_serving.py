"""The local server runs a base with its adapter, and says what transformers says: token for token."""

import json
import urllib.request

import pytest

from reasoningbank_langgraph.local import start_local_model
from reasoningbank_langgraph.local.model_choice import resolve_model
from reasoningbank_langgraph.train.base import load_base
from reasoningbank_langgraph.train.trainer import alone

pytestmark = [pytest.mark.slow, pytest.mark.network]
CONVERSATIONS = [
    [{"role": "user", "content": "3 + 1"}],
    [{"role": "user", "content": "  the end of a line \n"}],
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "naïve 12 ≠ «7» 日本 🙂 <b>"}],
    [
        {"role": "user", "content": "1 + 1"},
        {"role": "assistant", "content": "the 2"},
        {"role": "user", "content": "<|im_end|> and then?"},
    ],
]
WORDS = 12


@pytest.fixture(scope="module", params=["llama", "qwen2", "qwen3"])
def trained(request, train_once):
    return train_once(request.param)


@pytest.fixture(scope="module")
def served(trained):
    with start_local_model(trained.base, adapter=trained.out / "adds.gguf", n_ctx=256, threads=1) as server:
        yield server


@pytest.fixture(scope="module")
def loaded(trained):
    from peft import PeftModel

    with alone(), pytest.MonkeyPatch.context() as patch:  # in 16 bits two words of a random model may be equally likely
        patch.setattr("reasoningbank_langgraph.train.base._reckons_in_16_bits", lambda: False)
        base = load_base(trained.base)
        return PeftModel.from_pretrained(base.model, trained.out), base.tokenizer


def asked(server, path, **body):
    headers = {"Authorization": f"Bearer {server.api_key}", "Content-Type": "application/json"}
    request = urllib.request.Request(server._root + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def rendered(tokenizer, messages):
    return tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)


def continued(model, tokenizer, text):
    ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    ends = tokenizer.convert_tokens_to_ids(["<|im_end|>", "<|endoftext|>"])  # llama.cpp ends at both
    written = model.generate(ids, max_new_tokens=WORDS, do_sample=False, eos_token_id=ends)
    return written[0, ids.shape[1] :].tolist()


def test_the_chat_template_and_the_tokens_are_the_same_byte_for_byte(served, loaded):
    for messages in CONVERSATIONS:
        text = rendered(loaded[1], messages)
        assert asked(served, "/apply-template", messages=messages)["prompt"] == text
        tokens = asked(served, "/tokenize", content=text, add_special=True, parse_special=True)["tokens"]
        assert tokens == loaded[1](text, add_special_tokens=False)["input_ids"]


def test_base_and_adapter_write_the_same_tokens_as_in_transformers(served, loaded):
    model, tokenizer = loaded
    for messages in CONVERSATIONS:
        text = rendered(tokenizer, messages)
        ask = {"prompt": text, "n_predict": WORDS, "temperature": 0, "return_tokens": True}
        tuned = asked(served, "/completion", **ask, lora=[{"id": 0, "scale": 1.0}])["tokens"]
        plain = asked(served, "/completion", **ask, lora=[{"id": 0, "scale": 0.0}])["tokens"]
        assert tuned == continued(model, tokenizer, text)
        with model.disable_adapter():
            assert plain == continued(model, tokenizer, text)
        assert tuned != plain


def test_a_chat_model_has_the_adapter_unless_it_is_asked_for_without(served, loaded):
    model, tokenizer = loaded
    text = rendered(tokenizer, CONVERSATIONS[0])
    told = tokenizer.decode(continued(model, tokenizer, text), skip_special_tokens=True)
    tuned, plain = (served.chat_model(max_tokens=WORDS, adapted=adapted) for adapted in (True, False))
    for _ in range(2):  # what a slot read with the other weights is not read again
        assert tuned.invoke("3 + 1").text == told
        assert plain.invoke("3 + 1").text != told
    assert served.model_name == "tiny+adds"


def test_the_folder_of_an_adapter_is_a_model_that_every_command_can_name(trained, served):
    with resolve_model(str(trained.out), max_tokens=WORDS) as resolved:
        assert resolved.description == "tiny+adds on this machine: the tuned model you named"
        assert resolved.chat.invoke("3 + 1").text == served.chat_model(max_tokens=WORDS).invoke("3 + 1").text
