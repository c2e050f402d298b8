"""An adapter as a GGUF file, which llama.cpp loads beside its base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

ARCHITECTURES = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}
"""Names of llama.cpp by those of transformers."""
_SPLIT_HALVES = "llama"
"""llama.cpp rotates neighbouring numbers of a head for this one, transformers a number and that half a head later."""


def write_adapter_file(adapter: Path, config: Any, path: Path) -> None:
    """Write the adapter in a folder of PEFT as a GGUF file.

    Its tensors are `NAME.weight.lora_a` and `.lora_b`, where NAME is that of the weight in the base; llama.cpp adds
    `lora_b @ lora_a * alpha / rank`.

    Args:
        adapter: the folder.
        config: of the base, from transformers.
        path: where to write; it appears when it is whole.
    """
    import gguf
    from peft import LoraConfig, load_peft_weights

    architecture = ARCHITECTURES[config.model_type]
    kind = next(number for number, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    names = gguf.get_tensor_name_map(kind, config.num_hidden_layers)
    part = path.with_name(f"{path.name}.part")
    writer = gguf.GGUFWriter(part, architecture)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(LoraConfig.from_pretrained(adapter).lora_alpha))
    for key, tensor in sorted(load_peft_weights(str(adapter), device="cpu").items()):
        module, _, side = key.removeprefix("base_model.model.").removesuffix(".weight").rpartition(".lora_")
        rows = tensor.float().numpy()
        if side == "B" and architecture == _SPLIT_HALVES:
            rows = _rotated(rows, module, config)
        writer.add_tensor(f"{names.get_name(module)}.weight.lora_{side.lower()}", rows)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.replace(path)


def _rotated(rows: Any, module: str, config: Any) -> Any:
    """Return the output rows of a query or key projection in llama.cpp's order: i, i + half, i + 1, ..."""
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}.get(module.rpartition(".")[2])
    if heads is None:
        return rows
    halves = rows.reshape(heads, 2, rows.shape[0] // heads // 2, rows.shape[1])
    return halves.swapaxes(1, 2).reshape(rows.shape)
