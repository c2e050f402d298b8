"""A prefix in a file that is mapped, not read: vectors ready to use, items as text that is parsed when it is needed.

    sections   keys      JSON: the keys of the items, namespace after namespace
               heads     JSON of each item: its times, token and paths; `head_ends` says where each one ends
               texts     the value of each item as JSON text, encrypted if the bank has a key; `text_ends` likewise
               owners    int32: the item of each vector, counted within its namespace
               vectors   float32; `narrow` and `axes` are the narrow copies of large namespaces
    footer     JSON: whose file it is, the namespaces with their counts, where each section lies and its CRC-32

The list that names the file has the place and the checksum of the footer. Nothing in the file is ever executed.
"""

from __future__ import annotations

import json
import mmap
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, repeat
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reasoningbank_langgraph.store.cache.cache import CachedPrefix
from reasoningbank_langgraph.store.cache.matrix import Matrix
from reasoningbank_langgraph.store.cache.namespace import FOREVER, CachedItem, CachedNamespace
from reasoningbank_langgraph.store.cipher import BankCipher
from reasoningbank_langgraph.store.namespaces import Namespace
from reasoningbank_langgraph.store.row_layout import Entry, item_id

ALIGNED = 64
HEAD = ("created", "updated", "order", "expires", "ttl", "vectors", "token", "paths")


class Footer(NamedTuple):
    """Where the footer of a file begins, how long it is, and its CRC-32."""

    start: int
    size: int
    crc: int


class _Counts(NamedTuple):
    """How much of each section belongs to one namespace."""

    namespace: Sequence[str]
    items: int
    vectors: int
    width: int
    """Of the narrow copy, 0 for none."""


def write_prefix(path: Path, contents: CachedPrefix, owner: str, cipher: BankCipher | None) -> Footer:
    """Write the living items of a prefix to a file that only this user can read; `owner` is written with them.

    Raises:
        OSError: the file exists already, or the disk is full.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        parts = [_Part(namespace, cached) for namespace, cached in contents.namespaces() if cached.items]
        sections = _Sections(file)
        sections.add("keys", [json.dumps([key for part in parts for key in part.cached.items]).encode()])
        items = [item for part in parts for item in part.cached.items.values()]
        sections.add_texts("head", map(_head, items))
        sections.add_texts("text", (_text(item, cipher) for item in items))
        sections.add("owners", (part.owners for part in parts))
        sections.add("vectors", (part.rows for part in parts))
        sections.add("narrow", (part.narrow for part in parts if part.narrow is not None))
        sections.add("axes", (part.axes for part in parts if part.axes is not None))
        summary = {"owner": owner, "dims": contents.dims, "spaces": [part.counts for part in parts]}
        footer = json.dumps({**summary, "sections": sections.places}).encode()
        start = file.tell()
        file.write(footer)
    return Footer(start, len(footer), zlib.crc32(footer))


def read_prefix(path: Path, footer: Footer, owner: str, dims: int, cipher: BankCipher | None) -> CachedPrefix:
    """Map a file and return the prefix in it.

    Raises:
        OSError: it cannot be opened, or is no plain file.
        ValueError: it is not whole, or another's.
    """
    data = _mapped(path)
    end = footer.start + footer.size
    if len(data) != end or zlib.crc32(data[footer.start :]) != footer.crc:
        raise ValueError("it was cut off or changed")
    summary = json.loads(data[footer.start :])
    if (summary["owner"], summary["dims"]) != (owner, dims):
        raise ValueError("it belongs to another bank")
    sections = {name: _section(data, *place) for name, place in summary["sections"].items()}
    return _contents(summary["spaces"], sections, dims, cipher)


class _Part:
    """One namespace of the file, without what was replaced or deleted."""

    def __init__(self, namespace: Namespace, cached: CachedNamespace) -> None:
        self.namespace, self.cached = namespace, cached
        place = {id(item): number for number, item in enumerate(cached.items.values())}
        slots = [slot for slot, item in enumerate(cached.owners) if item.removed_at == FOREVER]
        self.owners = np.array([place[id(cached.owners[slot])] for slot in slots], np.int32)
        view = cached.matrix.view()
        every = len(slots) == len(view.rows)
        self.rows = view.rows if every else view.rows[slots]
        self.axes = view.axes
        self.narrow = view.narrow if every or view.narrow is None else view.narrow[slots]

    @property
    def counts(self) -> _Counts:
        width = 0 if self.narrow is None else self.narrow.shape[1]
        return _Counts(self.namespace, len(self.cached.items), len(self.rows), width)


class _Sections:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.places: dict[str, tuple[int, int, int]] = {}

    def add(self, name: str, parts: Iterable[bytes | NDArray[Any]]) -> None:
        self._file.write(bytes(-self._file.tell() % ALIGNED))
        start, crc = self._file.tell(), 0
        for part in parts:
            data = part if isinstance(part, bytes) else part.reshape(-1).view(np.uint8).data
            crc = zlib.crc32(data, crc)
            self._file.write(data)
        self.places[name] = (start, self._file.tell() - start, crc)

    def add_texts(self, name: str, texts: Iterable[bytes]) -> None:
        lengths: list[int] = []

        def measured() -> Iterator[bytes]:
            for text in texts:
                lengths.append(len(text))
                yield text

        self.add(f"{name}s", measured())
        self.add(f"{name}_ends", [np.array(list(accumulate(lengths)), np.int64)])


class _Loader:
    """Makes the items of one namespace from the file, each when it is first needed."""

    def __init__(
        self, namespace: Namespace, keys: list[str], heads: _Texts, texts: _Texts, start: int, cipher: BankCipher | None
    ) -> None:
        self.namespace, self.keys = namespace, keys
        self._heads, self._texts, self._start, self._cipher = heads, texts, start, cipher

    def __call__(self, place: int) -> Entry:
        key, document = self.keys[place], self.document(place)
        facts = json.loads(self.head(place).decode("ascii"))
        facts[-1] = None if facts[-1] is None else tuple(facts[-1])
        return Entry(item_id(self.namespace, key), self.namespace, key, document, *facts)

    def document(self, place: int) -> str:
        text = self.text(place)
        if self._cipher is not None:
            text = self._cipher.unseal(text, item_id(self.namespace, self.keys[place]))
        return text.decode("ascii")

    def head(self, place: int) -> bytes:
        return self._heads[self._start + place]

    def text(self, place: int) -> bytes:
        return self._texts[self._start + place]

    @property
    def text_bytes(self) -> int:
        return self._texts.length(self._start, self._start + len(self.keys))


class _Texts:
    def __init__(self, data: memoryview, ends: NDArray[np.int64]) -> None:
        self._data, self._ends = data, ends
        if not ((np.diff(ends, prepend=0) >= 0).all() and (ends[-1] if len(ends) else 0) == len(data)):
            raise ValueError("its texts do not fit together")

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._data[self._from(number) : self._from(number + 1)])

    def length(self, first: int, after: int) -> int:
        return self._from(after) - self._from(first)

    def _from(self, number: int) -> int:
        return int(self._ends[number - 1]) if number else 0


def _head(item: CachedItem) -> bytes:
    place = item.entry_or_place
    if isinstance(item.load, _Loader) and isinstance(place, int):
        return item.load.head(place)
    return json.dumps([getattr(item.entry, field) for field in HEAD], separators=(",", ":")).encode()


def _text(item: CachedItem, cipher: BankCipher | None) -> bytes:
    place = item.entry_or_place
    if isinstance(item.load, _Loader) and isinstance(place, int):
        return item.load.text(place)
    entry = item.entry
    text = entry.document.encode("ascii")
    return text if cipher is None else cipher.seal(text, entry.id)


def _mapped(path: Path) -> mmap.mmap:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is no plain file")
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


def _section(data: mmap.mmap, start: int, size: int, crc: int) -> memoryview:
    part = memoryview(data)[start : start + size]
    if len(part) != size or zlib.crc32(part) != crc:
        raise ValueError("a section was changed")
    return part


def _contents(
    parts: Sequence[Any], sections: dict[str, memoryview], dims: int, cipher: BankCipher | None
) -> CachedPrefix:
    contents = CachedPrefix(dims)
    keys = json.loads(bytes(sections["keys"]))
    heads, texts = (
        _Texts(sections[f"{name}s"], np.frombuffer(sections[f"{name}_ends"], np.int64)) for name in ("head", "text")
    )
    owners = np.frombuffer(sections["owners"], np.int32)
    vectors, narrow, axes = (np.frombuffer(sections[name], np.float32) for name in ("vectors", "narrow", "axes"))
    vectors = vectors.reshape(-1, dims) if dims else vectors.reshape(0, 0)
    item = vector = narrowed = axis = 0
    for namespace, items, rows, width in map(_Counts._make, parts):
        loader = _Loader(tuple(namespace), keys[item : item + items], heads, texts, item, cipher)
        narrow_part = narrow[narrowed : narrowed + rows * width].reshape(rows, width) if width else None
        axes_part = axes[axis : axis + dims * width].reshape(dims, width) if width else None
        matrix = Matrix.of(vectors[vector : vector + rows], narrow_part, axes_part)
        contents.add(_cached_namespace(loader, owners[vector : vector + rows], matrix), loader.namespace)
        item, vector, narrowed, axis = item + items, vector + rows, narrowed + rows * width, axis + dims * width
    return contents


def _cached_namespace(loader: _Loader, owners: NDArray[np.int32], matrix: Matrix) -> CachedNamespace:
    items = list(map(CachedItem, range(len(loader.keys)), repeat(loader)))
    plain = np.flatnonzero(np.bincount(owners, minlength=len(items)) == 0).tolist()
    return CachedNamespace.of(
        dict(zip(loader.keys, items, strict=True)),
        {loader.keys[place]: items[place] for place in plain},
        [items[place] for place in owners.tolist()],
        matrix,
        loader.text_bytes,
    )
