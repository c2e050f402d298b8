"""Whether an index that Chroma saved is whole.

Chroma saves an index after every thousand rows by writing its files in place, one after the other: header, vectors,
lengths, links, and the pickle that says which row is which. A process killed meanwhile leaves a folder that Chroma
cannot read, crashes on, or fills the disk from. A whole one tells the same number of rows five times.
"""

from __future__ import annotations

import logging
import pickletools
import shutil
import struct
from pathlib import Path

from reasoningbank_langgraph.store.chroma_files import HEADER, LENGTHS, VECTORS, index_folders

LINKS, NAMES = "link_lists.bin", "index_metadata.pickle"
_HEADER_FIELDS = struct.Struct("<i6Q")
_LENGTH_BYTES = 4

logger = logging.getLogger(__name__)


def torn_indexes(folder: Path) -> list[Path]:
    """Return the indexes whose saving was cut off."""
    return [index for index in index_folders(folder) if not is_whole(index)]


def remove_torn_indexes(folder: Path) -> bool:
    """Remove the indexes whose saving was cut off; say whether there were any: then the bank needs a new one."""
    torn = torn_indexes(folder)
    for index in torn:
        logger.warning("the index in %s was not saved to its end: the bank gets a new one, from its documents", index)
        shutil.rmtree(index)
    return bool(torn)


def is_whole(index: Path) -> bool:
    """Say whether the files of an index fit together; one that was never saved has none, or files that hold nothing."""
    if not any(index.iterdir()):
        return True
    try:
        _, _, _, count, size, _, _ = _HEADER_FIELDS.unpack((index / HEADER).read_bytes()[: _HEADER_FIELDS.size])
        if count == 0 and not (index / NAMES).exists():
            return True
        sizes = ((index / VECTORS).stat().st_size, (index / LENGTHS).stat().st_size)
        return (
            sizes == (count * size, count * _LENGTH_BYTES)
            and _links_fit((index / LINKS).read_bytes(), count)
            and _named((index / NAMES).read_bytes()) == count
        )
    except (OSError, ValueError, struct.error):
        return False


def _links_fit(links: bytes, count: int) -> bool:
    at = 0
    for _ in range(count):
        if at + _LENGTH_BYTES > len(links):
            return False
        at += _LENGTH_BYTES + int.from_bytes(links[at : at + _LENGTH_BYTES], "little")
    return at == len(links)


def _named(names: bytes) -> int | None:
    """Return the number of rows a pickle says there are, without unpickling it."""
    found = None
    expected = False
    for code, argument, _ in pickletools.genops(names):
        if expected and "INT" in code.name:
            found, expected = argument, False
        expected = expected or argument == "total_elements_added"
    return found
