"""Texts encrypted with AES-GCM, and the mark by which a bank knows its key.

Each text gets a nonce of its own. Those of a bank are bound to their place and cannot be read at another one. The mark
is an empty text, encrypted likewise.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from reasoningbank_langgraph.errors import (
    EncryptionKeyError,
    MissingDependencyError,
    MissingEncryptionKeyError,
    StoreCorruptedError,
    UnencryptedBankError,
    WrongEncryptionKeyError,
)

MARK = "key_mark"
NAME = "aesgcm"
KEY_BYTES = (16, 24, 32)
NONCE_BYTES = 12


class BankCipher:
    """AES-GCM with the key of a bank.

    Args:
        key: 16, 24 or 32 random bytes.

    Raises:
        EncryptionKeyError: it is no such key.
        MissingDependencyError: the package `cryptography` is not installed (extra `encryption`).
    """

    def __init__(self, key: bytes) -> None:
        if not isinstance(key, bytes) or len(key) not in KEY_BYTES:
            given = f"{len(key)} bytes" if isinstance(key, bytes) else type(key).__name__
            raise EncryptionKeyError(f"an encryption key is 16, 24 or 32 random bytes, got {given}")
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError as error:
            raise MissingDependencyError("cryptography", "encryption") from error
        self._aes = AESGCM(key)

    @classmethod
    def of(cls, key: bytes | None) -> BankCipher | None:
        """Return the cipher of a key, None without one."""
        return None if key is None else cls(key)

    def seal(self, data: bytes, place: str) -> bytes:
        """Return data so that only `unseal` with the same key and the same place can read it."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._aes.encrypt(nonce, data, place.encode())

    def unseal(self, sealed: bytes, place: str) -> bytes:
        """Return sealed data.

        Raises:
            StoreCorruptedError: it was changed, or sealed with another key or for another place.
        """
        from cryptography.exceptions import InvalidTag

        try:
            return self._aes.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError) as error:
            raise _changed(place) from error

    def seal_text(self, text: str, place: str) -> str:
        """Do what `seal` does for ASCII text and a place that takes text only."""
        return b64encode(self.seal(text.encode("ascii"), place)).decode("ascii")

    def unseal_text(self, text: str, place: str) -> str:
        """Do what `unseal` does for what `seal_text` returned."""
        try:
            sealed = b64decode(text, validate=True)
        except ValueError as error:
            raise _changed(place) from error
        return self.unseal(sealed, place).decode("ascii")


class AESGCMCipher:
    """AES-GCM for checkpoints: what LangGraph's `EncryptedSerializer` takes as its cipher.

    Args:
        key: 16, 24 or 32 random bytes, for example the key of the bank.

    Raises:
        EncryptionKeyError: it is no such key.
        MissingDependencyError: the package `cryptography` is not installed (extra `encryption`).
    """

    def __init__(self, key: bytes) -> None:
        self._cipher = BankCipher(key)

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """Return the name of the cipher and the encrypted bytes, as LangGraph's `CipherProtocol` asks."""
        return NAME, self._cipher.seal(plaintext, "")

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """Return what `encrypt` was given.

        Raises:
            EncryptionKeyError: it was encrypted with another key or another cipher, or changed.
        """
        with suppress(StoreCorruptedError):
            if ciphername == NAME:
                return self._cipher.unseal(ciphertext, "")
        raise EncryptionKeyError(
            f"data of the cipher {ciphername!r} was changed, or has another key than the one given"
        )


def mark_of(cipher: BankCipher | None) -> dict[str, str]:
    """Return what the metadata of a bank says of its key."""
    return {} if cipher is None else {MARK: cipher.seal_text("", MARK)}


def fits(metadata: Mapping[str, Any], cipher: BankCipher | None) -> bool:
    """Say whether a bank with this metadata was encrypted with this cipher, or not at all without one."""
    if cipher is None or MARK not in metadata:
        return cipher is None and MARK not in metadata
    try:
        return cipher.unseal_text(str(metadata[MARK]), MARK) == ""
    except StoreCorruptedError:
        return False


def check_key(metadata: Mapping[str, Any], cipher: BankCipher | None) -> None:
    """Refuse a bank with another key than the one given.

    Raises:
        MissingEncryptionKeyError: the bank is encrypted and no key was given.
        WrongEncryptionKeyError: it was encrypted with another key.
        UnencryptedBankError: it is not encrypted and a key was given.
    """
    if fits(metadata, cipher):
        return
    if cipher is None:
        raise MissingEncryptionKeyError
    raise WrongEncryptionKeyError if MARK in metadata else UnencryptedBankError


def _changed(place: str) -> StoreCorruptedError:
    return StoreCorruptedError(f"an encrypted text was changed, or does not belong where it stands: {place[:100]}")
