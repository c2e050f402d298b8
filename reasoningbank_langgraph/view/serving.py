"""The application on loopback."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

import uvicorn

from reasoningbank_langgraph.loopback import listening
from reasoningbank_langgraph.view.app import create_view
from reasoningbank_langgraph.view.gate import ENTRANCE

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import MemoryBank


def serve_view(bank: MemoryBank, port: int, ready: Callable[[str], None]) -> None:
    """Show a bank to one browser of this machine until SIGINT or SIGTERM.

    Args:
        bank: the bank; it can also be changed there.
        port: where to listen, on 127.0.0.1; 0 for any free port.
        ready: called, once connections are taken, with the address to open. It lets in one browser, once.

    Raises:
        StoreUnavailableError: the port is taken.
        MissingDependencyError: the extra `view` is not installed.
    """
    with listening(port) as (opened, hosts):
        token = secrets.token_urlsafe(32)
        ready(f"http://{hosts[0]}{ENTRANCE}?token={token}")
        app = create_view(bank, token=token, hosts=hosts)
        config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False)
        uvicorn.Server(config).run(sockets=[opened])
