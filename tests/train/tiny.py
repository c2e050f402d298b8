"""A language model of two layers with random weights, as a GGUF file that llama.cpp and transformers both load."""

from functools import cache

import gguf
import numpy as np

WIDTH, HEADS, KEY_HEADS, LAYERS, INNER = 64, 4, 2, 2, 96
HEAD = {"llama": 16, "qwen2": 16, "qwen3": 128}
"""Numbers in a head, by architecture; transformers takes those of Qwen3 for 128 whatever its file says."""
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["t h", "th e", "Ġ a", "1 2"]
TEMPLATE = (
    "{% for message in messages %}{% if loop.first and message['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are tiny.<|im_end|>\n' }}{% endif %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] | trim + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def write_tiny_model(path, architecture="qwen2", *, template=TEMPLATE, context=512):
    """Write the model; `llama` has its query and key rows in llama.cpp's order, `qwen2` and `qwen3` as they are."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(context)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_key_length(HEAD[architecture])
    writer.add_value_length(HEAD[architecture])
    writer.add_rope_dimension_count(HEAD[architecture])
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(_vocabulary()))
    _add_tokenizer(writer, template)
    for name, values in _tensors(architecture):
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokenizer(writer, template):
    tokens = _vocabulary()
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_merges(MERGES)
    writer.add_token_types([control if token in SPECIAL else normal for token in tokens])
    writer.add_bos_token_id(tokens.index("<|endoftext|>"))
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_pad_token_id(tokens.index("<|endoftext|>"))
    writer.add_add_bos_token(False)
    if template:
        writer.add_chat_template(template)


@cache
def _vocabulary():
    """Every byte, as byte-level BPE spells it, a few merges, and the marks of a chat."""
    plain = [byte for byte in range(256) if chr(byte).isprintable() and byte not in (32, 127, 160, 173)]
    spelled = iter(range(256, 512))
    letters = [chr(byte) if byte in plain else chr(next(spelled)) for byte in range(256)]
    return letters + [merge.replace(" ", "") for merge in MERGES] + SPECIAL


def _tensors(architecture):
    random = np.random.default_rng(7)
    head, words = HEAD[architecture], len(_vocabulary())

    def matrix(rows, columns):
        return random.normal(0, 1.5 / columns**0.5, (rows, columns))

    yield "token_embd.weight", random.normal(0, 1, (words, WIDTH))
    yield "output.weight", matrix(words, WIDTH) * 3
    yield "output_norm.weight", np.ones(WIDTH)
    for number in range(LAYERS):
        for name, rows, columns in (
            ("attn_q", HEADS * head, WIDTH),
            ("attn_k", KEY_HEADS * head, WIDTH),
            ("attn_v", KEY_HEADS * head, WIDTH),
            ("attn_output", WIDTH, HEADS * head),
            ("ffn_gate", INNER, WIDTH),
            ("ffn_up", INNER, WIDTH),
            ("ffn_down", WIDTH, INNER),
        ):
            yield f"blk.{number}.{name}.weight", matrix(rows, columns)
            if architecture == "qwen2" and name in ("attn_q", "attn_k", "attn_v"):
                yield f"blk.{number}.{name}.bias", random.normal(0, 0.1, rows)
        for name, size in (("attn_norm", WIDTH), ("ffn_norm", WIDTH)):
            yield f"blk.{number}.{name}.weight", np.ones(size)
        if architecture == "qwen3":
            for name in ("attn_q_norm", "attn_k_norm"):
                yield f"blk.{number}.{name}.weight", np.ones(head)
