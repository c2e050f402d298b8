"""`reasoningbank mcp` and `bank view`: a bank for agents that speak the Model Context Protocol, and as a page."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reasoningbank_langgraph.bank import MemoryBank
from reasoningbank_langgraph.cli.bank import (
    DEFAULT_FOLDER,
    BankFolder,
    bank_app,
    chosen_banks,
    open_to_embed,
    require_bank,
)
from reasoningbank_langgraph.cli.identifiers import parse_namespace
from reasoningbank_langgraph.cli.model import TIME_LIMIT, loaded_model
from reasoningbank_langgraph.cli.terminal import console, named_errors

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


def mcp(
    namespace: Annotated[str, typer.Option(help="The namespace that is served, as `bank show` prints it.")],
    bank: Annotated[Path, typer.Option(help="Folder of the bank; with --write it is created.")] = DEFAULT_FOLDER,
    write: Annotated[bool, typer.Option("--write", help="Offer tools that record, resolve and forget, too.")] = False,
    model: Annotated[
        str | None, typer.Option(help="Model that distils with --write, named as in `solve`.", show_default=False)
    ] = None,
    http: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help="Serve HTTP on this port of 127.0.0.1, not stdio; 0 for any free port."),
    ] = None,
) -> None:
    """Serve the lessons of one namespace to agents over MCP, read-only unless --write is given.

    The packaged embedder must be that of the bank. Over HTTP a client sends the token of REASONINGBANK_MCP_TOKEN, or
    the one that is printed, as `Authorization: Bearer TOKEN`.
    """
    with named_errors(), suppress(KeyboardInterrupt), ExitStack() as stack:
        from reasoningbank_langgraph.mcp import only_protocol, serve_http, serve_stdio

        if http is None:
            protocol = stack.enter_context(only_protocol())
            serve_stdio(_server(stack, namespace, bank, model, write=write), protocol)
        else:
            token, ready = _token()
            serve_http(_server(stack, namespace, bank, model, write=write), http, token, ready)


def _server(stack: ExitStack, namespace: str, bank: Path, model: str | None, *, write: bool) -> Server[Any, Any]:
    from reasoningbank_langgraph.mcp import create_mcp_server

    if not write:
        require_bank(bank)
    store = stack.enter_context(open_to_embed(bank, "mcp.create_mcp_server(MemoryBank(store, ...))"))
    labels = parse_namespace(namespace) if write else chosen_banks(store, namespace)[0]
    memory = MemoryBank(store, labels, actor="mcp")
    chat = stack.enter_context(loaded_model(model)).chat if write else None
    return create_mcp_server(memory, write=write, model=chat, time_limit=TIME_LIMIT)


def _token() -> tuple[str, Callable[[str], None]]:
    """Return the token of the clients, and what prints the address, with the token if it was made here."""
    from reasoningbank_langgraph.mcp.serving import SHORTEST_TOKEN

    given = os.environ.get("REASONINGBANK_MCP_TOKEN")
    token = given or secrets.token_urlsafe(32)
    if len(token) < SHORTEST_TOKEN:
        problem = f"it needs at least {SHORTEST_TOKEN} characters"
        raise typer.BadParameter(problem, param_hint="REASONINGBANK_MCP_TOKEN")
    return token, lambda address: console.print(address if given else f"{address}\ntoken: {token}")


@bank_app.command()
def view(
    namespace: Annotated[str, typer.Option(help="The namespace that is shown, as `bank show` prints it.")],
    bank: BankFolder = DEFAULT_FOLDER,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Port of 127.0.0.1 to listen on; 0 for any free port.")
    ] = 0,
) -> None:
    """Look into one namespace of a bank in a browser, until Ctrl-C: browse, search, set in quarantine, forget.

    The address that is printed lets in one browser, once. The packaged embedder must be that of the bank.
    """
    with named_errors(), suppress(KeyboardInterrupt):
        from reasoningbank_langgraph.view import serve_view

        require_bank(bank)
        with open_to_embed(bank, "view.serve_view(MemoryBank(store, ...), port, print)") as store:
            (labels,) = chosen_banks(store, namespace)
            serve_view(MemoryBank(store, labels, actor="view"), port, console.print)
