"""What a crash or a change-over leaves behind in an embedded bank, and Chroma does not remove."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from reasoningbank_langgraph.errors import StoreError
from reasoningbank_langgraph.store.chroma_files import index_folders, remove_unused_indexes
from reasoningbank_langgraph.store.collection import clear_unfinished
from reasoningbank_langgraph.store.connect import folder_of
from reasoningbank_langgraph.store.row_layout import DELETED
from reasoningbank_langgraph.store.rows import Rows

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

logger = logging.getLogger(__name__)


def clear_leftovers(client: ClientAPI, rows: Rows, name: str) -> None:
    """Clean a bank that has no other writer: rows marked deleted, a stopped rebuild, index folders of neither."""
    rows.delete(rows.ids({"row": DELETED}), {"row": DELETED})
    clear_unfinished(client, name)
    folder = folder_of(client)
    # The one folder of an ordinary bank is its own, and asking the database takes a process.
    if folder is not None and len(index_folders(folder)) > 1:
        _remove_unused(folder)


def remove_old_index(client: ClientAPI) -> None:
    """Remove the index folder of a collection that another one has replaced; a server's files are left to it."""
    folder = folder_of(client)
    if folder is not None:
        _remove_unused(folder)


def _remove_unused(folder: Path) -> None:
    try:
        remove_unused_indexes(folder)
    except (OSError, StoreError) as error:
        # They only take room, and the next opening tries again: no reason to refuse a bank that is whole.
        logger.warning("index folders that nothing uses stay in %s: %s", folder, error)
