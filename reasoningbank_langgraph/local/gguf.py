"""The metadata of a GGUF model file: enough to reject other files and to know what the model needs."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from reasoningbank_langgraph.errors import ModelServerError
from reasoningbank_langgraph.files import open_file

if TYPE_CHECKING:
    from pathlib import Path

# Value types of the GGUF format, version 2 and later; 8 is a string and 9 an array.
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_KEYS = {
    "context_length",
    "block_count",
    "embedding_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
}


class GGUFHead(NamedTuple):
    """What the file says of the needs of its model; None where it does not say."""

    context: int | None
    """Tokens the model was trained to read."""
    cache_bytes: int | None
    """Bytes that one token of context takes in memory, at 16 bits a number."""


def read_head(path: Path) -> GGUFHead:
    """Read the context length and memory needs of a model from its file.

    Raises:
        ModelServerError: the file is missing, unreadable or not a whole GGUF head.
    """
    try:
        with open_file(path) as file:
            if file.read(4) != b"GGUF":
                raise ModelServerError(f"{path} is not a GGUF model file: its first bytes are not 'GGUF'")
            metadata = _read_values(file)
    except OSError as error:
        raise ModelServerError(f"the model file {path} cannot be read: {error.strerror}") from error
    except (struct.error, KeyError, UnicodeDecodeError) as error:
        raise ModelServerError(f"{path} is cut off or damaged inside its GGUF head: fetch the file again") from error
    return GGUFHead(metadata.get("context_length"), _cache_bytes(metadata))


def _read_values(file: BinaryIO) -> dict[str, Any]:
    """Return the values of the architecture by name; the vocabulary, large and last, is read only if one is missing."""
    _, _, count = _number(file, "I"), _number(file, "Q"), _number(file, "Q")
    metadata: dict[str, Any] = {}
    for _ in range(count):
        key, value = _string(file).partition(".")[2], _value(file, _number(file, "I"))
        if key in _KEYS:
            metadata[key] = value
        if len(metadata) == len(_KEYS):
            break
    return metadata


def _cache_bytes(metadata: dict[str, Any]) -> int | None:
    """Return the bytes of one token: a key and a value for each head, in every layer; heads may be counted by layer."""
    try:
        heads, layers = metadata["attention.head_count_kv"], metadata["block_count"]
        width = metadata.get("attention.key_length") or metadata["embedding_length"] // metadata["attention.head_count"]
        values = metadata.get("attention.value_length") or width
        every = sum(heads) if isinstance(heads, list) else heads * layers
        return int(every * (width + values) * 2)
    except (KeyError, TypeError, ZeroDivisionError):
        return None


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        element, count = _number(file, "I"), _number(file, "Q")
        return [_value(file, element) for _ in range(count)]
    return _number(file, _NUMBERS[kind])


def _string(file: BinaryIO) -> str:
    length = _number(file, "Q")
    raw = file.read(length) if length < 1 << 30 else b""
    if len(raw) < length:
        raise struct.error
    return raw.decode("utf-8", "replace")


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))[0]
