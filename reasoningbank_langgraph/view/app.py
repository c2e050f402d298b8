"""The pages of one bank as a Starlette application, and this on loopback."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from reasoningbank_langgraph.errors import ReasoningBankError
from reasoningbank_langgraph.loopback import listening
from reasoningbank_langgraph.view.gate import ENTRANCE, Gate
from reasoningbank_langgraph.view.pages import Pages, refused, style

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import MemoryBank


def create_view(bank: MemoryBank, *, token: str, hosts: Collection[str]) -> Starlette:
    """Return the page to look into a bank as an application, for a server on loopback; `serve_view` runs it.

    Example:
        ```python
        from reasoningbank_langgraph.view import create_view

        bank = MemoryBank(ChromaStore.from_path("./bank"), "support")
        app = create_view(bank, token="a-long-secret", hosts=["127.0.0.1:8080"])
        ```

    Args:
        bank: the bank. Its texts are read as a whole when a page is first asked for, again after each change made
            here, and again on request.
        token: the secret that lets in one browser, once, by `/enter?token=...`.
        hosts: the Host headers that are answered.

    Raises:
        MissingDependencyError: the extra `view` is not installed.
    """
    pages = Pages(bank)
    routes = [
        Route("/", pages.lessons),
        Route("/search", pages.search),
        Route("/entry", pages.entry),
        Route("/forget", pages.preview),
        Route("/forget", pages.forget, methods=["POST"]),
        Route("/status", pages.set_status, methods=["POST"]),
        Route("/again", pages.read_again, methods=["POST"]),
        Route("/map", pages.similarity),
        Route("/worth", pages.worth),
        Route("/ledger", pages.ledger),
        Route("/style.css", style),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Gate, token=token, hosts=hosts)],
        exception_handlers={HTTPException: refused, ReasoningBankError: refused},
    )


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
