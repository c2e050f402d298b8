"""`reasoningbank bank rekey`: another encryption key for a bank, or its first one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from reasoningbank_langgraph.cli.bank import DEFAULT_FOLDER, BankFolder, bank_app, progress_bar, require_bank
from reasoningbank_langgraph.cli.solve import CHECKPOINTS
from reasoningbank_langgraph.cli.terminal import console, named_errors
from reasoningbank_langgraph.cli.upkeep.encryption import encryption_key, new_encryption_key
from reasoningbank_langgraph.errors import EncryptionKeyError

if TYPE_CHECKING:
    from reasoningbank_langgraph.store import AESGCMCipher

_READ_AND_WRITE = (
    (
        "SELECT rowid, type, checkpoint FROM checkpoints WHERE type IS NOT NULL",
        "UPDATE checkpoints SET type = ?, checkpoint = ? WHERE rowid = ?",
    ),
    (
        "SELECT rowid, type, value FROM writes WHERE type IS NOT NULL",
        "UPDATE writes SET type = ?, value = ? WHERE rowid = ?",
    ),
)


@bank_app.command()
def rekey(bank: BankFolder = DEFAULT_FOLDER) -> None:
    """Encrypt a bank with another key, or for the first time; if interrupted, run it again to resume.

    The present key is read from the environment variable REASONINGBANK_KEY, which is left out for a bank that is not
    encrypted, and the new one from REASONINGBANK_NEW_KEY: 16, 24 or 32 random bytes as base64.
    """
    from reasoningbank_langgraph.store import AESGCMCipher
    from reasoningbank_langgraph.store import rekey as rekey_folder

    require_bank(bank)
    with named_errors():
        key, new_key = encryption_key(), new_encryption_key()
        old, new = AESGCMCipher(key) if key else None, AESGCMCipher(new_key)
        with progress_bar("encrypting") as update:
            report = rekey_folder(bank, key, new_key, progress=update)
        if (bank / CHECKPOINTS).is_file():
            _rekey_checkpoints(bank / CHECKPOINTS, old, new)
        console.print(str(report))


def _rekey_checkpoints(file: Path, old: AESGCMCipher | None, new: AESGCMCipher) -> None:
    """Encrypt the checkpoints of `solve` likewise, all or none, and leave nothing of the old ones in the file."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        SqliteSaver(connection).setup()  # a kill may have come before its tables were made
        connection.execute("BEGIN IMMEDIATE")
        for read, write in _READ_AND_WRITE:
            connection.executemany(write, list(_changed(connection.execute(read).fetchall(), old, new)))
        connection.execute("COMMIT")
        connection.execute("VACUUM")


def _changed(
    rows: list[tuple[int, str, bytes]], old: AESGCMCipher | None, new: AESGCMCipher
) -> Iterator[tuple[str, bytes, int]]:
    """Yield type, data and number of the rows that the new key does not read yet."""
    for row, kind, data in rows:
        plain, _, name = kind.partition("+")
        if name and _reads(new, name, data):
            continue
        if name and old is None:
            raise EncryptionKeyError(f"{CHECKPOINTS} holds encrypted checkpoints that the new key does not read")
        ciphername, sealed = new.encrypt(old.decrypt(name, data) if name and old else data)
        yield f"{plain}+{ciphername}", sealed, row


def _reads(cipher: AESGCMCipher, name: str, data: bytes) -> bool:
    try:
        cipher.decrypt(name, data)
    except EncryptionKeyError:
        return False
    return True
