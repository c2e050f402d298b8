"""The head of a GGUF model file: enough to refuse what is none, and to know how much text the model can read."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, BinaryIO

from reasoningbank_langgraph.errors import ModelServerError

if TYPE_CHECKING:
    from pathlib import Path

# Value types of the GGUF format, version 2 and later; 8 is a string and 9 an array.
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


def context_length(path: Path) -> int | None:
    """Return how many tokens the model was trained to read, or None where its file does not say.

    Raises:
        ModelServerError: the file is missing, unreadable or not a whole GGUF head.
    """
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ModelServerError(f"{path} is not a GGUF model file: its first bytes are not 'GGUF'")
            return _find_context_length(file)
    except OSError as error:
        raise ModelServerError(f"the model file {path} cannot be read: {error.strerror}") from error
    except (struct.error, KeyError, UnicodeDecodeError) as error:
        raise ModelServerError(f"{path} is cut off or damaged inside its GGUF head: fetch the file again") from error


def _find_context_length(file: BinaryIO) -> int | None:
    _, _, count = _number(file, "I"), _number(file, "Q"), _number(file, "Q")
    for _ in range(count):
        key, value = _string(file), _value(file, _number(file, "I"))
        if key.endswith(".context_length"):
            return int(value)
    return None


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        element, count = _number(file, "I"), _number(file, "Q")
        for _ in range(count):
            _value(file, element)
        return None
    return _number(file, _NUMBERS[kind])


def _string(file: BinaryIO) -> str:
    length = _number(file, "Q")
    raw = file.read(length) if length < 1 << 30 else b""
    if len(raw) < length:
        raise struct.error
    return raw.decode("utf-8", "replace")


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))[0]
