"""Regions of memory kept beside Chroma's files, so that a later process does not read them row by row.

A list names the files and the state of the database in which they are true. It is looked at before Chroma starts and
written after Chroma has ended: with any other state, after a kill or when another program wrote, nothing of it is
trusted and everything goes. A region that is written to is not trusted from then on, and written anew at the end.
What a full disk or a damaged file takes away is read from Chroma again.
"""

from __future__ import annotations

import json
import logging
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from reasoningbank_langgraph.store.cache.cache import Region
from reasoningbank_langgraph.store.cache.prefix_file import Footer, read_region, write_region
from reasoningbank_langgraph.store.database_state import State, read_state
from reasoningbank_langgraph.store.folder import index_folders
from reasoningbank_langgraph.store.lock import DATABASE_FILE
from reasoningbank_langgraph.store.namespaces import Namespace

LIST, ENDING = "reasoningbank-regions.json", ".reasoningbank-region"
VERSION = 1
_NAME = re.compile(rf"[0-9a-f]{{32}}{re.escape(ENDING)}")
FROM_ITEMS = 500
"""Items from which a region is kept: fewer are read from Chroma in a tenth of a second."""

logger = logging.getLogger(__name__)


class SavedRegions:
    """The regions in the folder of a bank; made before Chroma opens it.

    Args:
        folder: of the bank, locked by the caller.
        collection: name of the bank's collection.
    """

    def __init__(self, folder: Path, collection: str) -> None:
        self._folder, self._collection = folder, collection
        self._known: dict[Namespace, tuple[str, Footer]] = {}
        state = self._state()
        self._owner = "" if state is None else str(state[0])
        with suppress(OSError, ValueError, TypeError, KeyError):
            told = _read_list(folder / LIST)
            if state is not None and (told["version"], told["state"]) == (VERSION, state):
                self._known = {tuple(prefix): (name, Footer(*footer)) for prefix, name, footer in told["regions"]}
        self._clean()

    def regions(self, dims: int) -> Iterator[tuple[Namespace, Region]]:
        """Return all regions that are kept and whole."""
        for prefix in list(self._known):
            found = self._read(prefix, dims)
            if found is not None:
                yield prefix, found

    def read(self, namespace: Namespace, dims: int) -> tuple[Namespace, Region] | None:
        """Return the region that covers a namespace with its prefix; None if none is kept or it was damaged."""
        for depth in range(len(namespace) + 1):
            region = self._read(namespace[:depth], dims)
            if region is not None:
                return namespace[:depth], region
        return None

    def _read(self, prefix: Namespace, dims: int) -> Region | None:
        if prefix not in self._known:
            return None
        name, footer = self._known[prefix]
        try:
            return read_region(self._folder / name, footer, self._owner, dims)
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            logger.warning("%s is not used: %s; its items are read from Chroma", self._folder / name, error)
            del self._known[prefix]
            return None

    def changed(self, namespace: Namespace) -> None:
        """Trust no region any more that covers a namespace: it is written to."""
        for depth in range(len(namespace) + 1):
            self._known.pop(namespace[:depth], None)

    def drop(self) -> None:
        """Remove everything, for example what may hold deleted texts."""
        self._known.clear()
        self._clean()

    def keep(self, owner: str, regions: Iterable[tuple[Namespace, Region]]) -> None:
        """Write the regions that are not kept yet, as they are in memory; the bank is not written to any more."""
        if owner != self._owner:
            self._known.clear()
        self._owner = owner
        for prefix, region in regions:
            if prefix in self._known or region.count < FROM_ITEMS:
                continue
            name = f"{uuid4().hex}{ENDING}"
            try:
                self._known[prefix] = (name, write_region(self._folder / name, region, owner))
            except OSError as error:
                logger.warning("the next search in %s will be slow, its vectors could not be kept: %s", prefix, error)

    def seal(self) -> None:
        """Say in which state of the database the regions are true; no client has it open any more."""
        state = self._state()
        if state is None or state[0] != self._owner:
            self._known.clear()
        with suppress(OSError):
            (self._folder / LIST).unlink(missing_ok=True)
        if self._known:
            regions = [[list(prefix), name, list(footer)] for prefix, (name, footer) in self._known.items()]
            try:
                _write_list(self._folder / LIST, {"version": VERSION, "state": state, "regions": regions})
            except OSError:
                self._known.clear()
        self._clean()

    def _state(self) -> State | None:
        """Return what the database and the files of Chroma's index are like: without those the bank is damaged."""
        state = read_state(self._folder / DATABASE_FILE, self._collection)
        with suppress(OSError):
            files = sorted(path for index in index_folders(self._folder) for path in index.iterdir())
            return state and [*state, *(f"{path.relative_to(self._folder)} {path.stat().st_size}" for path in files)]
        return None

    def _clean(self) -> None:
        """Remove the files nothing names, with what a kill or a full disk left of them."""
        named = {name for name, _ in self._known.values()}
        with suppress(OSError):
            for path in region_files(self._folder):
                if path.name not in named:
                    path.unlink()
            if not named:
                (self._folder / LIST).unlink(missing_ok=True)


def region_files(folder: Path) -> list[Path]:
    """Return the files of a folder that have a name this package gives."""
    return [path for path in folder.glob(f"*{ENDING}") if _NAME.fullmatch(path.name)]


def _write_list(path: Path, told: dict[str, Any]) -> None:
    """Write the list with its checksum; cut off or changed, it is none."""
    text = json.dumps(told).encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(b"%08x" % zlib.crc32(text) + text)


def _read_list(path: Path) -> dict[str, Any]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        checksum, text = file.read(8), file.read()
    if int(checksum, 16) != zlib.crc32(text):
        raise ValueError("the list was cut off or changed")
    told: dict[str, Any] = json.loads(text)
    return told
