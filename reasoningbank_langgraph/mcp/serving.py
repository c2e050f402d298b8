"""A server on the standard streams, or over HTTP on loopback for those who know its token."""

from __future__ import annotations

import hmac
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO

import anyio
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from reasoningbank_langgraph.loopback import listening

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.types import Receive, Scope, Send

SHORTEST_TOKEN = 16
PATH = "/mcp"
_REFUSAL = "a token is needed: send the header `Authorization: Bearer TOKEN` with the one that the server was given\n"


@contextmanager
def only_protocol() -> Iterator[TextIO]:
    """Give standard output to the protocol alone: what anything else prints goes to standard error, from C code too."""
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as protocol:
        os.dup2(2, 1)
        try:
            with redirect_stdout(sys.stderr):
                yield protocol
        finally:
            os.dup2(protocol.fileno(), 1)


def serve_stdio(server: Server[Any, Any], protocol: TextIO) -> None:
    """Answer one client on the standard streams until it closes them.

    Args:
        server: as `create_mcp_server` returns it.
        protocol: where answers go: what `only_protocol` yields.
    """

    async def answer() -> None:
        async with stdio_server(stdout=anyio.wrap_file(protocol)) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(answer)


def serve_http(server: Server[Any, Any], port: int, token: str, ready: Callable[[str], None]) -> None:
    """Answer clients over streamable HTTP on loopback until SIGINT or SIGTERM. Any number may connect.

    Args:
        server: as `create_mcp_server` returns it.
        port: where to listen; 0 for any free port.
        token: what a client has to send as its bearer token.
        ready: called with the address once connections are taken.

    Raises:
        ValueError: the token is shorter than 16 characters.
        StoreUnavailableError: the port is taken.
    """
    if len(token) < SHORTEST_TOKEN:
        raise ValueError(f"the token needs at least {SHORTEST_TOKEN} characters")
    with listening(port) as (opened, hosts):
        endpoint = _Endpoint(server, hosts, token)
        app = Starlette(routes=[Route(PATH, endpoint)], lifespan=lambda _: endpoint.manager.run())
        ready(f"http://{hosts[0]}{PATH}")
        uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run(sockets=[opened])


class _Endpoint:
    """Answers those who send the token. A page in a browser cannot come here under a name of its own."""

    def __init__(self, server: Server[Any, Any], hosts: list[str], token: str) -> None:
        security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
        self.manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, security_settings=security
        )
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scheme, _, given = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
        if scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), self._token):
            await self.manager.handle_request(scope, receive, send)
        else:
            await PlainTextResponse(_REFUSAL, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
