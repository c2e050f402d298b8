"""A server on loopback that speaks OpenAI's chat API with the habits it is given."""

import json
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .server_habits import CONTEXT, Ask, Habits, Reply, closes


class _Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Say nothing of a client that gave up, which is part of the tests."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@dataclass
class OpenAIServer:
    """A running server; a context manager.

    Attributes:
        bodies: what was asked, request by request.
        written: tokens of each reply.
    """

    habits: Habits
    bodies: list[dict[str, Any]] = field(default_factory=list)
    written: list[int] = field(default_factory=list)

    @property
    def formats(self):
        """How the model was asked, request by request."""
        return [Ask(body, 0).way for body in self.bodies]

    def answer(self, body):
        self.bodies.append(body)
        ask = Ask(body, min([CONTEXT, *(body[name] for name in self.habits.caps if body.get(name))]))
        if self.habits.hangs:
            self._closing.wait(20)
            return closes(ask)
        reply = (self.habits.checks and self.habits.checks(ask)) or self._habit(ask)(ask)
        self.written.append(reply.tokens)
        return reply

    def _habit(self, ask):
        return self.habits.always or getattr(self.habits, ask.way)

    def __enter__(self):
        self._closing = threading.Event()
        self._http = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        return self

    def __exit__(self, *error):
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    owner: OpenAIServer

    def do_GET(self):
        self._send(Reply({"object": "list", "data": [{"id": "m", "object": "model"}]}))

    def do_POST(self):
        self._send(self.owner.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"])))))

    def _send(self, reply):
        if reply.body is None:
            return  # HTTP/1.0: the connection ends with the request
        raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args):
        pass
