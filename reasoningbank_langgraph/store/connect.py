"""Clients of Chroma: opened so that they send nothing home, closed so that nothing stays open."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reasoningbank_langgraph.errors import StoreError, StoreSettingError, StoreUnavailableError
from reasoningbank_langgraph.store.retry import ANSWER_WITHIN, CONNECT_WITHIN, call_chroma

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx
    from chromadb.api import ClientAPI


def embedded_client(folder: Path) -> ClientAPI:
    """Open Chroma in a folder.

    Raises:
        StoreCorruptedError: what lies there is no Chroma database.
    """
    import chromadb
    from chromadb.config import Settings

    return call_chroma(lambda: chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False)))


def server_client(
    host: str, port: int, *, ssl: bool, headers: Mapping[str, str] | None, tenant: str, database: str
) -> ClientAPI:
    """Connect to a Chroma server.

    Raises:
        StoreSettingError: the host is no text, or the port no number; nothing was sent.
        StoreUnavailableError: nothing answers there, or something that is no Chroma server, or one that refuses the
            headers or has no such tenant or database.
    """
    import chromadb
    from chromadb.config import Settings

    if not isinstance(host, str):
        raise StoreSettingError("host", "a name or an address", host)
    if not isinstance(port, int):
        raise StoreSettingError("port", "a whole number", port)
    sent = dict(headers or {})
    _check_answers(host, port, f"tenants/{quote(tenant, '')}/databases/{quote(database, '')}", ssl=ssl, headers=sent)
    settings = Settings(anonymized_telemetry=False)
    try:
        client = call_chroma(
            lambda: chromadb.HttpClient(
                host, port, ssl=ssl, headers=sent, settings=settings, tenant=tenant, database=database
            ),
            StoreError,
        )
    except ValueError as error:
        raise StoreUnavailableError(f"the Chroma server at {host}:{port} cannot be used: {error}") from error
    for session in _sessions(client):
        session.timeout = _limits()
    return client


def check_client(client: Any) -> None:
    """Refuse anything but a synchronous Chroma client.

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
    """Close a client and the HTTP connections of its two halves, which its own `close` leaves open."""
    sessions = list(_sessions(client))
    client.close()
    for session in sessions:
        session.close()


def _leave_to_parent() -> None:
    """Leave the clients to the parent of this forked child: closing them would hang, as their threads are not here."""
    shared = sys.modules.get("chromadb.api.shared_system_client")
    if shared is None:
        return
    clients = shared.SharedSystemClient
    for system in clients._identifier_to_system.values():  # noqa: SLF001 - Chroma has no name for them
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(system))
    clients.clear_system_cache()
    clients._refcount_lock = threading.Lock()  # noqa: SLF001


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


def is_shared(client: ClientAPI) -> bool:
    """Say whether other processes may write through the same server."""
    return "fastapi" in str(client.get_settings().chroma_api_impl).lower()


def folder_of(client: ClientAPI) -> Path | None:
    """Return the folder an embedded client keeps its files in; None for a server and for a client in memory."""
    settings = client.get_settings()
    return Path(settings.persist_directory) if settings.is_persistent and not is_shared(client) else None


def _check_answers(host: str, port: int, place: str, *, ssl: bool, headers: Mapping[str, str]) -> None:
    # Chroma's client waits for ever for a server that sends nothing, and leaves connections open when it is refused.
    import httpx
    from chromadb.api.base_http_client import BaseHTTPClient

    address = f"{BaseHTTPClient.resolve_url(host, ssl, '/api/v2', port)}/{place}"
    call_chroma(lambda: httpx.get(address, headers=headers, timeout=_limits()).raise_for_status())


def _limits() -> httpx.Timeout:
    import httpx

    return httpx.Timeout(ANSWER_WITHIN, connect=CONNECT_WITHIN)


def _sessions(client: Any) -> Iterator[httpx.Client]:
    for half in (client, getattr(client, "_admin_client", None)):
        session = getattr(getattr(half, "_server", None), "_session", None)
        if session is not None:
            yield session
