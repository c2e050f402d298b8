"""Who may come in: one browser, by an address that works once, and no other site through it."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ENTRANCE = "/enter"
_BODY_CAP = 64_000
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_WRONG_HOST = "This address does not belong to the page: use the one that was printed when it was started.\n"
_NO_COOKIE = (
    "This browser may not look into the bank. Open the address that was printed when the page was started; it works "
    "once, so start it again if it has been opened before.\n"
)
_NO_CSRF = "The form is not from this page, or from before it was started anew: go back and load it again.\n"


class Gate:
    """Lets in who holds the cookie, which the address with the token gives, once.

    The Host header is checked, so that no name on the internet that leads here reaches the page; every form that
    changes something carries a token that other sites cannot read.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        self._app, self._token, self._hosts = app, token, hosts
        self._session, self._csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on with `request.state.form` and `request.state.csrf`."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        request = Request(scope, receive)
        answer = await self._answer(request) or self._app
        await answer(scope, receive, guarded)

    async def _answer(self, request: Request) -> Response | None:
        """Return what is answered at the gate; None for a request that may pass."""
        if request.headers.get("host") not in self._hosts:
            return PlainTextResponse(_WRONG_HOST, 421)
        if request.url.path == ENTRANCE and _same(request.query_params.get("token", ""), self._token):
            return self._let_in(request)
        if not _same(request.cookies.get(_cookie(request), ""), self._session):
            return PlainTextResponse(_NO_COOKIE, 403)
        request.state.csrf, request.state.form = self._csrf, {}
        if request.method == "POST":
            form = await _form(request)
            if not _same(form.get("csrf", ""), self._csrf):
                return PlainTextResponse(_NO_CSRF, 403)
            request.state.form = form
        return RedirectResponse("/", 303) if request.url.path == ENTRANCE else None

    def _let_in(self, request: Request) -> Response:
        self._token = ""
        answer = RedirectResponse("/", 303)
        answer.set_cookie(_cookie(request), self._session, httponly=True, samesite="strict")
        return answer


def _same(given: str, wanted: str) -> bool:
    """Say whether a secret is the right one; an empty one, as after its use, never is."""
    return bool(wanted) and hmac.compare_digest(given.encode(errors="replace"), wanted.encode())


def _cookie(request: Request) -> str:
    """Return the name of the cookie: browsers send the cookies of one port to all others."""
    return f"reasoningbank_view_{request.headers['host'].rpartition(':')[2]}"


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form; none of one that is too large."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _BODY_CAP:
            return {}
    return dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))
