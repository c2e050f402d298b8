"""A bank's folder opened for one store: checked, private, locked, with Chroma running in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from reasoningbank_langgraph.store.cache.saved_prefixes import SavedPrefixes
from reasoningbank_langgraph.store.cipher import BankCipher
from reasoningbank_langgraph.store.collection import check_folder_key
from reasoningbank_langgraph.store.connect import close_client, embedded_client
from reasoningbank_langgraph.store.folder.cleaning import blank_indexes, refuse_torn_indexes, remove_torn_indexes
from reasoningbank_langgraph.store.folder.lock import BankLock, prepare_folder
from reasoningbank_langgraph.store.folder.privacy import make_files_private, make_private

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


class OpenFolder(NamedTuple):
    """A folder that no other store can open until `release` was called."""

    client: ClientAPI
    saved: SavedPrefixes
    torn: bool
    """An index whose saving was cut off was removed: the bank needs a new one."""
    release: Callable[[], None]
    """Closes the client and lets others open the folder."""


def open_folder(
    path: str | os.PathLike[str], collection: str, cipher: BankCipher | None, *, can_embed: bool = True
) -> OpenFolder:
    """Open a folder, made if it does not exist.

    Args:
        path: the folder as the user named it.
        collection: name of the bank's collection.
        cipher: of the bank's key, None for a bank without one.
        can_embed: the caller can make an index anew; if not, one whose saving was cut off is refused and left.

    Raises:
        StorePathError: the path cannot hold a bank; nothing was changed.
        StoreLockedError: another store has it open; raised at once.
        EncryptionKeyError: the key does not fit the bank; nothing was written.
        StoreCorruptedError: the folder holds something that is no bank, or an index that cannot be made anew here.
    """
    folder = prepare_folder(path)
    make_private(path, folder)
    lock = BankLock(folder)
    try:
        check_folder_key(folder, collection, cipher)
        if not can_embed:
            refuse_torn_indexes(folder)
        torn = remove_torn_indexes(folder)
        saved = SavedPrefixes(folder, collection)
        client = embedded_client(folder)
        make_files_private(folder)
    except BaseException:
        lock.release()
        raise

    def release() -> None:
        close_client(client)
        if not lock.is_orphaned:
            blank_indexes(folder)
            saved.seal()
        lock.release()

    return OpenFolder(client, saved, torn, release)
