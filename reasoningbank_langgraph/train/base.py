"""The model that is tuned, from a GGUF file or a Hugging Face folder; nothing is ever downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph.errors import TuneError
from reasoningbank_langgraph.local import packaged_model_path
from reasoningbank_langgraph.local.model_files import PACKAGED, known_model_file
from reasoningbank_langgraph.train.adapter_file import ARCHITECTURES

if TYPE_CHECKING:
    from reasoningbank_langgraph.train.rows import Row


def base_path(name: str | None) -> Path:
    """Return the file or folder of a model: the path, or where a pulled one lies, or for None the packaged one."""
    entry = known_model_file(name or PACKAGED)
    if entry is None:
        return Path(str(name))
    return packaged_model_path() if entry.name == PACKAGED else entry.path()


def gguf_of(name: str | None) -> Path:
    """Return the file of a model that can be tuned and served here.

    Raises:
        TuneError: it is none that lies on this disk.
    """
    path = base_path(name).expanduser().absolute()
    if not path.is_file() or path.suffix.lower() != ".gguf":
        raise TuneError(f"{name} is no GGUF file on this disk: adapters are tuned and served on this machine")
    return path


class Base(NamedTuple):
    """A model of transformers with its tokenizer."""

    model: Any
    tokenizer: Any


def load_base(path: Path) -> Base:
    """Load a model to tune: in 16 bits where the processor reckons in them, else in 32.

    A GGUF file is dequantised: half a billion weights take 1 or 2 GB then, and about 6 while they load.

    Raises:
        TuneError: it is no model that can be tuned here.
    """
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GgufConfig

    where: dict[str, Any] = {"pretrained_model_name_or_path": path, "local_files_only": True}
    weights: dict[str, Any] = {"dtype": torch.bfloat16 if _reckons_in_16_bits() else torch.float32}
    if path.is_file():
        where |= {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
        weights["quantization_config"] = GgufConfig(dequantize=True)
    try:
        kind = AutoConfig.from_pretrained(**where).model_type
        if kind not in ARCHITECTURES:
            known = ", ".join(ARCHITECTURES)
            raise TuneError(f"{path} is a model of the kind {kind!r}: those that can be tuned are {known}")
        tokenizer = AutoTokenizer.from_pretrained(**where)
        model = AutoModelForCausalLM.from_pretrained(**where, **weights)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        if isinstance(error, TuneError):
            raise
        reason = f"cannot be loaded by transformers ({type(error).__name__}: {str(error)[:300]})"
        raise TuneError(f"{path} {reason}: name a GGUF file, or a folder with config.json and weights") from error
    if not tokenizer.chat_template:
        raise TuneError(f"{path} has no chat template: name an instruct model, which says how a chat is written")
    # By its name PEFT would ask the hub for the vocabulary of the base.
    model.name_or_path = ""
    return Base(model, tokenizer)


def _reckons_in_16_bits() -> bool:
    import torch

    # Other processors would convert each number, which takes longer than 32 bits do. Old releases cannot tell.
    abilities = getattr(torch.cpu, "get_capabilities", dict[str, bool])()
    return torch.cuda.is_available() or abilities.get("avx512_bf16", False)


def fitting(rows: list[Row], tokenizer: Any, longest: int) -> list[Row]:
    """Return the rows of at most `longest` tokens; one cut off would teach the model not to end.

    Raises:
        TuneError: the template refuses a row, or writes a prompt in another way when its answer follows: what is
            learned would not be what the model is asked.
    """
    from jinja2 import TemplateError

    try:
        return [row for row in rows if _length(row, tokenizer) <= longest]
    except TemplateError as error:
        raise TuneError(f"the chat template of the base refuses a row: {error}") from error


def _length(row: Row, tokenizer: Any) -> int:
    prompt = tokenizer.apply_chat_template(row["prompt"], add_generation_prompt=True, tokenize=False)
    whole = tokenizer.apply_chat_template(row["prompt"] + row["completion"], tokenize=False)
    if not whole.startswith(prompt):
        same = next((place for place, pair in enumerate(zip(prompt, whole, strict=False)) if len({*pair}) > 1), 0)
        differs = f"{prompt[same : same + 60]!r} became {whole[same : same + 60]!r}"
        raise TuneError(f"the chat template of the base writes a prompt in another way before its answer: {differs}")
    return len(tokenizer(whole, add_special_tokens=False)["input_ids"])
