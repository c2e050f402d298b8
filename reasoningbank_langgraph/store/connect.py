"""Clients and collections: made so that Chroma never embeds by itself, opened only if they fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.errors import (
    EmbeddingMismatchError,
    StoreCorruptedError,
    StoreError,
    StoreUnavailableError,
)
from reasoningbank_langgraph.store.indexing import Indexing
from reasoningbank_langgraph.store.layout import DELETED
from reasoningbank_langgraph.store.rows import Rows, chroma_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

COLLECTION = "reasoningbank"
SCHEMA = 1
BUILDING, COMPLETE = "building", "complete"
EF_SEARCH = 200


def embedded_client(folder: Path) -> ClientAPI:
    """Open Chroma in a folder.

    Raises:
        StoreCorruptedError: what lies there is no Chroma database.
    """
    import chromadb
    from chromadb.config import Settings

    with chroma_errors():
        return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))


def server_client(
    host: str, port: int, *, ssl: bool, headers: Mapping[str, str] | None, tenant: str, database: str
) -> ClientAPI:
    """Connect to a Chroma server.

    Raises:
        StoreUnavailableError: nothing answers there.
    """
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    try:
        with chroma_errors(StoreError):
            return chromadb.HttpClient(
                host, port, ssl=ssl, headers=dict(headers or {}), settings=settings, tenant=tenant, database=database
            )
    except ValueError as error:
        raise StoreUnavailableError(f"no Chroma server at {host}:{port}: {error}") from error


def check_client(client: Any) -> None:
    """Refuse what is no synchronous Chroma client.

    Raises:
        TypeError: with the way out for vector stores and asynchronous clients.
    """
    from chromadb.api import ClientAPI

    if not isinstance(client, ClientAPI):
        raise TypeError(
            f"from_client takes a synchronous chromadb client (PersistentClient, HttpClient, ...), got "
            f"{type(client).__module__}.{type(client).__qualname__}; a LangChain vector store is no LangGraph store, "
            "pass the client it was made with"
        )


def close_client(client: Any) -> None:
    """Close a client and, what its own `close` leaves out, the HTTP connections of its two halves."""
    halves = (client, getattr(client, "_admin_client", None))
    servers = [getattr(half, "_server", None) for half in halves]
    client.close()
    for session in (getattr(server, "_session", None) for server in servers):
        if session is not None:
            session.close()


def is_shared(client: ClientAPI) -> bool:
    """Say whether other processes may write through the same server."""
    return "fastapi" in str(client.get_settings().chroma_api_impl).lower()


def create(client: ClientAPI, name: str, indexing: Indexing, state: str = COMPLETE) -> Collection:
    """Return the collection of this name, made if it does not exist.

    Without both `embedding_function=None` and a configuration Chroma would fetch a model of its own from the network.
    """
    metadata = {"schema": SCHEMA, "embedder": indexing.name, "dims": indexing.dims, "state": state}
    hnsw: Any = {"hnsw": {"space": "cosine", "ef_search": EF_SEARCH}}
    with chroma_errors(StoreError):
        return client.get_or_create_collection(name, embedding_function=None, configuration=hnsw, metadata=metadata)


def find(client: ClientAPI, name: str) -> Collection | None:
    """Return the collection of this name, None if there is none."""
    from chromadb.errors import NotFoundError

    with chroma_errors():
        try:
            return client.get_collection(name, embedding_function=None)
        except NotFoundError:
            return None


def open_or_create(client: ClientAPI, name: str, indexing: Indexing) -> Collection:
    """Return the bank's collection, checked; finishes a rebuild that a crash cut off between its last two steps.

    Raises:
        StoreError: the collection was made by something else or with another distance.
    """
    collection = find(client, name) or _finished_rebuild(client, name) or create(client, name, indexing)
    _check_configuration(collection)
    return collection


def check_embedder(collection: Collection, indexing: Indexing) -> None:
    """Refuse an embedder whose vectors are not comparable with those in the collection.

    Raises:
        EmbeddingMismatchError: other name or length.
    """
    metadata = collection.metadata
    stored, given = (metadata["embedder"], metadata["dims"]), (indexing.name, indexing.dims)
    if stored != given:
        raise EmbeddingMismatchError(*(f"{name} ({dims} dimensions)" for name, dims in (stored, given)))


def clear_leftovers(client: ClientAPI, rows: Rows, name: str) -> None:
    """Remove what a crash left behind in a bank that has no other writer: rows marked deleted, a half-made rebuild."""
    rows.delete(rows.ids({"row": DELETED}), {"row": DELETED})
    if find(client, successor(name)) is not None:
        with chroma_errors(StoreError):
            client.delete_collection(successor(name))


def successor(name: str) -> str:
    """Return the name under which a rebuilt collection is prepared."""
    return f"{name}.next"


def _finished_rebuild(client: ClientAPI, name: str) -> Collection | None:
    ready = find(client, successor(name))
    if ready is None or (ready.metadata or {}).get("state") != COMPLETE:
        return None
    with chroma_errors(StoreError):
        ready.modify(name=name)
    return ready


def _check_configuration(collection: Collection) -> None:
    metadata = collection.metadata or {}
    if metadata.get("schema") != SCHEMA or not {"embedder", "dims"} <= metadata.keys():
        raise StoreCorruptedError(
            f"collection {collection.name!r} is no bank of this version (schema {metadata.get('schema')!r}, "
            f"expected {SCHEMA}): name another one with collection=..."
        )
    configuration = collection.configuration_json
    space = (configuration.get("hnsw") or configuration.get("spann") or {}).get("space")
    if space != "cosine":
        raise StoreError(f"collection {collection.name!r} measures {space!r} distances, a bank needs 'cosine'")
