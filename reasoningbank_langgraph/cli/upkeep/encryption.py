"""The keys of encrypted banks, which commands read from the environment, never from their own line."""

from __future__ import annotations

import os
from base64 import b64decode
from typing import TYPE_CHECKING

from reasoningbank_langgraph.errors import EncryptionKeyError

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.encrypted import EncryptedSerializer


def encryption_key() -> bytes | None:
    """Return the key of the bank, None without one.

    Raises:
        EncryptionKeyError: it is no base64; nothing of it is in the message.
    """
    return _decoded("REASONINGBANK_KEY", os.environ.get("REASONINGBANK_KEY"))


def new_encryption_key() -> bytes:
    """Return the key that the bank is to have.

    Raises:
        EncryptionKeyError: there is none, or it is no base64.
    """
    key = _decoded("REASONINGBANK_NEW_KEY", os.environ.get("REASONINGBANK_NEW_KEY"))
    if key is None:
        raise EncryptionKeyError("REASONINGBANK_NEW_KEY is not set: put the new key there, as base64")
    return key


def checkpoint_serializer() -> EncryptedSerializer | None:
    """Return what encrypts checkpoints with the key of the bank, and reads plain ones too; None without a key."""
    from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

    from reasoningbank_langgraph.store import AESGCMCipher

    key = encryption_key()
    return None if key is None else EncryptedSerializer(AESGCMCipher(key))


def _decoded(variable: str, text: str | None) -> bytes | None:
    try:
        return b64decode(text.strip(), validate=True) if text else None
    except ValueError:
        raise EncryptionKeyError(f"{variable} is no base64: `openssl rand -base64 32` makes a key") from None
