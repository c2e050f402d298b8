"""The collection that holds a bank, and the one beside it that is prepared to replace it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reasoningbank_langgraph.errors import EmbeddingMismatchError, StoreCorruptedError, StoreError, StoreSchemaError
from reasoningbank_langgraph.store.chroma_files import read_metadata
from reasoningbank_langgraph.store.cipher import MARK, BankCipher, check_key, fits, mark_of
from reasoningbank_langgraph.store.indexing import Indexing
from reasoningbank_langgraph.store.retry import call_chroma

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

COLLECTION = "reasoningbank"
PLAIN_SCHEMA, SCHEMA = 1, 2
"""An encrypted bank has one of its own: versions before encryption would write plain texts into it."""
BUILDING, COMPLETE = "building", "complete"
REBUILD, REINDEX, REKEY, VACUUM = "rebuild", "reindex", "rekey", "vacuum"
EF_SEARCH = 200
SAMPLE = "embedder_sample"
SAME = 0.99
"""Cosine from which two vectors of one text are of the same embedder: hardware and batches change the last digits."""


def create(client: ClientAPI, name: str, metadata: dict[str, Any]) -> Collection:
    """Return the collection of this name, made if it does not exist.

    Without both `embedding_function=None` and a configuration Chroma would fetch a model of its own from the network.
    """
    hnsw: Any = {"hnsw": {"space": "cosine", "ef_search": EF_SEARCH}}
    return call_chroma(
        lambda: client.get_or_create_collection(name, embedding_function=None, configuration=hnsw, metadata=metadata),
        StoreError,
    )


def find(client: ClientAPI, name: str) -> Collection | None:
    """Return the collection of this name, None if there is none."""
    from chromadb.errors import NotFoundError

    def found() -> Collection | None:
        try:
            return client.get_collection(name, embedding_function=None)
        except NotFoundError:
            return None

    return call_chroma(found)


def drop(client: ClientAPI, name: str) -> None:
    """Delete the collection of this name, if there is one."""
    from chromadb.errors import NotFoundError

    def dropped() -> None:
        try:
            client.delete_collection(name)
        except NotFoundError:
            return

    call_chroma(dropped, StoreError)


def check_folder_key(folder: Path, name: str, cipher: BankCipher | None) -> None:
    """Refuse a key that does not fit the bank in a folder that no client has open; nothing is written.

    Raises:
        EncryptionKeyError: see `check_key`.
    """
    metadata = read_metadata(folder, name)
    if metadata is None:
        metadata = read_metadata(folder, successor(name))
        if metadata is None or metadata.get("state") != COMPLETE:
            return
    check_key(metadata, cipher)


def open_or_create(client: ClientAPI, name: str, indexing: Indexing, cipher: BankCipher | None) -> Collection:
    """Return the bank's collection, checked; finishes a replacement that a crash cut off before its last step.

    Raises:
        EncryptionKeyError: the key does not fit; nothing was written.
        StoreSchemaError: a newer version of this package made it; nothing was written.
        StoreError: the collection was made by something else or with another distance.
    """
    collection = find(client, name)
    if collection is None:
        ready = find(client, successor(name))
        if ready is None or (ready.metadata or {}).get("state") != COMPLETE:
            collection = create(client, name, _bank_metadata(indexing, cipher))
        else:
            _check_configuration(ready)
            check_key(ready.metadata, cipher)
            collection = rename(ready, name)
    _check_configuration(collection)
    check_key(collection.metadata, cipher)
    return collection


def recorded_embedder(client: ClientAPI, name: str) -> tuple[str, int] | None:
    """Return the name and the vector length of the embedder that made a bank; None if there is no bank.

    Raises:
        StoreSchemaError: a newer version of this package made it.
        StoreError: the collection was made by something else or with another distance.
    """
    collection = find(client, name)
    if collection is None:
        collection = find(client, successor(name))
        if collection is None or (collection.metadata or {}).get("state") != COMPLETE:
            return None
    _check_configuration(collection)
    return collection.metadata["embedder"], collection.metadata["dims"]


def check_embedder(collection: Collection, indexing: Indexing) -> None:
    """Refuse an embedder whose vectors are not comparable with those in the collection.

    Raises:
        EmbeddingMismatchError: other name or length, or another vector for the text whose vector the bank keeps.
    """
    check_name(collection, indexing)
    alike = _likeness(collection.metadata.get(SAMPLE), indexing.sample)
    if alike < SAME:
        embedder = f"{indexing.name} ({indexing.dims} dimensions)"
        raise EmbeddingMismatchError(embedder, f"another one of that name (cosine {alike:.3f} for the same text)")


def check_name(collection: Collection, indexing: Indexing) -> None:
    """Refuse an embedder of another name or length: another store of this process may have moved the bank."""
    stored = collection.metadata["embedder"], collection.metadata["dims"]
    if stored != (current := (indexing.name, indexing.dims)):
        raise EmbeddingMismatchError(*(f"{name} ({dims} dimensions)" for name, dims in (stored, current)))


def add_sample(collection: Collection, indexing: Indexing) -> None:
    """Add the embedder's vector of a fixed text to a collection that has none, for example from an earlier version.

    Called when something is embedded for writing: from then on the bank holds vectors of this embedder.

    Raises:
        EmbeddingMismatchError: it holds those of another.
    """
    check_name(collection, indexing)
    if indexing.sample is not None and SAMPLE not in collection.metadata:
        call_chroma(
            lambda: collection.modify(metadata={**collection.metadata, **_sample_metadata(indexing)}), StoreError
        )


def _sample_metadata(indexing: Indexing) -> dict[str, str]:
    return {} if indexing.sample is None else {SAMPLE: json.dumps([round(part, 6) for part in indexing.sample])}


def _likeness(stored: object, sample: Sequence[float] | None) -> float:
    """Return the cosine of two vectors of the fixed text, 1.0 where one is not known."""
    if not isinstance(stored, str) or sample is None:
        return 1.0
    try:
        return float(np.dot(json.loads(stored), sample))
    except (ValueError, TypeError) as error:
        raise StoreCorruptedError(f"the bank's {SAMPLE!r} is no vector: {error}") from error


def successor(name: str) -> str:
    """Return the name of the collection that is prepared to replace a bank's."""
    return f"{name}.next"


def begin_collection(
    client: ClientAPI, name: str, job: str, indexing: Indexing, cipher: BankCipher | None
) -> Collection:
    """Make the collection that will replace a bank's; one that an earlier, stopped job made is removed."""
    drop(client, successor(name))
    metadata = _building_metadata(job, indexing, cipher)
    if job in (VACUUM, REKEY):  # keeps the vectors, and so the embedder they are of
        old = find(client, name)
        metadata |= {key: value for key, value in (old.metadata if old else {}).items() if key == SAMPLE}
    return create(client, successor(name), metadata)


def resume_collection(
    client: ClientAPI, name: str, job: str, indexing: Indexing, cipher: BankCipher | None
) -> Collection | None:
    """Return the collection of an earlier, stopped job, if it had the same embedder, fields and key."""
    found = find(client, successor(name))
    if found is None:
        return None
    wanted, metadata = _building_metadata(job, indexing, cipher), {**(found.metadata or {}), "state": BUILDING}
    same = _comparable(metadata) == _comparable(wanted) and fits(metadata, cipher)
    return found if same and _likeness(metadata.get(SAMPLE), indexing.sample) >= SAME else None


def _comparable(metadata: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key not in (SAMPLE, MARK)}


def take_place(client: ClientAPI, collection: Collection, name: str) -> None:
    """Replace the bank's collection with a finished one; after a crash on the way `open_or_create` finishes it."""
    call_chroma(lambda: collection.modify(metadata={**collection.metadata, "state": COMPLETE}), StoreError)
    drop(client, name)
    rename(collection, name)


def rename(collection: Collection, name: str) -> Collection:
    """Give a finished collection the bank's name and remove the metadata of its making."""
    metadata = {key: value for key, value in collection.metadata.items() if key not in ("job", "fields")}
    call_chroma(lambda: collection.modify(name=name, metadata=metadata), StoreError)
    return collection


def clear_unfinished(client: ClientAPI, name: str) -> None:
    """Remove what a stopped job left, unless it is a move to another embedder or key, which the next call continues."""
    found = find(client, successor(name))
    if found is not None and (found.metadata or {}).get("job") not in (REINDEX, REKEY):
        drop(client, successor(name))


def _bank_metadata(indexing: Indexing, cipher: BankCipher | None) -> dict[str, Any]:
    schema = PLAIN_SCHEMA if cipher is None else SCHEMA
    metadata = {"schema": schema, "embedder": indexing.name, "dims": indexing.dims, "state": COMPLETE}
    return {**metadata, **_sample_metadata(indexing), **mark_of(cipher)}


def _building_metadata(job: str, indexing: Indexing, cipher: BankCipher | None) -> dict[str, Any]:
    return {**_bank_metadata(indexing, cipher), "state": BUILDING, "job": job, "fields": json.dumps(indexing.fields)}


def _check_configuration(collection: Collection) -> None:
    metadata = collection.metadata or {}
    schema = metadata.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise StoreSchemaError(collection.name, schema, SCHEMA)
    if schema not in (PLAIN_SCHEMA, SCHEMA) or not {"embedder", "dims"} <= metadata.keys():
        raise StoreCorruptedError(
            f"collection {collection.name!r} is no bank of this version (schema {schema!r}, "
            f"expected {PLAIN_SCHEMA} or {SCHEMA}): name another one with collection=..."
        )
    configuration = collection.configuration_json
    space = (configuration.get("hnsw") or configuration.get("spann") or {}).get("space")
    if space != "cosine":
        raise StoreError(f"collection {collection.name!r} measures {space!r} distances, a bank needs 'cosine'")
