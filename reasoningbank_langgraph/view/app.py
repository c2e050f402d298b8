"""The pages of one bank as a Starlette application."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from reasoningbank_langgraph.errors import ReasoningBankError
from reasoningbank_langgraph.view.gate import Gate
from reasoningbank_langgraph.view.pages import Pages, failed, refused, style

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
        exception_handlers={HTTPException: refused, ReasoningBankError: failed},
    )
