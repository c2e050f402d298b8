"""Listening on loopback, where only programs of this machine can come."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from reasoningbank_langgraph.errors import StoreUnavailableError

LOOPBACK = "127.0.0.1"


@contextmanager
def listening(port: int) -> Iterator[tuple[socket.socket, list[str]]]:
    """Listen on a port, 0 for any free one: give the socket, and the Host headers of those who come to it.

    Raises:
        StoreUnavailableError: the port is taken.
    """
    try:
        opened = socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise StoreUnavailableError(f"port {port} cannot be listened on: {error}; choose another one") from error
    with opened:
        yield opened, [f"{name}:{opened.getsockname()[1]}" for name in (LOOPBACK, "localhost")]
