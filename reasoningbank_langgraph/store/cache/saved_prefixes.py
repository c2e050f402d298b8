"""Prefixes saved beside Chroma's files, so that a later process does not read them row by row.

A list names the files and the state of the database that they match. It is read before Chroma starts and written after
Chroma has ended. With any other state, after a kill or after another program wrote, all files are removed. The file of
a prefix that is written to is not used any more; the prefix is saved anew at the end. What a full disk or a damaged
file takes away is read from Chroma again.
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

from reasoningbank_langgraph.store.cache.cache import CachedPrefix
from reasoningbank_langgraph.store.cache.prefix_file import Footer, read_prefix, write_prefix
from reasoningbank_langgraph.store.chroma_files import read_state
from reasoningbank_langgraph.store.cipher import BankCipher
from reasoningbank_langgraph.store.namespaces import Namespace

LIST, ENDING = "reasoningbank-regions.json", ".reasoningbank-region"
VERSION = 1
_NAME = re.compile(rf"[0-9a-f]{{32}}{re.escape(ENDING)}")
FROM_ITEMS = 500
"""Items from which a prefix is saved: fewer are read from Chroma in a tenth of a second."""

logger = logging.getLogger(__name__)


class SavedPrefixes:
    """The prefixes saved in a bank's folder; made before Chroma opens it.

    Args:
        folder: of the bank, locked by the caller.
        collection: name of the bank's collection.
    """

    def __init__(self, folder: Path, collection: str) -> None:
        self._folder, self._collection = folder, collection
        self._files: dict[Namespace, tuple[str, Footer]] = {}
        state = read_state(self._folder, self._collection)
        self._owner = "" if state is None else str(state[0])
        with suppress(OSError, ValueError, TypeError, KeyError):
            saved = _read_list(folder / LIST)
            if state is not None and (saved["version"], saved["state"]) == (VERSION, state):
                self._files = {tuple(prefix): (name, Footer(*footer)) for prefix, name, footer in saved["regions"]}
        self._clean()

    def prefixes(self, dims: int, cipher: BankCipher | None) -> Iterator[tuple[Namespace, CachedPrefix]]:
        """Yield all prefixes whose file is whole."""
        for prefix in list(self._files):
            contents = self._read(prefix, dims, cipher)
            if contents is not None:
                yield prefix, contents

    def read(self, namespace: Namespace, dims: int, cipher: BankCipher | None) -> tuple[Namespace, CachedPrefix] | None:
        """Return the saved prefix that covers a namespace, with its contents; None if there is none that is whole."""
        for depth in range(len(namespace) + 1):
            contents = self._read(namespace[:depth], dims, cipher)
            if contents is not None:
                return namespace[:depth], contents
        return None

    def _read(self, prefix: Namespace, dims: int, cipher: BankCipher | None) -> CachedPrefix | None:
        if prefix not in self._files:
            return None
        name, footer = self._files[prefix]
        try:
            return read_prefix(self._folder / name, footer, self._owner, dims, cipher)
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            logger.warning("%s is not used: %s; its items are read from Chroma", self._folder / name, error)
            del self._files[prefix]
            return None

    def changed(self, namespace: Namespace) -> None:
        """Use no file any more that covers a namespace: it is written to."""
        for depth in range(len(namespace) + 1):
            self._files.pop(namespace[:depth], None)

    def drop(self) -> None:
        """Remove all files, for example because they may hold deleted texts."""
        self._files.clear()
        self._clean()

    def save(self, owner: str, prefixes: Iterable[tuple[Namespace, CachedPrefix]], cipher: BankCipher | None) -> None:
        """Save the prefixes that have no file yet, as they are in memory; the bank is not written to any more."""
        if owner != self._owner:
            self._files.clear()
        self._owner = owner
        for prefix, contents in prefixes:
            if prefix in self._files or contents.count < FROM_ITEMS:
                continue
            name = f"{uuid4().hex}{ENDING}"
            try:
                self._files[prefix] = (name, write_prefix(self._folder / name, contents, owner, cipher))
            except OSError as error:
                logger.warning("the next search in %s will be slow, its vectors could not be saved: %s", prefix, error)

    def seal(self) -> None:
        """Write the list with the state of the database that the files match; no client has it open any more."""
        state = read_state(self._folder, self._collection)
        if state is None or state[0] != self._owner:
            self._files.clear()
        with suppress(OSError):
            (self._folder / LIST).unlink(missing_ok=True)
        if self._files:
            files = [[list(prefix), name, list(footer)] for prefix, (name, footer) in self._files.items()]
            try:
                _write_list(self._folder / LIST, {"version": VERSION, "state": state, "regions": files})
            except OSError:
                self._files.clear()
        self._clean()

    def _clean(self) -> None:
        """Remove the files that are not in the list, with what a kill or a full disk left of them."""
        in_use = {name for name, _ in self._files.values()}
        with suppress(OSError):
            for path in prefix_files(self._folder):
                if path.name not in in_use:
                    path.unlink()
            if not in_use:
                (self._folder / LIST).unlink(missing_ok=True)


def prefix_files(folder: Path) -> list[Path]:
    """Return the files of a folder whose names are those of saved prefixes."""
    return [path for path in folder.glob(f"*{ENDING}") if _NAME.fullmatch(path.name)]


def _write_list(path: Path, saved: dict[str, Any]) -> None:
    """Write the list with its checksum, so that a list that was cut off or changed is not used."""
    text = json.dumps(saved).encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(b"%08x" % zlib.crc32(text) + text)


def _read_list(path: Path) -> dict[str, Any]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        checksum, text = file.read(8), file.read()
    if int(checksum, 16) != zlib.crc32(text):
        raise ValueError("the list was cut off or changed")
    saved: dict[str, Any] = json.loads(text)
    return saved
