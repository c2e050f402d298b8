"""A region of memory as a file that is mapped instead of read: vectors as they are, items as text to look at when hit.

    sections   keys      JSON: the keys of the items, namespace after namespace
               heads     JSON of each item: its times, token and paths; `head_ends` says where each one ends
               texts     the value of each item as JSON text; `text_ends` likewise
               owners    int32: the item of each vector, counted within its namespace
               vectors   float32; `narrow` and `axes` are the narrow copies of large namespaces
    footer     JSON: whose file it is, the namespaces with their counts, where each section lies and its CRC-32

Where the footer begins and its own checksum are told by whoever names the file. Nothing of it is ever executed.
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

from reasoningbank_langgraph.store.cache.cache import Region
from reasoningbank_langgraph.store.cache.matrix import Matrix
from reasoningbank_langgraph.store.cache.namespace import FOREVER, Held, Space
from reasoningbank_langgraph.store.namespaces import Namespace
from reasoningbank_langgraph.store.row_layout import Entry, item_id

ALIGNED = 64
HEAD = ("created", "updated", "order", "expires", "ttl", "vectors", "token", "paths")


class Footer(NamedTuple):
    """Where the footer of a file begins, how long it is, and its CRC-32."""

    start: int
    size: int
    crc: int


def write_region(path: Path, region: Region, owner: str) -> Footer:
    """Write the living items of a region, readable by this user only; `owner` is written with it.

    Raises:
        OSError: the file exists already, or the disk is full.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        written = [_Written(namespace, space) for namespace, space in region.spaces() if space.items]
        sections = _Sections(file)
        sections.add("keys", [json.dumps([key for one in written for key in one.space.items]).encode()])
        entries = [held for one in written for held in one.space.items.values()]
        sections.add_texts("head", map(_head, entries))
        sections.add_texts("text", map(_text, entries))
        sections.add("owners", (one.owners for one in written))
        sections.add("vectors", (one.rows for one in written))
        sections.add("narrow", (one.narrow for one in written if one.narrow is not None))
        sections.add("axes", (one.axes for one in written if one.axes is not None))
        told = {"owner": owner, "dims": region.dims, "spaces": [one.told() for one in written]}
        footer = json.dumps({**told, "sections": sections.places}).encode()
        start = file.tell()
        file.write(footer)
    return Footer(start, len(footer), zlib.crc32(footer))


def read_region(path: Path, footer: Footer, owner: str, dims: int) -> Region:
    """Map a file and return the region in it.

    Raises:
        OSError: it cannot be opened, or is no plain file.
        ValueError: it is not whole, or another's.
    """
    data = _mapped(path)
    end = footer.start + footer.size
    if len(data) != end or zlib.crc32(data[footer.start :]) != footer.crc:
        raise ValueError("it was cut off or changed")
    told = json.loads(data[footer.start :])
    if (told["owner"], told["dims"]) != (owner, dims):
        raise ValueError("it belongs to another bank")
    sections = {name: _section(data, *place) for name, place in told["sections"].items()}
    return _region(told["spaces"], sections, dims)


class _Written:
    """A namespace as it goes into the file: what was replaced or deleted is left out."""

    def __init__(self, namespace: Namespace, space: Space) -> None:
        self.namespace, self.space = namespace, space
        place = {id(held): number for number, held in enumerate(space.items.values())}
        slots = [slot for slot, held in enumerate(space.owners) if held.gone == FOREVER]
        self.owners = np.array([place[id(space.owners[slot])] for slot in slots], np.int32)
        part = space.matrix.slice()
        every = len(slots) == len(part.rows)
        self.rows = part.rows if every else part.rows[slots]
        self.axes = part.axes
        self.narrow = part.narrow if every or part.narrow is None else part.narrow[slots]

    def told(self) -> list[Any]:
        narrow = 0 if self.narrow is None else self.narrow.shape[1]
        return [list(self.namespace), len(self.space.items), len(self.rows), narrow]


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

        def noted() -> Iterator[bytes]:
            for text in texts:
                lengths.append(len(text))
                yield text

        self.add(f"{name}s", noted())
        self.add(f"{name}_ends", [np.array(list(accumulate(lengths)), np.int64)])


class _Items:
    """The items of one namespace, made from the file when they are asked for."""

    def __init__(self, namespace: Namespace, keys: list[str], heads: _Texts, texts: _Texts, start: int) -> None:
        self.namespace, self.keys = namespace, keys
        self._heads, self._texts, self._start = heads, texts, start

    def __call__(self, place: int) -> Entry:
        number = self._start + place
        head = dict(zip(HEAD, json.loads(self._heads[number]), strict=True))
        head["paths"] = None if head["paths"] is None else tuple(head["paths"])
        key = self.keys[place]
        document = self._texts[number].decode("ascii")
        return Entry(id=item_id(self.namespace, key), namespace=self.namespace, key=key, document=document, **head)

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


def _head(held: Held) -> bytes:
    known = held.known
    if isinstance(held.read, _Items) and isinstance(known, int):
        return held.read.head(known)
    return json.dumps([getattr(held.entry, field) for field in HEAD], separators=(",", ":")).encode()


def _text(held: Held) -> bytes:
    known = held.known
    if isinstance(held.read, _Items) and isinstance(known, int):
        return held.read.text(known)
    return held.entry.document.encode("ascii")


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


def _region(spaces: Sequence[Any], sections: dict[str, memoryview], dims: int) -> Region:
    region = Region(dims)
    keys = json.loads(bytes(sections["keys"]))
    heads, texts = (
        _Texts(sections[f"{name}s"], np.frombuffer(sections[f"{name}_ends"], np.int64)) for name in ("head", "text")
    )
    owners = np.frombuffer(sections["owners"], np.int32)
    vectors, narrow, axes = (np.frombuffer(sections[name], np.float32) for name in ("vectors", "narrow", "axes"))
    vectors = vectors.reshape(-1, dims) if dims else vectors.reshape(0, 0)
    item = vector = narrowed = axis = 0
    for namespace, items, rows, width in spaces:
        own = _Items(tuple(namespace), keys[item : item + items], heads, texts, item)
        narrow_part = narrow[narrowed : narrowed + rows * width].reshape(rows, width) if width else None
        axes_part = axes[axis : axis + dims * width].reshape(dims, width) if width else None
        matrix = Matrix.of(vectors[vector : vector + rows], narrow_part, axes_part)
        region.add(_space(own, owners[vector : vector + rows], matrix), own.namespace)
        item, vector, narrowed, axis = item + items, vector + rows, narrowed + rows * width, axis + dims * width
    return region


def _space(items: _Items, owners: NDArray[np.int32], matrix: Matrix) -> Space:
    held = list(map(Held, range(len(items.keys)), repeat(items)))
    lone = np.flatnonzero(np.bincount(owners, minlength=len(held)) == 0).tolist()
    return Space.of(
        dict(zip(items.keys, held, strict=True)),
        {items.keys[place]: held[place] for place in lone},
        [held[place] for place in owners.tolist()],
        matrix,
        items.text_bytes,
    )
